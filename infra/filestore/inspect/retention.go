package inspect

import (
	"context"
	"errors"
	"io/fs"
	"path"
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
	"github.com/waybill/waybill/ports"
)

// LogRoots implements ports.Retention. The order is: sessions, sessions in the trash, their side
// logs, side logs of the store. Directories that are moved during the call are omitted.
func (n *Inspector) LogRoots(ctx context.Context) ([]ports.LogRoot, error) {
	st, err := n.d.State()
	if err != nil || !st.Exists {
		return nil, err
	}
	sessions, err := n.read.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	trashed, err := n.read.TrashEntries(ctx)
	if err != nil {
		return nil, err
	}
	var out []ports.LogRoot
	for _, session := range sessions {
		out = append(out, ports.LogRoot{Root: layout.SessionDir(session), Owner: session.String(), Session: session})
	}
	for _, t := range trashed {
		out = append(out, ports.LogRoot{Root: t.Root, Owner: t.Session.String(), Session: t.Session, TrashName: t.Name})
	}
	for _, own := range slices.Clone(out) {
		names, err := n.sideLogs(ctx, own.Root)
		if err := disk.UnlessMissing(err); err != nil { // missing: it was moved in between
			return nil, disk.ReadFault(err)
		}
		for _, name := range names {
			side := own
			side.Root, side.Name = path.Join(own.Root, name), name
			out = append(out, side)
		}
	}
	names, err := n.sideLogs(ctx, ".")
	for _, name := range names {
		out = append(out, ports.LogRoot{Root: name, Owner: st.ID.String(), Name: name})
	}
	return out, disk.ReadFault(err)
}

