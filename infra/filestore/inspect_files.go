package filestore

import (
	"cmp"
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
	err = in.inParallel(len(out), func(i int, o *findingList) error {
		if info, err := in.s.fs.Stat(within(dir, out[i].Name)); err == nil {
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
		in.found = append(in.found, odd.inOrder()...)
	}
	return out, err
}

// entries is list without the check of permissions; the findings are returned, not reported yet.
func (in *inspection) entries(dir string, known []string) (out []osfs.Entry, odd *findingList, err error) {
	if err := in.ctx.Err(); err != nil {
		return nil, nil, err
	}
	entries, err := in.s.fs.List(dir)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(entries, func(a, b osfs.Entry) int { return strings.Compare(a.Name, b.Name) })
	odd, out = &findingList{}, entries[:0]
	for _, e := range entries {
		switch at := within(dir, e.Name); {
		case strings.HasPrefix(e.Name, tempPrefix):
		case e.Kind == osfs.Symlink || e.Kind == osfs.Other:
			odd.find(0, e.Name, manifest.UnknownFile, at, "a store contains regular files and directories only")
		case known != nil && !slices.Contains(known, e.Name) && !in.isLog(at, e):
			odd.find(0, e.Name, manifest.UnknownFile, at, "no file of that name is part of a store")
		default:
			out = append(out, e)
		}
	}
	return out, odd, nil
}

// within is path.Join for an entry of a listed directory. It does not inspect each byte: there may
// be a million entries.
func within(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// checkMode reports an entry that other users can open. Modes of a foreign store are not checked.
func (in *inspection) checkMode(o *findingList, dir string, e osfs.Entry, info osfs.Info) {
	if info.Perm&othersMask != 0 && !in.foreign {
		o.find(0, e.Name, manifest.LooseMode, within(dir, e.Name), looseModeFormat, info.Perm)
	}
}

// Group and other permissions, and the format of the finding about them.
const (
	othersMask      = 0o077
	looseModeFormat = "other users can open it (mode %#o)"
)

// findingList collects findings about the entries of one directory from several goroutines.
type findingList struct {
	mu  sync.Mutex
	all []orderedFinding
}

// orderedFinding is a finding with its sort key.
type orderedFinding struct {
	pass int // findings of the listing (0) precede those of the files (1)
	name string
	manifest.Finding
}

// find adds a finding about the entry name, whose path is at.
func (o *findingList) find(pass int, name string, code manifest.FindingCode, at, format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, orderedFinding{pass, name, manifest.NewFinding(code, at, format, args...)})
}

// inOrder returns the findings sorted by pass and name, independent of the goroutines that found
// them.
func (o *findingList) inOrder() (out []manifest.Finding) {
	slices.SortStableFunc(o.all,
		func(a, b orderedFinding) int { return cmp.Or(a.pass-b.pass, strings.Compare(a.name, b.name)) })
	for _, f := range o.all {
		out = append(out, f.Finding)
	}
	return out
}

// parallelFilesMin is from how many files on a directory is checked by several goroutines.
const parallelFilesMin = 64

// inParallel calls check for the indexes below n on several goroutines, and then reports the
// findings of o in their order. An error stops the walk.
//
// The calling goroutine takes part, so a small directory starts no other.
func (in *inspection) inParallel(n int, check func(i int, o *findingList) error, o *findingList) error {
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
	in.found = append(in.found, o.inOrder()...)
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
		if kind == manifest.Artifact && in.tombstone(within(dir, e.Name), e) {
			if info, err := in.s.fs.Stat(within(dir, e.Name)); err == nil {
				in.checkMode(odd, dir, e, info)
			}
			continue
		}
		files = append(files, e)
	}
	return in.inParallel(
		len(files),
		func(i int, o *findingList) error { return in.object(kind, dir, files[i], o) },
		odd,
	)
}

// object hashes one file and compares the digest with its name. The mode is read from the opened
// file: a stat by name would take as long as reading it.
//
// An object with the right digest is passed to intact, from the calling goroutine.
func (in *inspection) object(kind manifest.ObjectKind, dir string, e osfs.Entry, o *findingList) error {
	if err := in.ctx.Err(); err != nil {
		return err
	}
	at := within(dir, e.Name)
	ref, err := canon.ParseFileName(strings.TrimSuffix(e.Name, ".json"))
	called := err == nil && manifest.ObjectName(kind, ref) == e.Name
	if !called {
		o.find(1, e.Name, manifest.UnknownFile, at, "this is not the name of a stored %s", kind)
	}
	if !called || e.Kind != osfs.Regular {
		if info, err := in.s.fs.Stat(at); err == nil {
			in.checkMode(o, dir, e, info)
		}
		if !called {
			return nil
		}
	}
	sum, _, info, err := in.s.hashFile(at, int64(objectBytesMax(kind)))
	switch {
	case err != nil && in.ctx.Err() != nil:
		return err
	case err != nil:
		o.find(1, e.Name, manifest.ObjectDamaged, at, "%s", fault.Of(readFault(err)).Message)
		return nil
	case e.Kind == osfs.Regular:
		in.checkMode(o, dir, e, info)
	}
	if sum != ref.Raw() {
		o.find(1, e.Name, manifest.ObjectDamaged, at, "the file does not have the digest that its name says")
		return nil
	}
	if in.intact != nil {
		in.intact(kind, ref)
	}
	return nil
}
