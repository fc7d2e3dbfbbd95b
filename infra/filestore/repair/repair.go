package repair

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// repairOp is one repair of a log in progress.
type repairOp struct {
	d    *disk.Disk
	read *read.Reader
	r    ports.LogRepair
	v    manifest.Verdict
	held lock.Set // the log's own lock first

	noPrefix bool               // no usable prefix: the whole directory of the log is quarantined
	steps    []ports.RepairStep // in order; the manifest is quarantined last
	dirs     []string           // directories to remove with the files, parents first
}

// RepairLog implements ports.Repairs. A healthy log and a store that does not exist are left
// unchanged. With r.DryRun no lock is taken and nothing changes; the returned steps describe what a
// repair would do.
//
// With a usable prefix the manifest is replaced by the prefix, and these are quarantined: the old
// manifest, the segments behind the prefix and the caches of the log. Without one (health
// corrupt_head) the whole directory of the log is quarantined, side logs included.
func (r *Repairer) RepairLog(ctx context.Context, req ports.LogRepair) (out ports.RepairResult, err error) {
	st, err := r.d.StateToWrite()
	if err != nil || !st.Exists {
		return out, err
	}
	j := &repairOp{d: r.d, read: r.read, r: req}
	defer j.held.Unlock()
	if !req.DryRun {
		if err := j.lock(ctx); err != nil {
			return out, err
		}
	}
	if out.Verdict, err = j.diagnose(ctx); err != nil || !j.v.Damaged() {
		return out, disk.ReadFault(err)
	}
	if out.QuarantinePlace, err = r.d.QuarantineName(req.Log.Owner, req.AtMs); err != nil {
		return out, disk.ReadFault(err)
	}
	j.reportContents()
	setTargets(j.steps, j.base(), out.QuarantinePlace)
	out.Steps = j.steps
	if !j.noPrefix {
		name := layout.ManifestPath(req.Log)
		out.Steps = append(out.Steps, ports.RepairStep{What: ports.KeepPrefix, From: name, To: name,
			Bytes: j.v.Head.Bytes})
	}
	if req.DryRun {
		return out, nil
	}
	return out, disk.WriteFault(j.execute(out))
}

// lock excludes writers and cleanups. It does not use Committer.Lock, which may remove an uncommitted
// log for the next writer: nothing may change before it is copied.
//
// A busy log is SESSION_LOCKED, a cleanup or commit in progress STORE_LOCKED.
func (j *repairOp) lock(ctx context.Context) error {
	err := j.held.Add(j.d.LockLog(ctx, j.r.Log, lock.Exclusive))
	if err != nil {
		return disk.UnlessMissing(err) // missing: there is no directory, so nothing to repair
	}
	// Side logs are quarantined with the directory of the log: without their locks, their writers
	// would commit to files that were moved.
	entries, err := j.d.List(j.r.Log.Root)
	if err != nil {
		return disk.ReadFault(err)
	}
	for _, e := range entries {
		dir := path.Join(j.r.Log.Root, e.Name)
		if _, isLog, err := j.d.Lookup(path.Join(dir, manifest.FileName)); e.Kind != osfs.Directory || err != nil ||
			!isLog {
			continue
		}
		if err := j.held.Add(j.d.Acquire(ctx, dir+"/.lock", lock.Exclusive, j.d.LockWait)); err != nil {
			return disk.BusyLogFault(err, j.r.Log)
		}
	}
	return j.held.Add(j.d.LockUse(ctx, lock.Exclusive))
}

// diagnose reads the log and collects the files that its repair would quarantine. Events of an
// unknown version are SESSION_UNHEALTHY.
func (j *repairOp) diagnose(ctx context.Context) (manifest.Verdict, error) {
	v, err := j.read.Read(ctx, ports.ReadRequest{Log: j.r.Log, Locked: !j.r.DryRun}, ports.Skip)
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
	events := layout.SegmentsDir(j.r.Log)
	names, err := read.SegmentNames(j.d, j.r.Log)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if first, _, ok := manifest.ParseSegmentName(name); ok && first >= j.v.Head.Next {
			j.add(path.Join(events, name))
		}
	}
	caches, err := j.d.Entries(path.Join(j.r.Log.Root, "cache"))
	if err != nil {
		return err
	}
	for _, e := range caches {
		if e.Kind == osfs.Regular && !layout.IsTemp(e.Name) {
			j.add(path.Join(j.r.Log.Root, "cache", e.Name))
		}
	}
	j.add(layout.ManifestPath(j.r.Log))
	return nil
}

// collectDirectory collects every file below dir except locks, which contain only their holder. The
// manifest of the log comes last.
func (j *repairOp) collectDirectory(dir string) error {
	entries, err := j.d.List(dir)
	if err != nil {
		return err
	}
	sorting.By(entries, func(a, b osfs.Entry) int { return strings.Compare(a.Name, b.Name) })
	own := false
	for _, e := range entries {
		at := path.Join(dir, e.Name)
		switch {
		case e.Kind == osfs.Directory:
			j.dirs = append(j.dirs, at)
			if err := j.collectDirectory(at); err != nil {
				return err
			}
		case slices.Contains(layout.LockNames, e.Name):
		case at == layout.ManifestPath(j.r.Log):
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

// add collects one file and its size.
func (j *repairOp) add(name string) {
	step := ports.RepairStep{What: ports.MoveToQuarantine, From: name}
	if info, err := j.d.Stat(name); err == nil {
		step.Bytes = info.Size
	}
	j.steps = append(j.steps, step)
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
func (j *repairOp) reportContents() {
	if j.r.Quarantine == nil {
		return
	}
	own, log := layout.SegmentsDir(j.r.Log), layout.ManifestPath(j.r.Log)
	for _, name := range moved(j.steps) {
		if path.Dir(name) != own && name != log {
			continue
		}
		from := int64(0)
		if name == log {
			from = j.v.Head.Bytes
		}
		if b, err := j.d.ReadData(name, from, layout.SegmentBytesMax); err == nil {
			j.r.Quarantine(path.Base(name), b)
		}
	}
}
