package filestore

import (
	"bufio"
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
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

var _ ports.Arrivals = (*Store)(nil)

// arrival is a session on its way in: a folder beside the sessions, of a name that no
// reader looks at, which becomes one by a single rename.
type arrival struct {
	s       *Store
	session id.Session
	use     *lock.Held // shared, so that no cleanup takes what was brought
	dir     string     // the staged folder; "" once it is not this arrival's to remove
	logs    []string   // folders of its logs, relative to dir
	buf     []byte     // what passes through on the way to objects

	manifest osfs.File // of one log at a time, the last one's
	groups   *bufio.Writer
	into     string // whose manifest that is

	waiting []*staged // written, and not synced yet
	relied  entries   // objects that are to be durable before the commit
	relies  int
	kinds   []string // folders of objects that the commit relies on

	// doubtful: an earlier arrival never came to its end, and of the objects that it
	// brought nobody knows whether a sync failed (R7).
	doubtful bool
	stay     bool  // the staged folder is left, so that the next arrival knows
	failed   error // the first error: nothing is done after it
	over     bool  // committed, or ended
}

// errArrivalOver is a mistake of ours: whoever ended an arrival goes on with it.
var errArrivalOver = fault.New(fault.Internal, "the arrival is over")

// Arrive implements ports.Arrivals.
func (s *Store) Arrive(ctx context.Context, session id.Session) (ports.Arrival, error) {
	if _, err := s.toWrite(); err != nil {
		return nil, err
	}
	use, err := s.locks.Acquire(ctx, useLock, lock.Shared, s.o.LockWait)
	if err != nil {
		return nil, busyFault(err, fault.StoreLocked, "the store")
	}
	a := &arrival{s: s, session: session, use: use, buf: make([]byte, copyBytes)}
	if a.doubtful, err = s.unfinished(); err == nil {
		a.dir, err = s.tempName("sessions")
	}
	if err == nil {
		_, err = s.mkdirs(a.dir)
	}
	if err != nil {
		_ = use.Unlock()
		return nil, writeFault(err)
	}
	return a, nil
}

// unfinished reports an arrival that is under way, or whose process came to its end
// before it did.
func (s *Store) unfinished() (bool, error) {
	entries, err := s.fs.List("sessions")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(entries, func(e osfs.Entry) bool {
		return e.Kind == osfs.Directory && strings.HasPrefix(e.Name, tempPrefix)
	}), err
}

// do carries out one call. After a sync that failed no later one proves anything
// (R7), and a part that is missing makes another session: the first error is the last
// word.
func (a *arrival) do(ctx context.Context, call func() error) error {
	switch {
	case a.failed != nil:
		return a.failed
	case a.over:
		return errArrivalOver
	}
	err := ctx.Err()
	if err == nil {
		err = call()
	}
	var source sourceError
	if errors.As(err, &source) {
		err = source.error
	} else {
		err = writeFault(err)
	}
	a.failed = err
	return err
}

// Segment implements ports.Arrival.
func (a *arrival) Segment(ctx context.Context, log string, seg manifest.Segment) error {
	return a.do(ctx, func() error {
		if _, _, ok := manifest.ParseSegmentName(seg.Name()); !ok || len(seg.Group) == 0 || log != "" &&
			!bundle.LogName(log) {
			return fault.New(fault.Internal, "events %d to %d of log %q cannot arrive", seg.First, seg.Last, log)
		}
		if n := len(seg.Bytes); n > segmentBytesMax {
			return fault.New(fault.StoreLimit, "%s has %d bytes: a store takes at most %d", seg.Name(), n,
				segmentBytesMax)
		}
		if err := a.open(log); err != nil {
			return err
		}
		if _, err := a.groups.Write(seg.Group); err != nil {
			return err
		}
		return a.write(path.Join(a.dir, log, manifest.SegmentDir, seg.Name()), seg.Bytes)
	})
}

// groupsBuffer is how much of a manifest is written at a time.
const groupsBuffer = 64 << 10

// open makes the folders of a log, and turns to its manifest. One is open at a time:
// how many side logs there are is not for the limit of open files to say.
func (a *arrival) open(log string) (err error) {
	if a.manifest != nil && a.into == log {
		return nil
	}
	if err := a.closeManifest(); err != nil {
		return err
	}
	mode := osfs.Append
	if !slices.Contains(a.logs, log) {
		mode = osfs.New
		if _, err := a.s.mkdirs(path.Join(a.dir, log, manifest.SegmentDir)); err != nil {
			return err
		}
		a.logs = append(a.logs, log)
	}
	if a.manifest, err = a.s.fs.Open(path.Join(a.dir, log, manifest.FileName), mode); err != nil {
		return err
	}
	a.into, a.groups = log, bufio.NewWriterSize(a.manifest, groupsBuffer)
	return nil
}

// closeManifest lets the manifest wait for its sync like every other file.
func (a *arrival) closeManifest() error {
	if a.manifest == nil {
		return nil
	}
	err := a.groups.Flush()
	a.waiting = append(a.waiting, &staged{file: a.manifest})
	a.manifest, a.groups = nil, nil
	return err
}

// Control implements ports.Arrival.
func (a *arrival) Control(ctx context.Context, f ports.ControlFile, c ports.Control) error {
	return a.do(ctx, func() error {
		if _, err := sessionControlName(a.session, f); err != nil {
			return err
		}
		b, err := controlfile.Encode(controlfile.Document{Kind: f.Kind, V: c.V, Data: c.Data})
		if err != nil {
			return err
		}
		return a.write(path.Join(a.dir, f.Name), b)
	})
}

// Tombstone implements ports.Arrival.
func (a *arrival) Tombstone(ctx context.Context, ref canon.Digest, data canon.Value) error {
	return a.do(ctx, func() error {
		name := artifactPath(ref)
		for _, is := range []string{name + erasedSuffix, name} {
			if _, there, err := a.s.stat(is); err != nil {
				return err
			} else if there {
				return a.keep(is)
			}
		}
		b, err := controlfile.Encode(controlfile.Document{Kind: erasedKind, V: erasedVersion, Data: data})
		if err != nil {
			return err
		}
		st, err := a.stage(name + erasedSuffix)
		if err != nil {
			return err
		}
		st.same = func() (bool, error) { return true, nil } // another's stays as it is
		if _, err = st.file.Write(b); err != nil {
			return err
		}
		return a.flushFull()
	})
}

// End implements ports.Arrival. What cannot be removed is left to a cleanup.
func (a *arrival) End() error {
	if a.use == nil {
		return nil
	}
	a.over = true
	if a.manifest != nil {
		_ = a.manifest.Close()
		a.manifest = nil
	}
	for _, st := range a.waiting {
		if st.file != nil {
			_ = st.file.Close()
		}
		if st.temp != "" {
			_ = a.s.fs.Remove(st.temp)
		}
	}
	if a.dir != "" && !a.stay {
		_ = a.s.removeAll(a.dir)
	}
	err := a.use.Unlock()
	a.waiting, a.dir, a.use = nil, "", nil
	return writeFault(err)
}
