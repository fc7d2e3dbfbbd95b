package repair

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// RepairControl implements ports.Repairs. check validates the data of a readable file. A usable or
// missing file is left unchanged; with r.DryRun nothing is moved and no lock is taken. store.json
// and unknown names are INTERNAL.
//
// The file is copied to the quarantine with a record before it is removed.
func (s *Repairer) RepairControl(ctx context.Context, r ports.ControlRepair,
	check func(ports.Control) error) (out ports.RepairResult, err error) {
	if !layout.ControlName.MatchString(r.File.Name) || r.File.Name == layout.StoreFile {
		return out, fault.New(fault.Internal, "%q is not a control file that can be repaired", r.File.Name)
	}
	st, err := s.d.State()
	if err == nil && st.Refusal != nil {
		err = st.Refusal
	}
	if err != nil || !st.Exists {
		return out, err
	}
	if !r.DryRun {
		held, err := s.d.Locks.Acquire(ctx, layout.UseLock, lock.Exclusive, s.d.LockWait)
		if err != nil {
			return out, disk.BusyFault(err, fault.StoreLocked, "the store")
		}
		defer held.Unlock()
	}
	why, size, err := s.unusableReason(r.File, check)
	if err != nil || why == "" {
		return out, disk.ReadFault(err)
	}
	f := manifest.NewFinding(manifest.ControlDamaged, r.File.Name, "%s", why)
	out.Verdict.Findings = []manifest.Finding{f}
	if out.QuarantineDir, err = s.d.QuarantineName(st.ID.String(), r.AtMs); err != nil {
		return out, disk.ReadFault(err)
	}
	out.Steps = []ports.RepairStep{{What: ports.MoveToQuarantine, From: r.File.Name,
		To:    path.Join(out.QuarantineDir, r.File.Name),
		Bytes: size}}
	if r.DryRun {
		return out, nil
	}
	return out, disk.WriteFault(s.quarantineFiles(st.ID.String(),
		Record{Actor: r.By, AtMs: r.AtMs, Root: ".", Owner: st.ID.String()}, out))
}

// unusableReason returns why a control file cannot be used, "" for a usable or missing one, and its
// size in bytes. A file that cannot be read now, or has a newer format, is an error: neither shows
// damage.
func (r *Repairer) unusableReason(
	f ports.ControlFile,
	check func(ports.Control) error,
) (why string, size int64, err error) {
	b, err := r.d.ReadFile(f.Name, limits.ControlFileBytesMax)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", 0, nil
	case errors.Is(err, osfs.ErrSymlink), errors.Is(err, osfs.ErrNotRegular):
		return fault.Of(disk.ReadFault(err)).Message, 0, nil
	case err != nil:
		return "", 0, err
	}
	doc, err := controlfile.Decode(b, f.Kind)
	if err != nil {
		return err.Error(), int64(len(b)), nil
	}
	err = check(ports.Control{V: doc.V, Data: doc.Data})
	switch {
	case err == nil:
		return "", 0, nil
	case fault.Is(err, fault.StoreNewer):
		return "", 0, err
	}
	return fault.Of(err).Message, int64(len(b)), nil
}
