package repair

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// repairOp is one repair of a log in progress.
type repairOp struct {
	s    *Repairer
	r    ports.LogRepair
	v    manifest.Verdict
	held []*lock.Held // the log's own lock first

	noPrefix bool             // no usable prefix: the whole directory of the log is quarantined
	files    []string         // files to quarantine, the manifest last
	sizes    map[string]int64 // by file, for the steps
	dirs     []string         // directories to remove with them, parents first
}

// RepairLog implements ports.Repairs. A healthy log and a store that does not exist are left
// unchanged. With r.DryRun no lock is taken and nothing changes; the returned steps describe what a
// repair would do.
//
// With a usable prefix the manifest is replaced by the prefix, and these are quarantined: the old
// manifest, the segments behind the prefix and the caches of the log. Without one (health
// corrupt_head) the whole directory of the log is quarantined, side logs included.
func (s *Repairer) RepairLog(ctx context.Context, r ports.LogRepair) (out ports.RepairResult, err error) {
	st, err := s.d.State()
	if err != nil || !st.Exists {
		return out, err
	}
	if st.Refusal != nil {
		return out, st.Refusal
	}
	j := &repairOp{s: s, r: r, sizes: map[string]int64{}}
	defer j.unlock()
	if !r.DryRun {
		if err := j.lock(ctx); err != nil {
			return out, err
		}
	}
	if out.Verdict, err = j.diagnose(ctx); err != nil || !j.v.Damaged() {
		return out, disk.ReadFault(err)
	}
	if out.QuarantineDir, err = s.d.QuarantineName(r.Log.Owner, r.AtMs); err != nil {
		return out, disk.ReadFault(err)
	}
	if err := j.reportContents(); err != nil {
		return out, disk.ReadFault(err)
	}
	out.Steps = j.steps(out.QuarantineDir)
	if r.DryRun {
		return out, nil
	}
	return out, disk.WriteFault(j.execute(out))
}

// lock excludes writers and cleanups. It does not use Store.Lock, which may remove an uncommitted
// log for the next writer: nothing may change before it is copied.
//
// A busy log is SESSION_LOCKED, a cleanup or commit in progress STORE_LOCKED.
func (j *repairOp) lock(ctx context.Context) error {
	held, err := j.s.d.Locks.Acquire(ctx, layout.LockName(j.r.Log), lock.Exclusive, j.s.d.LockWait)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no directory, so nothing to repair
	}
	if err != nil {
		return j.s.d.BusyLogFault(err, j.r.Log)
	}
	j.held = append(j.held, held)
	// Side logs are quarantined with the directory of the log: without their locks, their writers
	// would commit to files that were moved.
	entries, err := j.s.d.List(j.r.Log.Root)
	if err != nil {
		return disk.ReadFault(err)
	}
	for _, e := range entries {
		dir := path.Join(j.r.Log.Root, e.Name)
		if _, isLog, err := j.s.d.Lookup(path.Join(dir, manifest.FileName)); e.Kind != osfs.Directory || err != nil ||
			!isLog {
			continue
		}
		held, err := j.s.d.Locks.Acquire(ctx, dir+"/.lock", lock.Exclusive, j.s.d.LockWait)
		if err != nil {
			return j.s.d.BusyLogFault(err, j.r.Log)
		}
		j.held = append(j.held, held)
	}
	if held, err = j.s.d.Locks.Acquire(ctx, layout.UseLock, lock.Exclusive, j.s.d.LockWait); err != nil {
		return disk.BusyFault(err, fault.StoreLocked, "the store")
	}
	j.held = append(j.held, held)
	return nil
}

// unlock releases the locks in reverse order.
func (j *repairOp) unlock() {
	for _, held := range slices.Backward(j.held) {
		_ = held.Unlock()
	}
}

