// Package diagnose collects the facts about a machine that package doctor evaluates: what exists at
// the path of the store, whether files, locks, renames and syncs there work as a store requires,
// and which leftovers a store has. It writes only its own probe directory, which it removes, and
// never creates a store. It evaluates nothing. Start with DescribePath, Probe and Leftovers.
package diagnose

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/osfs"
)

// DescribePath describes what exists at the path dir. Links on the path to a store are followed: they are
// the choice of its owner. Kind is Missing, Hidden (not accessible, with the reason in Why),
// Folder, File or Other.
//
// Owner and OwnedByUser are set for everything that exists, Mode for directories; it is 0 on systems
// without permission bits.
func DescribePath(dir string) doctor.Store {
	s := doctor.Store{Dir: dir}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.Kind = doctor.Missing
		return s
	case osfs.IsNotDirectory(err): // a file is on the path
		s.Kind = doctor.Other
		return s
	case err != nil:
		s.Kind, s.Why = doctor.Hidden, reason(err)
		return s
	}
	s.OwnedByUser, s.Owner = owner(info)
	switch {
	case info.IsDir():
		s.Kind, s.Mode = doctor.Directory, modeOf(info)
	case info.Mode().IsRegular():
		s.Kind = doctor.File
	default:
		s.Kind = doctor.Other
	}
	return s
}

// modeOf is the permission bits, 0 on systems without them.
func modeOf(info fs.FileInfo) uint32 {
	if _, ok := umaskOf(0); !ok {
		return 0
	}
	return uint32(info.Mode().Perm())
}

// reason is the system's error text without the path, which is reported separately.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// NearestDirectory is the nearest existing directory at or above a path.
//
// Without any it is the root of the path.
func NearestDirectory(dir string) string {
	for DescribePath(dir).Kind != doctor.Directory && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	return dir
}

// leftoverEntriesMax bounds how many entries of a store are counted, so that a check stays fast on
// a store with a million files.
const leftoverEntriesMax = 100_000

// Leftovers counts the entries and bytes in the trash and the quarantine, and the temporary files
// of a store. More reports that only a part was counted.
//
// The numbers are:
//   - Trashed and TrashBytes: entries of trash/ and the bytes of the files in them;
//   - Quarantined and QuarantineBytes: the same for quarantine/;
//   - Temporary: files and directories that were not placed, anywhere else in the store.
//
// Checked is always true, which distinguishes an empty store from one that was not counted. It takes
// no lock, so writers in progress may be counted as leftovers.
func Leftovers(dir string) doctor.Leftovers {
	out := doctor.Leftovers{Checked: true}
	areas := map[string]struct {
		entries *int
		bytes   *int64
	}{"trash": {&out.Trashed, &out.TrashBytes}, "quarantine": {&out.Quarantined, &out.QuarantineBytes}}
	seen := 0
	_ = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == dir {
			return nil // other checks report what cannot be read
		}
		if seen++; seen > leftoverEntriesMax {
			out.More = true
			return fs.SkipAll
		}
		rel, _ := filepath.Rel(dir, at)
		parts := strings.Split(filepath.ToSlash(rel), "/")
		area, inArea := areas[parts[0]]
		switch {
		case inArea:
			if len(parts) == 2 {
				*area.entries++
			}
			if info, err := d.Info(); err == nil && d.Type().IsRegular() {
				*area.bytes += info.Size()
			}
		case strings.HasPrefix(d.Name(), ".tmp-"):
			out.Temporary++
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	return out
}
