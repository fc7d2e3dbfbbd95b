package repair

import (
	"context"
	"errors"
	"io/fs"

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
func (r *Repairer) RepairControl(ctx context.Context, req ports.ControlRepair,
	check func(ports.Control) error) (out ports.RepairResult, err error) {
	if !layout.IsRemovable(req.File.Name) {
		return out, fault.New(fault.Internal, "%q is not a control file that can be repaired", req.File.Name)
	}
	st, err := r.d.StateToWrite()
	if err != nil || !st.Exists {
		return out, err
	}
	if !req.DryRun {
		held, err := r.d.LockUse(ctx, lock.Exclusive)
		if err != nil {
			return out, err
		}
		defer held.Unlock()
	}
	why, size, err := r.unusableReason(req.File, check)
	if err != nil || why == "" {
		return out, disk.ReadFault(err)
	}
	f := manifest.NewFinding(manifest.ControlDamaged, req.File.Name, "%s", why)
	out.Verdict.Findings = []manifest.Finding{f}
	if out.QuarantinePlace, err = r.d.QuarantineName(st.ID.String(), req.AtMs); err != nil {
		return out, disk.ReadFault(err)
	}
	out.Steps = []ports.RepairStep{{What: ports.MoveToQuarantine, From: req.File.Name, Bytes: size}}
	setTargets(out.Steps, ".", out.QuarantinePlace)
	if req.DryRun {
		return out, nil
	}
	_, err = Quarantine(r.d, ".", Record{Actor: req.By, AtMs: req.AtMs, Findings: out.Verdict.Findings, Root: ".",
		Owner: st.ID.String(), Steps: out.Steps})
	if err == nil {
		err = removeFiles(r.d, []string{req.File.Name})
	}
	return out, disk.WriteFault(err)
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
