package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

var _ ports.Retention = (*Store)(nil)

// LogRoots implements ports.Retention. The order is: sessions, sessions in the trash, their side
// logs, side logs of the store. Directories that are moved during the call are omitted.
func (s *Store) LogRoots(ctx context.Context) ([]ports.LogRoot, error) {
	st, err := s.state()
	if err != nil || !st.exists {
		return nil, err
	}
	sessions, err := s.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	trashed, err := s.TrashEntries(ctx)
	if err != nil {
		return nil, err
	}
	var out []ports.LogRoot
	for _, session := range sessions {
		out = append(out, ports.LogRoot{Root: sessionDir(session), Owner: session.String(), Session: session})
	}
	for _, t := range trashed {
		out = append(out, ports.LogRoot{Root: t.Root, Owner: t.Session.String(), Session: t.Session, TrashName: t.Name})
	}
	for _, own := range slices.Clone(out) {
		names, err := s.sideLogs(ctx, own.Root)
		if errors.Is(err, fs.ErrNotExist) {
			continue // moved in between
		}
		if err != nil {
			return nil, readFault(err)
		}
		for _, name := range names {
			side := own
			side.Root, side.Name = path.Join(own.Root, name), name
			out = append(out, side)
		}
	}
	names, err := s.sideLogs(ctx, ".")
	for _, name := range names {
		out = append(out, ports.LogRoot{Root: name, Owner: st.id.String(), Name: name})
	}
	return out, readFault(err)
}

// sideLogs lists the directories in dir that contain a log, sorted. Unlike SideLogs it reports a
// directory that cannot be read as an error, since a cleanup must know every reference.
func (s *Store) sideLogs(ctx context.Context, dir string) (out []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := s.fs.List(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		// Every session has these two directories, so they are skipped without reading them.
		if e.Kind != osfs.Directory || e.Name == manifest.SegmentDir || e.Name == "cache" ||
			strings.HasPrefix(e.Name, tempPrefix) {
			continue
		}
		exists, err := s.containsLog(path.Join(dir, e.Name))
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

// partsWithoutMentions lists the parts of a store that ReadOtherFiles omits: logs, objects, locks and
// control files, whose references are found in other ways or which have none.
var partsWithoutMentions = []string{
	storeFile,
	"config.json",
	"trust.json",
	useLock,
	"keys",
	"sessions",
	"snapshots",
	"artifacts",
	"workflows",
	trashDir,
	"cache",
}

// ReadOtherFiles implements ports.Retention. It passes every other file to visit: files that a newer
// version stored in the directory, and copies that a user made beside the sessions under another
// name. Both may refer to objects. A file above segmentBytesMax is STORE_LIMIT.
//
// A store without its directory sessions is STORE_CORRUPT: see checkSessionsDir.
func (s *Store) ReadOtherFiles(ctx context.Context, visit func([]byte)) error {
	visitFile := func(name string) error {
		b, err := s.readFile(name, segmentBytesMax)
		if err == nil && len(b) > segmentBytesMax {
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
		{".", func(name string) bool { return slices.Contains(partsWithoutMentions, name) }},
		{"sessions", func(name string) bool { _, err := id.ParseSession(name); return err == nil }},
		{trashDir, func(name string) bool { _, _, ok := parseTrashName(name); return ok }},
	} {
		entries, err := s.fs.List(in.dir)
		if errors.Is(err, fs.ErrNotExist) {
			if in.dir == "sessions" {
				if err := s.checkSessionsDir(); err != nil {
					return err
				}
			}
			continue
		}
		for _, e := range entries {
			name := path.Join(in.dir, e.Name)
			// A log of the store is listed by LogRoots and read there.
			_, isLog, statErr := s.stat(path.Join(name, manifest.FileName))
			if err == nil && !in.known(e.Name) && !(in.dir == "." && isLog && statErr == nil) &&
				!strings.HasPrefix(e.Name, tempPrefix) {
				err = s.eachFile(ctx, name, e.Kind, visitFile)
			}
		}
		if err != nil {
			return readFault(err)
		}
	}
	return nil
}

// eachFile calls fn for every regular file at or below a name.
func (s *Store) eachFile(ctx context.Context, name string, kind osfs.Kind, fn func(string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if kind == osfs.Regular {
		return fn(name)
	}
	if kind != osfs.Directory {
		return nil // the target of a link is not part of the store
	}
	entries, err := s.fs.List(name)
	for _, e := range entries {
		if err == nil {
			err = s.eachFile(ctx, path.Join(name, e.Name), e.Kind, fn)
		}
	}
	return err
}

// Sizes implements ports.Retention. The result is sorted by digest; files with other names are
// omitted.
func (s *Store) Sizes(ctx context.Context, kind manifest.ObjectKind) ([]ports.SizedObject, error) {
	entries, err := s.fs.List(manifest.ObjectDir(kind))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	erased, erasedErr := s.tombstones(kind)
	if erasedErr != nil {
		return nil, readFault(erasedErr)
	}
	var out []ports.SizedObject
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, readFault(err)
		}
		ref, parseErr := canon.ParseFileName(strings.TrimSuffix(e.Name, ".json"))
		if parseErr != nil || manifest.ObjectName(kind, ref) != e.Name || e.Kind != osfs.Regular {
			continue
		}
		info, exists, err := s.stat(path.Join(manifest.ObjectDir(kind), e.Name))
		if err != nil {
			return nil, readFault(err)
		}
		if exists {
			out = append(out, ports.SizedObject{Ref: ref, Bytes: info.Size, Erased: erased[ref]})
		}
	}
	slices.SortFunc(out, func(a, b ports.SizedObject) int { return strings.Compare(a.Ref.String(), b.Ref.String()) })
	return out, readFault(err)
}

// Survey implements ports.Retention. Leftovers are sorted by path.
//
// Temporary files are leftovers and count in no directory. A store that does not exist is empty.
func (s *Store) Survey(ctx context.Context) (out ports.Survey, err error) {
	err = s.survey(ctx, ".", &out)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // no store
	}
	slices.SortFunc(out.Leftovers, func(a, b ports.Leftover) int { return strings.Compare(a.Path, b.Path) })
	return out, readFault(err)
}

// survey adds the directory dir and everything below it to out.
func (s *Store) survey(ctx context.Context, dir string, out *ports.Survey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := s.fs.List(dir)
	if err != nil {
		return err
	}
	here := ports.DirectoryUsage{Path: dir}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		if strings.HasPrefix(e.Name, tempPrefix) {
			bytes, err := s.sizeOf(ctx, name, e.Kind)
			if err != nil {
				return err
			}
			out.Leftovers = append(out.Leftovers, ports.Leftover{Path: name, Bytes: bytes})
			continue
		}
		switch e.Kind {
		case osfs.Directory:
			err = s.survey(ctx, name, out)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil // removed in between
			}
		case osfs.Regular:
			var info osfs.Info
			var exists bool
			if info, exists, err = s.stat(name); exists {
				here.Files, here.Bytes = here.Files+1, here.Bytes+info.Size
			}
		}
		if err != nil {
			return err
		}
	}
	out.Directories = append(out.Directories, here)
	return nil
}

