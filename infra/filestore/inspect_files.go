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

// list reads a folder, and reports entries that do not belong, that are links, or
// that others can open. What was on its way when a crash came is passed over.
func (in *inspection) list(dir string, known []string) ([]osfs.Entry, error) {
	out, odd, err := in.entries(dir, known)
	if err != nil {
		return nil, err
	}
	err = in.beside(len(out), func(i int, o *oddities) error {
		if info, err := in.s.fs.Stat(within(dir, out[i].Name)); err == nil {
			in.loose(o, dir, out[i], info)
		}
		return nil
	}, odd)
	return out, err
}

// bare is list without the modes.
func (in *inspection) bare(dir string, known []string) ([]osfs.Entry, error) {
	out, odd, err := in.entries(dir, known)
	if err == nil {
		in.found = append(in.found, odd.inOrder()...)
	}
	return out, err
}

// entries is list without a look at the files; what it finds odd is not told yet.
func (in *inspection) entries(dir string, known []string) (out []osfs.Entry, odd *oddities, err error) {
	if err := in.ctx.Err(); err != nil {
		return nil, nil, err
	}
	entries, err := in.s.fs.List(dir)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(entries, func(a, b osfs.Entry) int { return strings.Compare(a.Name, b.Name) })
	odd, out = &oddities{}, entries[:0]
	for _, e := range entries {
		switch at := within(dir, e.Name); {
		case strings.HasPrefix(e.Name, tempPrefix):
		case e.Kind == osfs.Symlink || e.Kind == osfs.Other:
			odd.find(0, e.Name, manifest.UnknownFile, at, "a store holds plain files and folders only")
		case known != nil && !slices.Contains(known, e.Name) && !in.isLog(at, e):
			odd.find(0, e.Name, manifest.UnknownFile, at, "nothing of that name belongs to a store")
		default:
			out = append(out, e)
		}
	}
	return out, odd, nil
}

// within is the path of an entry that a folder lists: path.Join without a look at each
// byte of it, since there may be a million.
func within(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

func (in *inspection) loose(o *oddities, dir string, e osfs.Entry, info osfs.Info) {
	if info.Perm&othersMask != 0 && !in.foreign {
		o.find(0, e.Name, manifest.LooseMode, within(dir, e.Name), looseWords, info.Perm)
	}
}

const (
	othersMask = 0o077 // the permissions of everybody but the owner
	looseWords = "others can open it (mode %#o)"
)

// oddities are findings about the entries of one folder, by whomever they were found.
type oddities struct {
	mu  sync.Mutex
	all []oddity
}

type oddity struct {
	pass int // what the listing shows comes before what the files show
	name string
	manifest.Finding
}

func (o *oddities) find(pass int, name string, code manifest.FindingCode, at, format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, oddity{pass, name, manifest.NewFinding(code, at, format, args...)})
}

func (o *oddities) inOrder() (out []manifest.Finding) {
	slices.SortStableFunc(o.all,
		func(a, b oddity) int { return cmp.Or(a.pass-b.pass, strings.Compare(a.name, b.name)) })
	for _, f := range o.all {
		out = append(out, f.Finding)
	}
	return out
}

// manyFiles is from how many files of a folder on they are looked at side by side.
const manyFiles = 64

// beside looks at n files, and tells what is odd about them in their order. An error
// ends the walk.
func (in *inspection) beside(n int, look func(i int, o *oddities) error, o *oddities) error {
	workers := runtime.GOMAXPROCS(0)
	if n < manyFiles {
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
			errs[w] = look(i, o)
		}
		next.Store(int64(n)) // the others need not go on either
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

// objects reads every object of a kind, referred to or not: the next session that
// brings the same bytes relies on them.
func (in *inspection) objects(kind manifest.ObjectKind) error {
	dir := manifest.ObjectDir(kind)
	entries, odd, err := in.entries(dir, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return in.unread(manifest.ObjectDamaged, dir, err)
	}
	files := entries[:0]
	for _, e := range entries {
		if kind == manifest.Artifact && in.tombstone(within(dir, e.Name), e) {
			if info, err := in.s.fs.Stat(within(dir, e.Name)); err == nil {
				in.loose(odd, dir, e, info)
			}
			continue
		}
		files = append(files, e)
	}
	return in.beside(len(files), func(i int, o *oddities) error { return in.object(kind, dir, files[i], o) }, odd)
}

// object sums one file up. Its mode is that of the file which was opened: to ask for it
// by name would take as long as reading it.
func (in *inspection) object(kind manifest.ObjectKind, dir string, e osfs.Entry, o *oddities) error {
	if err := in.ctx.Err(); err != nil {
		return err
	}
	at := within(dir, e.Name)
	ref, err := canon.ParseFileName(strings.TrimSuffix(e.Name, ".json"))
	called := err == nil && manifest.ObjectName(kind, ref) == e.Name
	if !called {
		o.find(1, e.Name, manifest.UnknownFile, at, "no %s is called so", kind)
	}
	if !called || e.Kind != osfs.Regular {
		if info, err := in.s.fs.Stat(at); err == nil {
			in.loose(o, dir, e, info)
		}
		if !called {
			return nil
		}
	}
	sum, _, info, err := in.s.hashTold(at, int64(objectBytesMax(kind)))
	switch {
	case err != nil && in.ctx.Err() != nil:
		return err
	case err != nil:
		o.find(1, e.Name, manifest.ObjectDamaged, at, "%s", fault.Of(readFault(err)).Message)
		return nil
	case e.Kind == osfs.Regular:
		in.loose(o, dir, e, info)
	}
	if sum != ref.Raw() {
		o.find(1, e.Name, manifest.ObjectDamaged, at, "the file does not have the digest that its name says")
		return nil
	}
	if in.seen != nil {
		in.seen(kind, ref)
	}
	return nil
}
