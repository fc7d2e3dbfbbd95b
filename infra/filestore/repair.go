package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

var _ ports.Repairs = (*Store)(nil)

// repairing is one repair of a log under way.
type repairing struct {
	s    *Store
	r    ports.LogRepair
	v    manifest.Verdict
	held []*lock.Held // the log's own first

	whole bool     // no usable prefix: all of the log's folder is set aside
	files []string // that are set aside, the manifest last
	sizes map[string]int64
	dirs  []string // of the folder that go with it, parents first
}

// RepairLog implements ports.Repairs.
func (s *Store) RepairLog(ctx context.Context, r ports.LogRepair) (out ports.Repaired, err error) {
	st, err := s.standing()
	if err != nil || !st.there {
		return out, err
	}
	if st.refusal != nil {
		return out, st.refusal
	}
	j := &repairing{s: s, r: r, sizes: map[string]int64{}}
	defer j.unlock()
	if !r.DryRun {
		if err := j.lock(ctx); err != nil {
			return out, err
		}
	}
	if out.Verdict, err = j.examine(ctx); err != nil || !j.v.Damaged() {
		return out, readFault(err)
	}
	if out.Folder, err = s.asideName(r.Log.Owner, r.AtMs); err != nil {
		return out, readFault(err)
	}
	if err := j.show(); err != nil {
		return out, readFault(err)
	}
	out.Steps = j.steps(out.Folder)
	if r.DryRun {
		return out, nil
	}
	return out, writeFault(j.carryOut(out))
}

// lock keeps writers and cleanups away. The log's own lock is taken as it stands,
// without what Lock does for the next writer: nothing may change before it is copied.
func (j *repairing) lock(ctx context.Context) error {
	held, err := j.s.locks.Acquire(ctx, lockName(j.r.Log), lock.Exclusive, j.s.o.LockWait)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no folder, so nothing to repair either
	}
	if err != nil {
		return j.s.busyLog(err, j.r.Log)
	}
	j.held = append(j.held, held)
	// The logs beside this one go along where all of the folder does: their writers
	// would commit to files that are gone from there.
	entries, err := j.s.fs.List(j.r.Log.Root)
	if err != nil {
		return readFault(err)
	}
	for _, e := range entries {
		dir := path.Join(j.r.Log.Root, e.Name)
		if _, isLog, err := j.s.stat(path.Join(dir, manifest.FileName)); e.Kind != osfs.Directory || err != nil ||
			!isLog {
			continue
		}
		held, err := j.s.locks.Acquire(ctx, dir+"/.lock", lock.Exclusive, j.s.o.LockWait)
		if err != nil {
			return j.s.busyLog(err, j.r.Log)
		}
		j.held = append(j.held, held)
	}
	if held, err = j.s.locks.Acquire(ctx, useLock, lock.Exclusive, j.s.o.LockWait); err != nil {
		return busyFault(err, fault.StoreLocked, "the store")
	}
	j.held = append(j.held, held)
	return nil
}

func (j *repairing) unlock() {
	for _, held := range slices.Backward(j.held) {
		_ = held.Unlock()
	}
}

// examine reads the log, and finds the files that its repair would set aside.
func (j *repairing) examine(ctx context.Context) (manifest.Verdict, error) {
	v, err := j.s.Read(ctx, ports.Reading{Log: j.r.Log, Locked: !j.r.DryRun}, ignore{})
	if err != nil {
		return v, err
	}
	j.v = j.r.Judge(v)
	// What a newer version committed, and what it would call damage, that version knows.
	// Of a log whose kinds are not told, no event is known: its groups are looked at.
	unknown := func(f manifest.Finding) bool { return f.Code == manifest.UnknownEvents }
	if len(j.r.Log.Table.Kinds()) == 0 {
		j.v.Findings = slices.DeleteFunc(j.v.Findings, unknown)
	} else if slices.ContainsFunc(j.v.Findings, unknown) {
		return j.v, fault.New(fault.SessionUnhealthy,
			"%s holds facts that this binary does not know; it is not repaired", j.r.Log.Root).
			Suggest("Use the newer binary, or the other program, that wrote it.").
			With("health", string(manifest.UnknownVersion)).With(j.r.Log.Table.OwnerField, j.r.Log.Owner)
	}
	if !j.v.Damaged() {
		return j.v, nil
	}
	j.whole = j.v.Health == manifest.CorruptHead
	if j.whole {
		err = j.gather(j.r.Log.Root)
	} else {
		err = j.tail()
	}
	return j.v, err
}

