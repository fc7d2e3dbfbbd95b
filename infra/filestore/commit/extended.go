package commit

import (
	"context"
	"io"
	"path"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Extended is a log that an import extends by segments of a bundle (docs/design.md#home). Its lock is held
// by the caller, and it was prepared as an append prepares it. It is used by one goroutine.
//
// The commit replaces the manifest by one with all new groups, so that a crash leaves none of them or all.
type Extended struct {
	op    *appendOp
	leave func()
}

// Extend prepares a log to be extended behind at. Errors are those of Append up to its first barrier.
func (c *Committer) Extend(ctx context.Context, to ports.Extended) (*Extended, error) {
	leave, err := to.Witness.Enter(to.Log)
	if err != nil {
		return nil, err
	}
	held, ok := c.heldLock(to.Log)
	if !ok {
		leave()
		return nil, ports.ErrWitness
	}
	e := &Extended{op: &appendOp{d: c.d, log: to.Log, held: held, at: to.At}, leave: leave}
	// The segment directory is listed also where the last writer left nothing: the segments that are
	// placed must be the only ones behind the head.
	for _, step := range []func(context.Context) error{always(e.op.open), e.op.compare, always(e.op.announce),
		always(e.op.removeLeftovers), always(e.op.removeUnfinished)} {
		if err := step(ctx); err != nil {
			e.op.withdrawNote()
			e.End()
			return nil, disk.WriteFault(err)
		}
	}
	return e, nil
}

// Log returns the log.
func (e *Extended) Log() manifest.Log { return e.op.log }

// At returns the head that is extended.
func (e *Extended) At() manifest.Head { return e.op.at }

// CopyManifest writes the committed bytes of the manifest to w.
func (e *Extended) CopyManifest(w io.Writer) error {
	n, err := disk.Copy(w, io.NewSectionReader(e.op.manifest, 0, e.op.at.Bytes))
	if err == nil && n != e.op.at.Bytes {
		err = e.op.conflict()
	}
	return err
}

// Commit replaces the manifest by the synced file at staged.
func (e *Extended) Commit(staged string) error {
	if err := e.op.d.Replace(staged, layout.ManifestPath(e.op.log)); err != nil {
		return err
	}
	return e.op.d.SyncDir(e.op.log.Root, osfs.Durable)
}

// RollBack replaces the manifest by a synced copy of the groups before the extension. After an error it is
// unknown which of the two manifests a power cut leaves.
func (e *Extended) RollBack() error {
	err := CopyManifest(e.op.d, e.op.log, e.op.at.Bytes)
	if err != nil {
		MarkSuspect(e.op.d, e.op.log)
	}
	return err
}

// Settle leaves the note that the log ends with head and has no other segments.
func (e *Extended) Settle(head canon.Digest) { _ = e.op.held.SetNote(cleanNote(e.op.d, head)) }

// Withdraw clears the note of an extension that changed nothing.
func (e *Extended) Withdraw() { e.op.withdrawNote() }

// End closes the manifest and releases the witness. The lock belongs to the caller.
func (e *Extended) End() {
	if e.leave != nil {
		e.op.end()
		e.leave()
		e.leave = nil
	}
}

// removeUnfinished handles what an import that did not finish extending the log left: its segments go to the
// quarantine, and the import mark is cut to the log. The order matters: without the mark, segments beyond the head would
// prove a loss.
func (a *appendOp) removeUnfinished() error {
	if err := a.quarantineOrphans(); err != nil {
		return err
	}
	return a.cutImportMark()
}

// cutImportMark removes from the session's import mark what it states about events behind the log's head: these
// are made here from now on (docs/design.md#home). A damaged mark is left to the verification.
func (a *appendOp) cutImportMark() error {
	name, ok := layout.ImportMark(a.log)
	if !ok {
		return nil
	}
	_, isBeyond, err := a.importMark(name)
	if !isBeyond || err != nil {
		return err
	}
	held, err := a.d.LockUse(context.Background(), lock.Exclusive) // as every change of a control file
	if err != nil {
		return err
	}
	defer held.Unlock()
	mark, isBeyond, err := a.importMark(name)
	if !isBeyond || err != nil {
		return err
	}
	doc := controlfile.Document{Kind: ports.ImportedFile.Kind, V: imported.Version,
		Data: mark.CutTo(a.log.Table.Name, a.at.Next).Value()}
	return a.d.PutControl(name, doc, a.d.Replace)
}

// importMark reads the import mark, and whether it states more about the log than the log has.
func (a *appendOp) importMark(name string) (mark imported.Mark, isBeyond bool, err error) {
	doc, ok, err := a.d.ReadControl(name, ports.ImportedFile.Kind)
	if fault.Is(err, fault.StoreCorrupt) {
		return mark, false, nil
	}
	if err != nil || !ok || doc.V != imported.Version {
		return mark, false, err
	}
	mark, err = imported.Read(doc.Data)
	return mark, err == nil && mark.IsBeyond(a.log.Table.Name, a.at.Next), nil
}

// isPending reports that an import began to extend the log, and did not finish: segments beyond the head are its own.
func (a *appendOp) isPending() bool {
	next, ok := read.PendingExtension(a.d, a.log)
	return ok && next == a.at.Next
}

// SegmentPath is the path of a segment of the log.
func (e *Extended) SegmentPath(name string) string {
	return path.Join(layout.SegmentsDir(e.op.log), name)
}
