package manifest

import (
	"fmt"

	"github.com/waybill/waybill/durable/log/event"
)

// Health is the closed set of states of a log (docs/design.md#health).
type Health string

// The states. Only a healthy log is written to.
const (
	Healthy        Health = "healthy"
	CorruptTail    Health = "corrupt_tail"    // damaged behind at least one good group
	CorruptHead    Health = "corrupt_head"    // damaged from the beginning
	UnknownVersion Health = "unknown_version" // good, with events or members that are not known
)

// Severity states whether a finding fails verification.
type Severity string

// The severities of findings.
const (
	SeverityError Severity = "error"
	SeverityWarn  Severity = "warn"
)

// FindingCode is the closed set of codes of findings. They are part of documents: never renamed.
type FindingCode string

// Findings about logs.
const (
	UncommittedTail FindingCode = "uncommitted_tail" // an append that was never acknowledged
	OrphanSegment   FindingCode = "orphan_segment"   // a segment that no group commits
	UnknownEvents   FindingCode = "unknown_version"  // events or members that are not known
	ManifestDamaged FindingCode = "manifest_damaged" // lines that commit no existing segment
	SegmentMissing  FindingCode = "segment_missing"  // an attested segment does not exist
	SegmentDamaged  FindingCode = "segment_damaged"  // not a segment, or not the attested one
	LostTail        FindingCode = "lost_tail"        // a segment beyond the end: more was committed
)

// Findings about all other files of a store.
const (
	ObjectMissing   FindingCode = "object_missing"
	ObjectDamaged   FindingCode = "object_damaged"
	DuplicateKey    FindingCode = "duplicate_dedupe_key"
	EventIDMismatch FindingCode = "event_id"         // the eventId is not derived from the dedupeKey
	BrokenReference FindingCode = "broken_reference" // an event refers to a missing node, run, gap or output
	LooseMode       FindingCode = "permissions"      // other users can read the file
	UnknownFile     FindingCode = "unknown_file"
	OrphanObject    FindingCode = "orphan_object"   // no log refers to the object
	SuspectMarker   FindingCode = "suspect"         // the mark of a failed sync; the next writer repairs the log
	ControlDamaged  FindingCode = "control_damaged" // a control file is not valid
	ControlMissing  FindingCode = "control_missing" // other files show that the control file existed
	ArtifactErased  FindingCode = "artifact_erased" // a person erased the bytes and recorded why

	// SourceRunMissing: a run on which a proposal is based does not exist any more
	// (docs/design.md#proposals).
	SourceRunMissing FindingCode = "source_run_missing"

	AuditIncomplete FindingCode = "audit_incomplete" // an event whose audit record is not written yet
	AuditUnfounded  FindingCode = "audit_unfounded"  // an audit record whose event its session does not have
	// AuditSessionMissing: audit records about a session that does not exist and was not deleted.
	AuditSessionMissing FindingCode = "audit_session_missing"

	// PolicyUnconfirmed: settings that decide who may do what, or trusted workflows, are not the ones
	// that a person confirmed (docs/design.md#settings).
	PolicyUnconfirmed FindingCode = "policy_unconfirmed"
	// PolicyUnrecorded: no confirmation is recorded, of settings of an earlier version or of a change
	// that was interrupted.
	PolicyUnrecorded FindingCode = "policy_unrecorded"
	// PolicyMismatch: in a store with signers, settings that are not what the signed changes in the audit
	// log state, or signers that are not those that the caller expects (docs/design.md#signed-consent).
	PolicyMismatch FindingCode = "policy_mismatch"

	// SignatureInvalid: a stored signature is not one over the text beside it, or the text is not about
	// what it is stored with.
	SignatureInvalid FindingCode = "signature_invalid"
	// SignatureMissing: a decision that a signer had to sign is not signed, or not by one of them.
	SignatureMissing FindingCode = "signature_missing"
)

// Finding is one result of verification. Findings about a damaged log are written into salvage
// bundles with their messages, so existing messages are not reworded.
type Finding struct {
	Code     FindingCode `json:"code"`
	Severity Severity    `json:"severity"`
	Path     string      `json:"path"`                // the place in the store
	At       int64       `json:"at,omitzero"`         // byte offset in the file
	Event    *int64      `json:"eventIndex,omitzero"` // where the finding is about one event
	Message  string      `json:"message"`
}

// SeverityOf returns the severity of a code. States that a crash, another program or a newer
// version can leave are warnings; what proves that data was lost or changed is an error.
func SeverityOf(code FindingCode) Severity {
	switch code {
	case UncommittedTail, OrphanSegment, UnknownEvents, LooseMode, UnknownFile, OrphanObject, SuspectMarker,
		ArtifactErased, AuditIncomplete, AuditSessionMissing, ControlMissing,
		SourceRunMissing, PolicyUnrecorded:
		return SeverityWarn
	}
	return SeverityError
}

// NewFinding returns a finding with the severity of its code. path is relative to the store.
func NewFinding(code FindingCode, path, format string, args ...any) Finding {
	return Finding{Code: code, Severity: SeverityOf(code), Path: path, Message: fmt.Sprintf(format, args...)}
}

// AtEvent returns the finding with the index of the event that it is about.
func (f Finding) AtEvent(index int64) Finding {
	f.Event = &index
	return f
}

// Verdict is the result of reading a log. Head is the end of the valid prefix; findings describe
// what follows it.
type Verdict struct {
	Head     Head
	Health   Health
	Findings []Finding
	// TailBytes is the number of bytes behind Head that belong to an append that was never
	// acknowledged; the next writer truncates them. It is 0 for a damaged log.
	TailBytes int64
	// Orphans are segment files that no group commits, from Head.Next on.
	Orphans []string
}

// Unborn reports a log to which nothing was ever committed.
func (v Verdict) Unborn() bool { return v.Head.IsZero() && v.Health == Healthy }

// Damaged reports that the log has bytes that cannot result from a crash.
func (v Verdict) Damaged() bool { return v.Health.Partial() }

// Partial reports that a view of the log has its valid beginning only.
func (h Health) Partial() bool { return h == CorruptHead || h == CorruptTail }

// markDamaged adds the finding f and marks the log as damaged behind the head.
func (v *Verdict) markDamaged(f Finding) {
	v.Findings = append(v.Findings, f)
	v.TailBytes = 0 // a damaged log is not truncated
	v.Health = CorruptTail
	if v.Head.IsZero() {
		v.Health = CorruptHead
	}
}

// noteForeign sets health UnknownVersion where a committed event is foreign and must not be
// ignored: this binary must not append to a log that it cannot fold.
func (v *Verdict) noteForeign(log Log, events []event.Event) {
	for i := range events {
		e := &events[i]
		if !e.Foreign() || e.Ignorable || v.Health == UnknownVersion {
			continue
		}
		v.Health = UnknownVersion
		f := NewFinding(UnknownEvents, log.Root, "event %d (%s) has a shape that this version does not know", e.Index,
			e.Data.Kind())
		index := e.Index
		f.Event = &index
		v.Findings = append(v.Findings, f)
	}
}