// sizeOf returns the bytes of a file, or of all files below a directory.
func (s *Store) sizeOf(ctx context.Context, name string, kind osfs.Kind) (bytes int64, err error) {
	err = s.eachFile(ctx, name, kind, func(file string) error {
		info, _, err := s.stat(file)
		bytes += info.Size
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it was placed or removed in between
	}
	return bytes, err
}

// removableUnborn lists the names in the directory of a session without commits that removeUnborn
// may remove. Any other file keeps the directory.
var removableUnborn = []string{manifest.FileName, manifest.SegmentDir, ".lock", performerLock, suspectFile, "cache"}

// removeUnborn removes the directory of a session to which nothing was committed, unless a process
// holds one of its locks or it has a file that no first commit writes. The use lock is held.
//
// gone is true when the directory no longer exists, also when another process removed it.
func (s *Store) removeUnborn(ctx context.Context, session id.Session) (gone bool, err error) {
	log := manifest.SessionEvents(session)
	held, busy, err := s.tryLock(ctx, lockName(log))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // another process removed it
	}
	if busy || err != nil {
		return false, err
	}
	defer held.Unlock()
	entries, err := s.fs.List(log.Root)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if !slices.Contains(removableUnborn, e.Name) && !strings.HasPrefix(e.Name, tempPrefix) {
			return false, nil
		}
	}
	verdict, err := s.Read(ctx, ports.ReadRequest{Log: log, Locked: true}, ports.Skip)
	if err != nil || !verdict.Unborn() {
		return false, err
	}
	if performer, busy, err := s.tryLock(ctx, path.Join(log.Root, performerLock)); busy || err != nil {
		return false, err
	} else {
		_ = performer.Unlock()
	}
	if moveNeedsClosedFiles {
		_ = held.Unlock()
	}
	return true, s.removeTree(log.Root)
}
