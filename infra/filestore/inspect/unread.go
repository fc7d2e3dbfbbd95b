package inspect

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// UnreadEntries implements ports.Retention. The result is sorted by path. Reading never follows a link, so what a linked
// session refers to is unknown, as is what a file in place of a directory has replaced.
//
// Objects and caches are not listed: an object refers to no other object, and a cache to none that its log does not
// name.
func (n *Inspector) UnreadEntries(ctx context.Context) ([]ports.UnreadEntry, error) {
	u := &unreadWalk{n: n}
	err := u.directory(ctx, ".", u.top)
	sorting.By(u.found, func(a, b ports.UnreadEntry) int { return strings.Compare(a.Place, b.Place) })
	return u.found, disk.ReadFault(err)
}

// unreadWalk collects entries of a store that reading does not follow or understand.
type unreadWalk struct {
	n     *Inspector
	found []ports.UnreadEntry
}

// directory passes the entries of a directory to visit, and adds links, special files and unexpected files. visit
// receives the remaining directories; its result says that the entry must be a directory.
func (u *unreadWalk) directory(ctx context.Context, dir string,
	visit func(ctx context.Context, at, name string, kind osfs.Kind) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := u.n.d.Entries(dir) // missing: moved or removed in between
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := layout.Within(dir, e.Name)
		switch {
		case layout.IsTemp(e.Name) && e.Kind != osfs.Symlink:
			continue // of an operation that did not finish: never read
		case e.Kind == osfs.Symlink:
			u.add(at, "it is a symbolic link, which is not followed: the target may refer to any object. Move the target "+
				"back to this path, or remove the link if the target is not needed")
			continue
		case e.Kind == osfs.Other:
			u.add(at, "it is a pipe, a device or a socket, and may have replaced files that refer to objects. Restore the "+
				"files from a backup, or remove it if none are missing")
			continue
		}
		if err := visit(ctx, at, e.Name, e.Kind); err != nil {
			return err
		}
	}
	return nil
}

// add records an entry.
func (u *unreadWalk) add(at, message string) {
	u.found = append(u.found, ports.UnreadEntry{Place: at, Message: message})
}

// mustBeDirectory adds a file in place of a directory, and reports a directory.
func (u *unreadWalk) mustBeDirectory(at, what string, kind osfs.Kind) bool {
	if kind != osfs.Directory {
		u.add(at, "it is a file in place of "+what+", whose content may refer to any object. Restore the directory from a "+
			"backup, or remove the file if nothing is missing")
	}
	return kind == osfs.Directory
}

// top visits an entry of the store's directory.
func (u *unreadWalk) top(ctx context.Context, at, name string, kind osfs.Kind) error {
	if slices.Contains(layout.StoreDirs, name) && !u.mustBeDirectory(at, "a directory of the store", kind) ||
		kind != osfs.Directory {
		return nil
	}
	switch {
	case name == "sessions":
		return u.directory(ctx, at, u.sessions(func(name string) bool { _, err := id.ParseSession(name); return err == nil }))
	case name == layout.TrashDir:
		return u.directory(ctx, at, u.sessions(func(name string) bool {
			_, _, ok := layout.ParseTrashName(name)
			return ok
		}))
	case name == "workflows":
		return u.directory(ctx, at, func(_ context.Context, at, name string, kind osfs.Kind) error {
			if name == "pinned" {
				u.mustBeDirectory(at, "a directory of the store", kind)
			}
			return nil
		})
	case slices.Contains(layout.DirsWithoutMentions, name):
		return nil
	}
	return u.directory(ctx, at, u.below)
}

// sessions returns the visit of a directory of sessions, whose names isSession reports.
func (u *unreadWalk) sessions(isSession func(string) bool) func(context.Context, string, string, osfs.Kind) error {
	return func(ctx context.Context, at, name string, kind osfs.Kind) error {
		switch {
		case isSession(name) && u.mustBeDirectory(at, "a session", kind):
			return u.directory(ctx, at, u.session)
		case !isSession(name):
			return u.below(ctx, at, name, kind)
		}
		return nil
	}
}

// session visits an entry of a session's directory.
func (u *unreadWalk) session(ctx context.Context, at, name string, kind osfs.Kind) error {
	switch {
	case slices.Contains(layout.SessionDirs, name):
		u.mustBeDirectory(at, "a directory of the session", kind)
		if name == "annotations" {
			return u.below(ctx, at, name, kind)
		}
		return nil // every segment that is committed is opened by name, and caches are not needed
	default:
		return u.below(ctx, at, name, kind)
	}
}

// below visits an entry whose directories may have any content. Of a log the reader opens the committed segments.
func (u *unreadWalk) below(ctx context.Context, at, name string, kind osfs.Kind) error {
	if kind != osfs.Directory {
		return nil
	}
	if name == manifest.SegmentDir && u.n.isLog(path.Dir(at)) {
		return nil
	}
	return u.directory(ctx, at, u.below)
}
