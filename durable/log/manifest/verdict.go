package manifest

import (
	"fmt"

	"github.com/waybill/waybill/durable/log/event"
)

// Health is the closed set of what a log can be (locks section 10).
type Health string

// The health classes.
const (
	Healthy        Health = "healthy"
	CorruptTail    Health = "corrupt_tail"
	CorruptHead    Health = "corrupt_head"
	UnknownVersion Health = "unknown_version"
)

// Severity says whether a finding fails verification.
type Severity string

// The severities of findings.
const (
	SeverityError Severity = "error"
	SeverityWarn  Severity = "warn"
)

// FindingCode is the closed set of what verification reports.
type FindingCode string

// Findings about logs.
const (
	UncommittedTail FindingCode = "uncommitted_tail" // an append that never was acknowledged (R9)
	OrphanSegment   FindingCode = "orphan_segment"   // a segment that no group commits
	UnknownEvents   FindingCode = "unknown_version"  // facts that this binary does not know (R14)
	ManifestDamaged FindingCode = "manifest_damaged" // lines that commit no segment that is there
	SegmentMissing  FindingCode = "segment_missing"
	SegmentDamaged  FindingCode = "segment_damaged" // no segment, or not the one that is attested
	LostTail        FindingCode = "lost_tail"       // a segment beyond the end proves more was committed
)

// Findings about everything else in a store.
const (
	ObjectMissing   FindingCode = "object_missing"
	ObjectDamaged   FindingCode = "object_damaged"
	DuplicateKey    FindingCode = "duplicate_dedupe_key"
	EventIDMismatch FindingCode = "event_id"         // the eventId does not follow from the dedupeKey (R3)
	BrokenReference FindingCode = "broken_reference" // an event names a node, run, gap or output that is not there
	LooseMode       FindingCode = "permissions"      // readable by others
	UnknownFile     FindingCode = "unknown_file"
	OrphanObject    FindingCode = "orphan_object"
	SuspectMarker   FindingCode = "suspect" // a failed sync left its mark; the next writer heals it
	ControlDamaged  FindingCode = "control_damaged"
	ControlMissing  FindingCode = "control_missing" // what else is there shows that it was there
	ArtifactErased  FindingCode = "artifact_erased" // somebody removed the bytes and said why

	SourceRunMissing FindingCode = "source_run_missing" // a run that a proposal was learned from is gone (R29)

	AuditIncomplete FindingCode = "audit_incomplete" // a fact whose audit line is not written yet (R10)
	AuditUnfounded  FindingCode = "audit_unfounded"  // an audit line whose fact its session does not hold
	// audit lines of a session that is gone, and nobody deleted it
	AuditSessionMissing FindingCode = "audit_session_missing"
)

// Finding is one thing that verification saw.
type Finding struct {
	Code     FindingCode `json:"code"`
	Severity Severity    `json:"severity"`
	Path     string      `json:"path"`                // relative to the store
	At       int64       `json:"at,omitzero"`         // byte offset, where there is one
	Event    *int64      `json:"eventIndex,omitzero"` // where one event is meant
	Message  string      `json:"message"`
}

// SeverityOf is fixed for each code: what a crash, another program or a newer
// version can leave is a warning, what proves loss or change is an error.
func SeverityOf(code FindingCode) Severity {
	switch code {
	case UncommittedTail, OrphanSegment, UnknownEvents, LooseMode, UnknownFile, OrphanObject, SuspectMarker,
		ArtifactErased, AuditIncomplete, AuditSessionMissing, ControlMissing,
		SourceRunMissing:
		return SeverityWarn
	}
	return SeverityError
}

// NewFinding is a finding with its code's severity.
func NewFinding(code FindingCode, path, format string, args ...any) Finding {
	return Finding{Code: code, Severity: SeverityOf(code), Path: path, Message: fmt.Sprintf(format, args...)}
}

// Verdict is what reading a log came to. Head is the last good group, whatever
// stands behind it.
type Verdict struct {
	Head     Head
	Health   Health
	Findings []Finding
	// TailBytes counts the bytes behind Head that the next writer cuts; they are
	// an append that never was acknowledged. Damage is never counted here.
	TailBytes int64
	// Orphans are segment files that no group commits, from Head.Next on.
	Orphans []string
}

// Unborn reports a log that nothing was ever committed to.
func (v Verdict) Unborn() bool { return v.Head.IsZero() && v.Health == Healthy }

// Damaged reports that the log holds bytes which no crash leaves.
func (v Verdict) Damaged() bool { return v.Health == CorruptHead || v.Health == CorruptTail }

func (v *Verdict) damage(f Finding) {
	v.Findings = append(v.Findings, f)
	v.TailBytes = 0 // nobody cuts what is not healthy
	v.Health = CorruptTail
	if v.Head.IsZero() {
		v.Health = CorruptHead
	}
}

// note looks at committed events for what this binary must not build on.
func (v *Verdict) note(log Log, events []event.Event) {
	for _, e := range events {
		if !e.Foreign() || e.Ignorable || v.Health == UnknownVersion {
			continue
		}
		v.Health = UnknownVersion
		f := NewFinding(UnknownEvents, log.Root, "event %d (%s) has a shape that this version does not know", e.Index,
			e.Data.Kind())
		f.Event = &e.Index
		v.Findings = append(v.Findings, f)
	}
}