// tail finds what stands behind the usable prefix. Caches go too, of every format: a
// later head in one of them would prove a loss that the repair has settled.
func (j *repairing) tail() error {
	events := path.Join(j.r.Log.Root, manifest.SegmentDir)
	names, err := j.s.segmentNames(j.r.Log)()
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if first, _, ok := manifest.ParseSegmentName(name); ok && first >= j.v.Head.Next {
			j.add(path.Join(events, name))
		}
	}
	caches, err := j.s.fs.List(path.Join(j.r.Log.Root, "cache"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range caches {
		if e.Kind == osfs.Regular && !strings.HasPrefix(e.Name, tempPrefix) {
			j.add(path.Join(j.r.Log.Root, "cache", e.Name))
		}
	}
	j.add(path.Join(j.r.Log.Root, manifest.FileName))
	return nil
}

// gather finds everything in a folder. Locks stay where they are: they hold nothing
// but who took them.
func (j *repairing) gather(dir string) error {
	entries, err := j.s.fs.List(dir)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b osfs.Entry) int { return strings.Compare(a.Name, b.Name) })
	own := false
	for _, e := range entries {
		at := path.Join(dir, e.Name)
		switch {
		case e.Kind == osfs.Directory:
			j.dirs = append(j.dirs, at)
			if err := j.gather(at); err != nil {
				return err
			}
		case isLockName(e.Name):
		case at == path.Join(j.r.Log.Root, manifest.FileName):
			own = true
		default:
			j.add(at)
		}
	}
	if own {
		j.add(path.Join(dir, manifest.FileName))
	}
	return nil
}

func isLockName(name string) bool { return name == ".lock" || name == ".performer.lock" }

func (j *repairing) add(name string) {
	j.files = append(j.files, name)
	if info, err := j.s.fs.Stat(name); err == nil {
		j.sizes[name] = info.Size
	}
}

// base is where the owner's files begin: paths in the quarantine count from there.
func (j *repairing) base() string {
	if j.r.Log.Table.OwnerField == "storeId" {
		return "."
	}
	return path.Join("sessions", j.r.Log.Owner)
}

// show hands over what would be set aside of events, for whoever tells what is lost.
func (j *repairing) show() error {
	if j.r.Aside == nil {
		return nil
	}
	own := path.Join(j.r.Log.Root, manifest.SegmentDir)
	for _, name := range j.files {
		switch {
		case path.Dir(name) == own:
			if b, err := j.s.readFile(name, segmentBytesMax); err == nil {
				j.r.Aside(path.Base(name), b)
			}
		case name == path.Join(j.r.Log.Root, manifest.FileName):
			if b, err := j.s.readFile(name, segmentBytesMax); err == nil {
				j.r.Aside(manifest.FileName, b[min(j.v.Head.Bytes, int64(len(b))):])
			}
		}
	}
	return nil
}

func (j *repairing) steps(folder string) []ports.RepairStep {
	a := &aside{base: j.base(), folder: folder}
	var out []ports.RepairStep
	for _, name := range j.files {
		out = append(out, ports.RepairStep{What: ports.SetAside, From: name, To: a.to(name), Bytes: j.sizes[name]})
	}
	if !j.whole {
		name := path.Join(j.r.Log.Root, manifest.FileName)
		out = append(out, ports.RepairStep{What: ports.KeepPrefix, From: name, To: name, Bytes: j.v.Head.Bytes})
	}
	return out
}
