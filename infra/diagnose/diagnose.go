// Package diagnose finds out about a machine what package doctor judges: what stands
// where the store should be, whether files, locks, renames and syncs do there what a
// store relies on, and what lies around. It writes nothing but its own probe, which it
// removes, and makes no store.
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

// Look says what stands at a path. Links on the way to a store are its owner's choice.
func Look(dir string) doctor.Store {
	s := doctor.Store{Dir: dir}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.Kind = doctor.Missing
		return s
	case osfs.IsNotDirectory(err): // something on the way is a file
		s.Kind = doctor.Other
		return s
	case err != nil:
		s.Kind, s.Why = doctor.Hidden, reason(err)
		return s
	}
	s.Mine, s.Owner = owner(info)
	switch {
	case info.IsDir():
		s.Kind, s.Mode = doctor.Folder, modeOf(info)
	case info.Mode().IsRegular():
		s.Kind = doctor.File
	default:
		s.Kind = doctor.Other
	}
	return s
}

// modeOf is 0 where modes say nothing.
func modeOf(info fs.FileInfo) uint32 {
	if _, ok := umaskOf(0); !ok {
		return 0
	}
	return uint32(info.Mode().Perm())
}

// reason is the system's word for what went wrong, without the path that is told anyway.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// Nearest is the folder that is there, at a path or above it.
func Nearest(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return dir
		}
		dir = parent
	}
}

// lookMax bounds how much of a store is counted: the answer is about what lies around,
// not about a million files.
const lookMax = 100_000

// Leftovers counts what lies around in a store.
func Leftovers(dir string) doctor.Left {
	out := doctor.Left{Looked: true}
	seen := 0
	_ = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == dir {
			return nil // what cannot be read is another check's business
		}
		if seen++; seen > lookMax {
			out.More = true
			return fs.SkipAll
		}
		rel, _ := filepath.Rel(dir, at)
		parts := strings.Split(filepath.ToSlash(rel), "/")
		var count *int
		var bytes *int64
		switch parts[0] {
		case "trash":
			count, bytes = &out.Trashed, &out.TrashBytes
		case "quarantine":
			count, bytes = &out.Quarantined, &out.QuarantineBytes
		}
		switch {
		case count != nil:
			if len(parts) == 2 {
				*count++
			}
			if info, err := d.Info(); err == nil && d.Type().IsRegular() {
				*bytes += info.Size()
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
