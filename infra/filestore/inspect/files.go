package inspect

import (
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/osfs"
)

// list reads a directory and reports unknown entries, links and special files, and entries that
// other users can open. known lists the permitted names; nil permits every name. Temporary files
// are skipped.
func (in *inspection) list(dir string, known []string) ([]osfs.Entry, error) {
	out, odd, err := in.entries(dir, known)
	if err != nil {
		return nil, err
	}
	err = in.inParallel(len(out), func(i int, o *read.FindingList) error {
		if info, err := in.s.d.Stat(layout.Within(dir, out[i].Name)); err == nil {
			in.checkMode(o, dir, out[i], info)
		}
		return nil
	}, odd)
	return out, err
}

// listWithoutModes is list without the check of permissions, which needs a stat per entry.
func (in *inspection) listWithoutModes(dir string, known []string) ([]osfs.Entry, error) {
	out, odd, err := in.entries(dir, known)
	if err == nil {
		in.found = append(in.found, odd.InOrder()...)
	}
	return out, err
}

// Entries is list without the check of permissions; the findings are returned, not reported yet.
func (in *inspection) entries(dir string, known []string) (out []osfs.Entry, odd *read.FindingList, err error) {
	if err := in.ctx.Err(); err != nil {
		return nil, nil, err
	}
	entries, err := in.s.d.List(dir)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(entries, func(a, b osfs.Entry) int { return strings.Compare(a.Name, b.Name) })
	odd, out = &read.FindingList{}, entries[:0]
	for _, e := range entries {
		switch at := layout.Within(dir, e.Name); {
		case strings.HasPrefix(e.Name, layout.TempPrefix):
		case e.Kind == osfs.Symlink || e.Kind == osfs.Other:
			odd.Find(0, e.Name, manifest.UnknownFile, at, "a store contains regular files and directories only")
		case known != nil && !slices.Contains(known, e.Name) && !in.isLog(at, e):
			odd.Find(0, e.Name, manifest.UnknownFile, at, "no file of that name is part of a store")
		default:
			out = append(out, e)
		}
	}
	return out, odd, nil
}

// checkMode reports an entry that other users can open. Modes of a foreign store are not checked.
func (in *inspection) checkMode(o *read.FindingList, dir string, e osfs.Entry, info osfs.Info) {
	if info.Perm&read.OthersMask != 0 && !in.foreign {
		o.Find(0, e.Name, manifest.LooseMode, layout.Within(dir, e.Name), read.LooseModeFormat, info.Perm)
	}
}

// parallelFilesMin is from how many files on a directory is checked by several goroutines.
const parallelFilesMin = 64

// inParallel calls check for the indexes below n on several goroutines, and then reports the
// findings of o in their order. An error stops the walk.
//
// The calling goroutine takes part, so a small directory starts no other.
func (in *inspection) inParallel(n int, check func(i int, o *read.FindingList) error, o *read.FindingList) error {
	workers := runtime.GOMAXPROCS(0)
	if n < parallelFilesMin {
		workers = 1
	}
	var next atomic.Int64
	errs := make([]error, workers)
	work := func(w int) {
		for errs[w] == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			errs[w] = check(i, o)
		}
		next.Store(int64(n)) // the other goroutines stop as well
	}
	var done sync.WaitGroup
	for w := 1; w < workers; w++ {
		done.Go(func() { work(w) })
	}
	work(0)
	done.Wait()
	in.found = append(in.found, o.InOrder()...)
	return errors.Join(errs...)
}

// objects verifies every object of a kind, referenced or not: the next session that stores the same
// bytes relies on it.
func (in *inspection) objects(kind manifest.ObjectKind) error {
	dir := manifest.ObjectDir(kind)
	entries, odd, err := in.entries(dir, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return in.reportUnreadable(manifest.ObjectDamaged, dir, err)
	}
	files := entries[:0]
	for _, e := range entries {
		if kind == manifest.Artifact && in.tombstone(layout.Within(dir, e.Name), e) {
			if info, err := in.s.d.Stat(layout.Within(dir, e.Name)); err == nil {
				in.checkMode(odd, dir, e, info)
			}
			continue
		}
		files = append(files, e)
	}
	return in.inParallel(
		len(files),
		func(i int, o *read.FindingList) error { return in.object(kind, dir, files[i], o) },
		odd,
	)
}

// object hashes one file and compares the digest with its name. The mode is read from the opened
// file: a stat by name would take as long as reading it.
//
// An object with the right digest is passed to intact, from the calling goroutine.
func (in *inspection) object(kind manifest.ObjectKind, dir string, e osfs.Entry, o *read.FindingList) error {
	if err := in.ctx.Err(); err != nil {
		return err
	}
	at := layout.Within(dir, e.Name)
	ref, err := canon.ParseFileName(strings.TrimSuffix(e.Name, ".json"))
	called := err == nil && manifest.ObjectName(kind, ref) == e.Name
	if !called {
		o.Find(1, e.Name, manifest.UnknownFile, at, "this is not the name of a stored %s", kind)
	}
	if !called || e.Kind != osfs.Regular {
		if info, err := in.s.d.Stat(at); err == nil {
			in.checkMode(o, dir, e, info)
		}
		if !called {
			return nil
		}
	}
	sum, _, info, err := in.s.read.HashFile(at, int64(layout.ObjectBytesMax(kind)))
	switch {
	case err != nil && in.ctx.Err() != nil:
		return err
	case err != nil:
		o.Find(1, e.Name, manifest.ObjectDamaged, at, "%s", fault.Of(disk.ReadFault(err)).Message)
		return nil
	case e.Kind == osfs.Regular:
		in.checkMode(o, dir, e, info)
	}
	if sum != ref.Raw() {
		o.Find(1, e.Name, manifest.ObjectDamaged, at, "the file does not have the digest that its name says")
		return nil
	}
	if in.intact != nil {
		in.intact(kind, ref)
	}
	return nil
}