// diagnose reads the log and collects the files that its repair would quarantine. Events of an
// unknown version are SESSION_UNHEALTHY.
func (j *repairOp) diagnose(ctx context.Context) (manifest.Verdict, error) {
	v, err := j.s.read.Read(ctx, ports.ReadRequest{Log: j.r.Log, Locked: !j.r.DryRun}, ports.Skip)
	if err != nil {
		return v, err
	}
	j.v = j.r.Judge(v)
	// Only a newer version knows what its events mean and what is damage in them. For a log whose
	// table has no kinds, no event is known: only its groups are verified.
	unknown := func(f manifest.Finding) bool { return f.Code == manifest.UnknownEvents }
	if len(j.r.Log.Table.Kinds()) == 0 {
		j.v.Findings = slices.DeleteFunc(j.v.Findings, unknown)
	} else if slices.ContainsFunc(j.v.Findings, unknown) {
		return j.v, fault.New(fault.SessionUnhealthy,
			"%s has events that this binary does not know; it is not repaired", j.r.Log.Root).
			Suggest("Use the newer binary, or the other program, that wrote it.").
			With("health", string(manifest.UnknownVersion)).With(j.r.Log.Table.OwnerField, j.r.Log.Owner)
	}
	if !j.v.Damaged() {
		return j.v, nil
	}
	j.noPrefix = j.v.Health == manifest.CorruptHead
	if j.noPrefix {
		err = j.collectDirectory(j.r.Log.Root)
	} else {
		err = j.collectTail()
	}
	return j.v, err
}

// collectTail collects what follows the usable prefix. Caches of every format are included: a later
// head in one of them would report the loss that the repair has resolved.
func (j *repairOp) collectTail() error {
	events := path.Join(j.r.Log.Root, manifest.SegmentDir)
	names, err := j.s.read.SegmentNames(j.r.Log)()
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if first, _, ok := manifest.ParseSegmentName(name); ok && first >= j.v.Head.Next {
			j.add(path.Join(events, name))
		}
	}
	caches, err := j.s.d.List(path.Join(j.r.Log.Root, "cache"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range caches {
		if e.Kind == osfs.Regular && !strings.HasPrefix(e.Name, layout.TempPrefix) {
			j.add(path.Join(j.r.Log.Root, "cache", e.Name))
		}
	}
	j.add(path.Join(j.r.Log.Root, manifest.FileName))
	return nil
}

// collectDirectory collects every file below dir except locks, which contain only their holder. The
// manifest of the log comes last.
func (j *repairOp) collectDirectory(dir string) error {
	entries, err := j.s.d.List(dir)
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
			if err := j.collectDirectory(at); err != nil {
				return err
			}
		case layout.IsLockName(e.Name):
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

// Add collects one file and its size.
func (j *repairOp) add(name string) {
	j.files = append(j.files, name)
	if info, err := j.s.d.Stat(name); err == nil {
		j.sizes[name] = info.Size
	}
}

// base is the directory of the log's owner: paths in the quarantine are relative to it.
func (j *repairOp) base() string {
	if j.r.Log.Table.OwnerField == "storeId" {
		return "."
	}
	return path.Join("sessions", j.r.Log.Owner)
}

// reportContents passes the events that would be quarantined to r.Quarantine, which describes what is
// lost. Files that cannot be read are omitted.
func (j *repairOp) reportContents() error {
	if j.r.Quarantine == nil {
		return nil
	}
	own := path.Join(j.r.Log.Root, manifest.SegmentDir)
	for _, name := range j.files {
		switch {
		case path.Dir(name) == own:
			if b, err := j.s.d.ReadFile(name, layout.SegmentBytesMax); err == nil {
				j.r.Quarantine(path.Base(name), b)
			}
		case name == path.Join(j.r.Log.Root, manifest.FileName):
			if b, err := j.s.d.ReadFile(name, layout.SegmentBytesMax); err == nil {
				j.r.Quarantine(manifest.FileName, b[min(j.v.Head.Bytes, int64(len(b))):])
			}
		}
	}
	return nil
}

// steps lists what execute does, in order.
func (j *repairOp) steps(dir string) []ports.RepairStep {
	a := &Entry{base: j.base(), Dir: dir}
	var out []ports.RepairStep
	for _, name := range j.files {
		out = append(out, ports.RepairStep{What: ports.MoveToQuarantine, From: name, To: a.Target(name),
			Bytes: j.sizes[name]})
	}
	if !j.noPrefix {
		name := path.Join(j.r.Log.Root, manifest.FileName)
		out = append(out, ports.RepairStep{What: ports.KeepPrefix, From: name, To: name, Bytes: j.v.Head.Bytes})
	}
	return out
}
