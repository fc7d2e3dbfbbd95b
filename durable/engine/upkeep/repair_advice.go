package upkeep

import (
	"context"
	"path"
	"strings"

	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
)

// Outlook is the closed set of what can be done about a finding.
type Outlook string

// The outlooks.
const (
	// Repairable means that the steps of this report remove it.
	Repairable Outlook = "repairable"
	NotNeeded  Outlook = "not_needed" // no action is required
	// Elsewhere means that another command or program can remove it.
	Elsewhere Outlook = "elsewhere"
	// Impossible means that the store does not contain what was lost.
	Impossible Outlook = "impossible"
)

// RepairFinding is a finding of the verification with advice.
type RepairFinding struct {
	manifest.Finding
	SessionID string  `json:"sessionId,omitzero"`
	Outlook   Outlook `json:"outlook"`
	Advice    string  `json:"advice"`
}

// addFindings adds all findings of a verification.
func (r *repair) addFindings(v verify.Verification) {
	for _, s := range v.Sessions {
		for _, f := range s.Findings {
			r.addFinding(f, s.SessionID.String())
		}
	}
	for _, f := range v.Findings {
		r.addFinding(f, "")
	}
}

// addFinding adds one finding with what can be done about it.
func (r *repair) addFinding(f manifest.Finding, sessionID string) {
	out := RepairFinding{Finding: f, SessionID: sessionID}
	out.Outlook, out.Advice = outlook(f)
	// An error that the planned steps remove has its own advice. After they
	// were executed the verification no longer reports it.
	if !r.call.Apply && f.Severity == manifest.SeverityError && r.covers(f) {
		out.Outlook, out.Advice = Repairable, "The steps above remove it: run 'waybill repair --apply'."
	}
	r.out.Findings = append(r.out.Findings, out)
}

// covers reports that a finding concerns a log or file with steps.
func (r *repair) covers(f manifest.Finding) bool {
	switch f.Code {
	case manifest.ManifestDamaged, manifest.SegmentMissing, manifest.SegmentDamaged, manifest.LostTail,
		manifest.ControlDamaged:
	default:
		return false
	}
	at := f.Path
	if base := path.Base(at); base == manifest.FileName {
		at = path.Dir(at)
	} else if path.Base(path.Dir(at)) == manifest.SegmentDir {
		at = path.Dir(path.Dir(at))
	}
	return r.withSteps[at]
}

// outlook returns what can be done about a finding without steps, and advice in
// one sentence.
func outlook(f manifest.Finding) (Outlook, string) {
	switch f.Code {
	case manifest.UncommittedTail, manifest.OrphanSegment:
		return NotNeeded, "It is not part of the log: the next writer moves it away."
	case manifest.SuspectMarker:
		return NotNeeded, "The next writer makes a fresh copy."
	case manifest.ArtifactErased:
		return NotNeeded, "The bytes were erased on purpose; the tombstone has the reason."
	case manifest.SourceRunMissing:
		return NotNeeded, "The session was deleted or expired. The proposal is unaffected."
	case manifest.AuditIncomplete:
		return NotNeeded, "The next call that writes completes the audit log."
	case manifest.UnknownEvents:
		return Elsewhere, "Use the newer binary, or the other program, that wrote it. It is not damaged, and is left " +
			"alone."
	case manifest.OrphanObject:
		return Elsewhere, "'waybill gc' removes it."
	case manifest.UnknownFile:
		return Elsewhere, "Inspect it, and move it elsewhere if it is not needed here."
	case manifest.LooseMode:
		return Elsewhere, "Make it private: 'chmod go-rwx'."
	case manifest.PolicyUnconfirmed, manifest.PolicyUnrecorded:
		return Elsewhere, "A person reads and confirms it with 'waybill config confirm'."
	case manifest.AuditUnfounded, manifest.AuditSessionMissing:
		return Elsewhere, "See 'waybill audit verify'."
	case manifest.ControlDamaged:
		if f.Path == settings.HTTPKeysFile.Name {
			return Elsewhere, "Make it private: 'chmod 600'."
		}
		if strings.HasPrefix(f.Path, "keys/") {
			return Elsewhere, "Restore it from a backup, or make new keys with 'waybill keys rotate', which reports " +
				"what is lost."
		}
		if path.Base(f.Path) == ports.KeepFile.Name {
			return Elsewhere, "Set the mark again with 'waybill sessions keep', or remove it with --off."
		}
		return Impossible, "Restore it from a backup."
	case manifest.ControlMissing:
		if strings.HasPrefix(f.Path, "keys/") {
			return NotNeeded, "The next answer with a token makes new keys. Restore it from a backup if issued " +
				"tokens must remain valid."
		}
		return Elsewhere, "Restore it from a backup."
	case manifest.ObjectMissing, manifest.ObjectDamaged:
		return Impossible, objectAdvice(f.Path)
	case manifest.DuplicateKey, manifest.BrokenReference:
		return Impossible, "The log is unchanged since it was written; its correct content cannot be determined."
	}
	return Impossible, "It cannot be read. Check the disk, or restore it from a backup."
}

// objectAdvice describes where the bytes of a missing object may come from:
// storing an object with the same digest again replaces it.
func objectAdvice(name string) string {
	const bundle = "Its bytes cannot be recomputed. Any copy with the same digest restores it: import a bundle of " +
		"this session with --as-new, or a bundle of another one that has it"
	switch {
	case strings.HasPrefix(name, manifest.ObjectDir(manifest.Workflow)):
		return bundle + ", or start the same version of the workflow once more."
	case strings.HasPrefix(name, manifest.ObjectDir(manifest.Installed)):
		return "The proposed bytes are used as long as they are valid. Copy them here from artifacts/: they are " +
			"identical."
	case strings.HasPrefix(name, manifest.ObjectDir(manifest.Snapshot)):
		return bundle + ", or copy the file from a backup."
	}
	return bundle + ", or copy the file from a backup; a step that submits the same artifact restores it as well."
}

// trimImportMark reduces the number of imported events in a session's mark to
// the length of its log, after a repair removed the end of the imported part.
// Events that are appended from then on were made here and do not belong to the
// import (docs/design.md#requirements-on-the-caller). It comes after the
// repair: done first, a crash between both would let imported approvals count.
// An interrupted repair is completed by the next one.
func (r *repair) trimImportMark(ctx context.Context, s id.Session) error {
	if !r.call.Apply {
		return nil
	}
	v, err := r.u.store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(s)}, ports.Skip)
	if err != nil || v.Health != manifest.Healthy || len(v.Findings) > 0 || v.Unborn() {
		return nil // not a log that this repair shortened
	}
	c, err := r.u.store.SessionControl(ctx, s, ports.ImportedFile)
	if err != nil || c.V != imported.Version {
		return nil
	}
	if mark, err := imported.Read(c.Data); err != nil || !mark.IsBeyond(imported.Own, v.Head.Next) {
		return nil
	}
	return r.u.store.UpdateSessionControl(ctx, s, ports.ImportedFile,
		func(old ports.Control) (ports.Control, error) {
			mark, err := imported.Read(old.Data)
			old.Data = mark.CutTo(imported.Own, v.Head.Next).Value()
			return old, err
		})
}
