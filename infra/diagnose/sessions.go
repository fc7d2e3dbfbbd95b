package diagnose

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
)

// HasStoreFile reports whether a folder holds a store: the file that names it exists. An empty
// folder is no store yet.
func HasStoreFile(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "store.json"))
	return err == nil
}

// HasSessions reports whether the folder of the sessions has an entry of any kind.
func HasSessions(dir string) bool {
	entries, err := os.ReadDir(filepath.Join(dir, "sessions"))
	return err == nil && len(entries) > 0
}

// Newest gives the sessions whose manifests changed last, the latest first and at most so
// many, and when the latest one changed, in milliseconds since 1970. A manifest that cannot
// be read counts as the oldest.
func Newest(dir string, all []id.Session, most int) (newest []id.Session, latestMs int64) {
	times := make(map[id.Session]int64, len(all))
	for _, s := range all {
		if info, err := os.Stat(filepath.Join(dir, "sessions", s.String(), manifest.FileName)); err == nil {
			times[s] = info.ModTime().UnixMilli()
		}
		latestMs = max(latestMs, times[s])
	}
	newest = slices.Clone(all)
	sorting.Stable(newest, func(a, b id.Session) int { return cmp.Compare(times[b], times[a]) })
	return newest[:min(most, len(newest))], latestMs
}