// sideLogs lists the directories in dir that contain a log, sorted. Unlike SideLogs it reports a
// directory that cannot be read as an error, since a cleanup must know every reference.
func (n *Inspector) sideLogs(ctx context.Context, dir string) (out []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := n.d.List(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		// Every session has these two directories, so they are skipped without reading them.
		if e.Kind != osfs.Directory || e.Name == manifest.SegmentDir || e.Name == "cache" ||
			layout.IsTemp(e.Name) {
			continue
		}
		exists, err := read.ContainsLog(n.d, path.Join(dir, e.Name))
		if err != nil {
			return nil, err
		}
		if exists {
			out = append(out, e.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// ReadOtherContent implements ports.Retention. It passes every other file to visit: files that a newer
// version stored in the directory or in that of a session, and copies that a user made beside the sessions under another
// name. Both may refer to objects. A file with more data than layout.SegmentBytesMax is STORE_LIMIT. Links and special files are
// omitted: UnreadEntries lists them.
//
// A store without its directory sessions is STORE_CORRUPT: see checkSessionsDir.
func (n *Inspector) ReadOtherContent(ctx context.Context, visit func([]byte)) error {
	visitFile := func(name string) error {
		b, err := n.d.ReadData(name, 0, layout.SegmentBytesMax)
		if err == nil && len(b) > layout.SegmentBytesMax {
			err = fault.New(fault.StoreLimit, "%s is too large to be searched for references to objects", name)
		}
		if err == nil {
			visit(b)
		}
		return err
	}
	for _, in := range []struct {
		dir   string
		known func(name string) bool
	}{
		{".", func(name string) bool { return slices.Contains(layout.PartsWithoutMentions, name) }},
		{"sessions", func(name string) bool { _, err := id.ParseSession(name); return err == nil }},
		{layout.TrashDir, func(name string) bool { _, _, ok := layout.ParseTrashName(name); return ok }},
	} {
		entries, err := n.d.List(in.dir)
		if in.dir == "sessions" && errors.Is(err, fs.ErrNotExist) {
			err = n.checkSessionsDir()
		}
		err = disk.UnlessMissing(err)
		for _, e := range entries {
			name := path.Join(in.dir, e.Name)
			switch known := in.known(e.Name); {
			case err != nil || layout.IsTemp(e.Name):
			case known && in.dir != "." && e.Kind == osfs.Directory:
				err = n.otherFilesOfSession(ctx, name, visitFile)
			case !known && !(in.dir == "." && n.isLog(name)):
				err = n.eachFile(ctx, name, e.Kind, visitFile)
			}
		}
		if err != nil {
			return disk.ReadFault(err)
		}
	}
	return nil
}

// otherFilesOfSession calls fn for every file in the directory of a session whose name this version does not know.
func (n *Inspector) otherFilesOfSession(ctx context.Context, dir string, fn func(string) error) error {
	entries, err := n.d.Entries(dir) // missing: it was moved in between, and LogRoots reads it at one of its places
	for _, e := range entries {
		at := path.Join(dir, e.Name)
		if err == nil && !slices.Contains(layout.SessionNames, e.Name) && e.Name != ports.TrashFile.Name &&
			!layout.IsTemp(e.Name) && !(e.Kind == osfs.Directory && n.isLog(at)) {
			err = disk.UnlessMissing(n.eachFile(ctx, at, e.Kind, fn))
		}
	}
	return err
}

// isLog reports a directory with a manifest: LogRoots lists it, and its log is read as one.
func (n *Inspector) isLog(dir string) bool {
	_, exists, err := n.d.Lookup(path.Join(dir, manifest.FileName))
	return exists && err == nil
}

// eachFile calls fn for every regular file at or below a name.
func (n *Inspector) eachFile(ctx context.Context, name string, kind osfs.Kind, fn func(string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if kind == osfs.Regular {
		return fn(name)
	}
	if kind != osfs.Directory {
		return nil // the target of a link is not part of the store
	}
	entries, err := n.d.List(name)
	for _, e := range entries {
		if err == nil {
			err = n.eachFile(ctx, path.Join(name, e.Name), e.Kind, fn)
		}
	}
	return err
}

// EachSize implements ports.Retention. Files with other names are omitted.
func (n *Inspector) EachSize(ctx context.Context, kind manifest.ObjectKind, each func(ports.SizedObject)) error {
	entries, err := n.d.EntriesFor(ctx, manifest.ObjectDir(kind))
	if err != nil {
		return err
	}
	erased, err := read.Tombstones(n.d, kind)
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return disk.ReadFault(err)
		}
		entries[i].Name = "" // release the name
		ref, ok := layout.ParseObjectName(kind, e.Name)
		if !ok || e.Kind != osfs.Regular {
			continue
		}
		info, exists, err := n.d.Lookup(layout.ObjectPath(kind, ref))
		if err != nil {
			return disk.ReadFault(err)
		}
		if exists {
			each(ports.SizedObject{Ref: ref, Bytes: info.Size, Erased: erased[ref]})
		}
	}
	return disk.ReadFault(err)
}

// Survey implements ports.Retention. Leftovers are sorted by path.
//
// Temporary files are leftovers and count in no directory. A store that does not exist is empty.
func (n *Inspector) Survey(ctx context.Context) (out ports.Survey, err error) {
	err = disk.UnlessMissing(n.survey(ctx, ".", &out)) // missing: there is no store
	sorting.By(out.Leftovers, func(a, b ports.Leftover) int { return strings.Compare(a.Place, b.Place) })
	return out, disk.ReadFault(err)
}

// survey adds the directory dir and everything below it to out.
func (n *Inspector) survey(ctx context.Context, dir string, out *ports.Survey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := n.d.List(dir)
	if err != nil {
		return err
	}
	here := ports.PlaceUsage{Place: dir}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		if layout.IsTemp(e.Name) {
			bytes, err := n.sizeOf(ctx, name, e.Kind)
			if err != nil {
				return err
			}
			out.Leftovers = append(out.Leftovers, ports.Leftover{Place: name, Bytes: bytes})
			continue
		}
		switch e.Kind {
		case osfs.Directory:
			err = disk.UnlessMissing(n.survey(ctx, name, out)) // missing: it was removed in between
		case osfs.Regular:
			var info osfs.Info
			var exists bool
			if info, exists, err = n.d.Lookup(name); exists {
				here.Count, here.Bytes = here.Count+1, here.Bytes+info.Size
			}
		}
		if err != nil {
			return err
		}
	}
	out.Places = append(out.Places, here)
	return nil
}

// sizeOf returns the bytes of a file, or of all files below a directory.
func (n *Inspector) sizeOf(ctx context.Context, name string, kind osfs.Kind) (bytes int64, err error) {
	err = n.eachFile(ctx, name, kind, func(file string) error {
		info, _, err := n.d.Lookup(file)
		bytes += info.Size
		return err
	})
	return bytes, disk.UnlessMissing(err) // missing: it was placed or removed in between
}

// checkSessionsDir returns STORE_CORRUPT for a store without the directory sessions, with which
// every store is created: it was moved away, or its disk is not mounted. Without the logs every
// other file would look unreferenced, and a cleanup would remove it.
func (n *Inspector) checkSessionsDir() error {
	st, err := n.d.State()
	if err != nil || !st.Exists || st.Foreign {
		return err
	}
	// Checked again: the store may have been created after the listing failed.
	if _, exists, err := n.d.Lookup("sessions"); err != nil || exists {
		return err
	}
	return fault.New(fault.StoreCorrupt, "the directory sessions is missing, although the store was created with it").
		Suggest("Restore it, or create an empty one if none of its sessions are needed.")
}
