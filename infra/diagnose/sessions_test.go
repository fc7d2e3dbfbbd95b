package diagnose_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/diagnose"
)

func TestNewestComeFirst(t *testing.T) {
	dir := t.TempDir()
	if diagnose.HasStoreFile(dir) || diagnose.HasSessions(dir) {
		t.Error("an empty folder is a store")
	}
	fatal(t, os.WriteFile(filepath.Join(dir, "store.json"), nil, 0o600))
	var all []id.Session
	for i, name := range []string{"sess_aaaaaaaaaaaaaaaaaaaaaaaaaa", "sess_caaaaaaaaaaaaaaaaaaaaaaaaa",
		"sess_eaaaaaaaaaaaaaaaaaaaaaaaaa", "sess_gaaaaaaaaaaaaaaaaaaaaaaaaa"} {
		s, err := id.ParseSession(name)
		fatal(t, err)
		all = append(all, s)
		if i == 0 {
			continue // its manifest is missing
		}
		file := filepath.Join(dir, "sessions", name, "manifest.jsonl")
		fatal(t, os.MkdirAll(filepath.Dir(file), 0o700))
		fatal(t, os.WriteFile(file, nil, 0o600))
		at := time.UnixMilli(int64(1_000_000 * (1 + i%3)))
		fatal(t, os.Chtimes(file, at, at))
	}
	newest, latest := diagnose.Newest(dir, all, 3)
	if want := []id.Session{all[2], all[1], all[3]}; !slices.Equal(newest, want) || latest != 3_000_000 {
		t.Errorf("got %v, %d", newest, latest)
	}
	if !diagnose.HasStoreFile(dir) || !diagnose.HasSessions(dir) {
		t.Error("a store with sessions is not one")
	}
}
