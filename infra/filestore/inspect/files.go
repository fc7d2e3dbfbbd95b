package inspect

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/osfs"
	"golang.org/x/sync/errgroup"
)

// list reads a directory and reports unknown entries, links and special files, and entries that
// other users can open. known lists the permitted names; nil permits every name. Temporary files
// are skipped.
func (w *walk) list(ctx context.Context, dir string, known []string) ([]osfs.Entry, error) {
	out, odd, err := w.entries(ctx, dir, known)
	if err != nil {
		return nil, err
	}
	err = eachEntry(out, func(e osfs.Entry) error {
		w.checkMode(odd, dir, e)
		return nil
	})
	w.found = append(w.found, odd.InOrder()...)
	return out, err
}

// listWithoutModes is list without the check of permissions, which needs a stat per entry.
func (w *walk) listWithoutModes(ctx context.Context, dir string, known []string) ([]osfs.Entry, error) {
	out, odd, err := w.entries(ctx, dir, known)
	w.found = append(w.found, odd.InOrder()...)
	return out, err
}

// entries is list without the check of permissions; the findings are returned, not reported yet.
func (w *walk) entries(ctx context.Context, dir string, known []string) (out []osfs.Entry, odd *read.FindingList,
	err error) {
	odd = &read.FindingList{}
	if err := ctx.Err(); err != nil {
		return nil, odd, err
	}
	entries, err := w.d.List(dir)
	sorting.By(entries, func(a, b osfs.Entry) int { return strings.Compare(a.Name, b.Name) })
	out = entries[:0]
	for _, e := range entries {
		switch at := layout.Within(dir, e.Name); {
		case layout.IsTemp(e.Name):
		case e.Kind == osfs.Symlink || e.Kind == osfs.Other:
			what := "a store contains regular files and directories only"
			if _, err := id.ParseSession(e.Name); err == nil && dir == "sessions" {
				what = "a link or special file in place of a session, which is not read: links are not followed"
			}
			odd.Find(0, e.Name, manifest.UnknownFile, at, "%s", what)
		case known != nil && !slices.Contains(known, e.Name) && !w.isLog(at, e):
			odd.Find(0, e.Name, manifest.UnknownFile, at, "no file of that name is part of a store")
		default:
			out = append(out, e)
		}
	}
	return out, odd, err
}

// checkMode reports an entry that other users can open.
func (w *walk) checkMode(odd *read.FindingList, dir string, e osfs.Entry) {
	at := layout.Within(dir, e.Name)
	if info, err := w.d.Stat(at); err == nil {
		w.checkInfo(odd, at, e, info)
	}
}

// checkInfo is checkMode for an entry whose metadata is known. The modes of a foreign store are its own choice.
func (w *walk) checkInfo(odd *read.FindingList, at string, e osfs.Entry, info osfs.Info) {
	if !w.foreign {
		odd.CheckMode(e.Name, at, info)
	}
}

// entriesPerTask is how many entries of a directory one goroutine checks: a small directory starts one only.
const entriesPerTask = 64

// eachEntry calls check for every entry, on several goroutines. The first error is returned.
func eachEntry(entries []osfs.Entry, check func(osfs.Entry) error) error {
	var tasks errgroup.Group
	tasks.SetLimit(runtime.GOMAXPROCS(0))
	for part := range slices.Chunk(entries, entriesPerTask) {
		tasks.Go(func() error {
			for _, e := range part {
				if err := check(e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return tasks.Wait()
}

// objects verifies every object of a kind, referenced or not: the next session that stores the same
// bytes relies on it.
func (w *walk) objects(ctx context.Context, kind manifest.ObjectKind) error {
	dir := manifest.ObjectDir(kind)
	entries, odd, err := w.entries(ctx, dir, nil)
	if err := w.reportUnreadable(ctx, manifest.ObjectDamaged, dir, disk.UnlessMissing(err)); err != nil {
		return err
	}
	files := entries[:0]
	for _, e := range entries {
		if kind == manifest.Artifact && w.tombstone(layout.Within(dir, e.Name), e) {
			w.checkMode(odd, dir, e)
		} else {
			files = append(files, e)
		}
	}
	err = eachEntry(files, func(e osfs.Entry) error { return w.object(ctx, kind, dir, e, odd) })
	w.found = append(w.found, odd.InOrder()...)
	return err
}

// object hashes one file and compares the digest with its name. The mode is read from the opened
// file: a stat by name would take as long as reading it.
//
// An object with the right digest is passed to intact, from the calling goroutine.
func (w *walk) object(ctx context.Context, kind manifest.ObjectKind, dir string, e osfs.Entry,
	odd *read.FindingList) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	at := layout.Within(dir, e.Name)
	ref, ok := layout.ParseObjectName(kind, e.Name)
	if !ok || e.Kind != osfs.Regular {
		w.checkMode(odd, dir, e)
	}
	if !ok {
		odd.Find(1, e.Name, manifest.UnknownFile, at, "this is not the name of a stored %s", kind)
		return nil
	}
	sum, _, info, err := read.HashFile(w.d, at, int64(layout.ObjectBytesMax(kind)))
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		if disk.UnlessMissing(err) == nil {
			return nil // removed since it was listed: a reference to it is reported as missing
		}
		odd.Find(1, e.Name, manifest.ObjectDamaged, at, "%s", fault.Of(disk.ReadFault(err)).Message)
		return nil
	}
	if e.Kind == osfs.Regular {
		w.checkInfo(odd, at, e, info)
	}
	switch {
	case sum != ref.Raw():
		odd.Find(1, e.Name, manifest.ObjectDamaged, at, "the file does not have the digest that its name says")
	case w.intact != nil:
		w.intact(kind, ref)
	}
	return nil
}
