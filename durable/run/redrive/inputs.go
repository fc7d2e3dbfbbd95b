package redrive

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/store/config"
)

// Artifacts returns the stored bytes of an artifact; its errors are returned unchanged.
type Artifacts func(ref canon.Digest) ([]byte, error)

// StartOf returns the input that started a session, read from its first segment, and the hash
// of the pinned workflow. The preferences that the user sent are inputs, and those of the store at
// that time.
//
// As in every function of this file, events are those of one segment, and not empty.
func StartOf(session id.Session, events []event.Event) (s advance.Start, hash canon.Digest) {
	s = advance.Start{Session: session, Actor: events[0].Actor, AtMs: events[0].TimestampMs,
		Observations: observations(events)}
	for _, e := range events {
		switch p := e.Data.(type) {
		case event.RunStarted:
			s.Run, s.SourceKind, s.SourceRef, hash = e.Scope.RunID, p.WorkflowSourceKind, p.WorkflowSourceRef, p.WorkflowHash
			s.Title, s.Goal, s.Tags, s.Options, s.Signers = p.Title, p.Goal, p.Tags, p.Options, p.Signers
			s.ForkedFrom = p.ForkedFrom
		case event.ContextSet:
			s.Context = p.Context
		case event.PreferencesChanged:
			if p.Source == event.FromUser {
				s.Preferences = p.Delta
			} else {
				s.Defaults = p.Effective
			}
		}
	}
	return s, hash
}

// ForkOf returns the inputs that created a forked session. All of them are in the session's
// own log except the state, which is the snapshot with the digest ref.
func ForkOf(session id.Session, events []event.Event) (from advance.Source, f advance.Fork, ref canon.Digest) {
	f = advance.Fork{Session: session, Actor: events[0].Actor, AtMs: events[0].TimestampMs,
		Observations: observations(events)}
	from.Context = canon.OfMembers()
	for _, e := range events {
		switch p := e.Data.(type) {
		case event.RunStarted:
			f.Run, f.Title, f.Signers = e.Scope.RunID, p.Title, p.Signers
			if p.Options != nil {
				f.RequestDigest = p.Options.RequestDigest
			}
			// A fork always records the node that it was taken from.
			from.Started, from.From = p, *p.ForkedFrom
		case event.NodeCreated:
			ref = p.SnapshotRef
		case event.ContextSet:
			from.Context = p.Context
		case event.PreferencesChanged:
			from.Preferences = p.Effective
		case event.CapabilityObserved:
			from.Capabilities = append(from.Capabilities, p)
		}
	}
	return from, f, ref
}

// observations collects what the caller observed about its workspace.
func observations(events []event.Event) []event.ObservationRecorded {
	var out []event.ObservationRecorded
	for _, e := range events {
		if o, ok := e.Data.(event.ObservationRecorded); ok {
			out = append(out, o)
		}
	}
	return out
}

// AttemptOf returns a recorded attempt as it was sent. Events by the engine are results, not
// inputs, and are skipped, except for two: what a performer observed, the result of a command or the
// end of a wait, and the whole text of long notes. cut reports notes that were truncated when they were stored
// and whose whole text was not, as in logs of older versions: checks of the full notes cannot
// be repeated.
func AttemptOf(events []event.Event, stored Artifacts) (a advance.Attempt, cut bool, err error) {
	a.Actor, a.AtMs, a.Observations = events[0].Actor, events[0].TimestampMs, observations(events)
	if p, ok := events[0].Data.(event.AdvanceRecorded); ok {
		// The id and the request's digest make the first event of an attempt.
		a.ID, a.Digest, a.Account = p.AttemptID, p.RequestDigest, config.Account(p.Account)
		a.Traceparent, a.Request.Elicited, a.Request.Response = p.Traceparent, p.Elicited, p.Response
	}
	for _, e := range events {
		switch {
		case isWholeNotes(e):
			// It follows the recap in its segment.
			if a.Request.Notes, err = wholeNotes(e, stored); err != nil {
				return a, cut, err
			}
			cut = false
			continue
		case performed(e):
			a.Performed = true
		case e.Actor.Kind == event.Engine:
			continue
		}
		switch p := e.Data.(type) {
		case event.ContextSet:
			a.Request.Context = p.Context
		case event.PreferencesChanged:
			a.Request.Preferences = p.Delta
		case event.NodeOutputAppended:
			if p.Payload.PayloadKind == event.Notes {
				a.Request.Notes = p.Payload.NotesMarkdown
				// The marker is the only trace of the original length.
				cut = strings.HasSuffix(a.Request.Notes, limits.TruncationMarker)
				continue
			}
			artifact, err := artifactOf(p.Payload, stored)
			if err != nil {
				return a, cut, err
			}
			a.Request.Artifacts = append(a.Request.Artifacts, artifact)
		}
	}
	return a, cut, nil
}

// performed reports whether an event of the engine records what a performer observed.
func performed(e event.Event) bool {
	p, ok := e.Data.(event.NodeOutputAppended)
	return ok && e.Actor.Kind == event.Engine && advance.IsObserved(p.Payload.ArtifactKind)
}

// isWholeNotes reports whether an event of the engine records the whole text of notes.
func isWholeNotes(e event.Event) bool {
	p, ok := e.Data.(event.NodeOutputAppended)
	return ok && e.Actor.Kind == event.Engine && p.Payload.IsFullNotes()
}

// wholeNotes returns the text of an event for which isWholeNotes holds.
func wholeNotes(e event.Event, stored Artifacts) (string, error) {
	data, err := stored(e.Data.(event.NodeOutputAppended).Payload.SHA256)
	return string(data), err
}

// CheckpointOf returns a recorded checkpoint as it was sent, except for its attempt id. That
// id is in no event; the caller derives it from the number of earlier checkpoints at the
// parent.
func CheckpointOf(events []event.Event, stored Artifacts) (parent id.Node, a advance.Attempt, err error) {
	if p, ok := events[0].Data.(event.NodeCreated); ok && p.ParentNodeID != nil {
		parent = *p.ParentNodeID
	}
	a, _, err = AttemptOf(events, stored)
	for _, e := range events {
		// The engine records the node, its edge and the whole text of long notes.
		if e.Actor.Kind != event.Engine {
			a.Actor = e.Actor
		}
	}
	return parent, a, err
}

// DecisionOf returns a recorded decision about a step as it was made, except for the number of earlier
// ones at the node, which the caller knows. An error means that the segment holds none or that its
// artifact cannot be read.
func DecisionOf(events []event.Event, stored Artifacts) (d advance.Decision, err error) {
	d.ApprovalOnly = true
	var approval advance.Artifact
	for _, e := range events {
		p, ok := e.Data.(event.NodeOutputAppended)
		if !ok {
			continue
		}
		d.Actor, d.AtMs = e.Actor, e.TimestampMs
		artifact, err := artifactOf(p.Payload, stored)
		if err != nil {
			return d, err
		}
		if p.Payload.ArtifactKind != decision.Kind {
			first := !d.ApprovalOnly
			d.DecisionFirst = &first
			approval = artifact
			continue
		}
		r, err := decision.Decode(artifact.JSON)
		if err != nil { // written by another program
			return d, fault.Wrap(err, fault.ValidationError, "the recorded decision is none: %s", err)
		}
		d.ApprovalOnly, d.Word, d.Reason, d.Given = false, r.Decision, r.Reason, r.Given
		d.Who = advance.Person{Account: r.Account, Roles: r.Roles, PolicyDigest: r.PolicyDigest}
		if r.Principal {
			d.Who.Principal = r.By
		}
	}
	if d.ApprovalOnly {
		comment, _ := approval.JSON.Get("comment")
		d.Word, d.Reason = event.Approved, comment.Text()
	}
	return d, nil
}

// CancellationOf returns a recorded request to cancel or close a run.
func CancellationOf(events []event.Event) advance.Cancellation {
	c := advance.Cancellation{Actor: events[0].Actor, AtMs: events[0].TimestampMs}
	if p, ok := events[0].Data.(event.RunCancelRequested); ok {
		c.Reason, c.Outcome = p.Reason, p.EndOutcome()
	}
	// A cancellation may close the run in the same segment.
	_, c.Close = first[event.RunClosed](events)
	return c
}

// HoldOf returns a recorded request to pause a run, or to resume it.
func HoldOf(events []event.Event) advance.Hold {
	h := advance.Hold{Actor: events[0].Actor, AtMs: events[0].TimestampMs}
	switch p := events[0].Data.(type) {
	case event.RunPaused:
		h.Reason, h.Drain = p.Reason, p.Drain
	case event.RunResumed:
		h.Reason = p.Reason
	}
	return h
}

// TurnOf returns the end of a turn and the verdict about it. The verdict is an input: how often a node is refused
// is a limit of the version that decided.
func TurnOf(events []event.Event) (t advance.Turn, verdict event.GuardVerdict) {
	if p, ok := events[0].Data.(event.GuardNoted); ok {
		t, verdict = advance.Turn{Client: p.Client, Chat: p.Chat}, p.Verdict
	}
	t.AtMs = events[0].TimestampMs
	return t, verdict
}

// RunEventOf returns a recorded run event, its actor and its time.
func RunEventOf(events []event.Event) (p event.RunEventRecorded, by event.Actor, atMs int64) {
	p, _ = events[0].Data.(event.RunEventRecorded)
	return p, events[0].Actor, events[0].TimestampMs
}

// DepartureOf returns a recorded departure of a replay from its source. It is an input: the source is another log.
func DepartureOf(events []event.Event) (d advance.Departure) {
	if p, ok := events[0].Data.(event.DivergenceRecorded); ok && p.Replay != nil {
		d = advance.Departure{Reason: p.Reason, Point: *p.Replay}
	}
	d.AtMs = events[0].TimestampMs
	return d
}

// artifactOf returns a stored artifact as it was sent, parsed if it is JSON.
func artifactOf(p event.OutputPayload, stored Artifacts) (advance.Artifact, error) {
	data, err := stored(p.SHA256)
	a := advance.Artifact{ContentType: p.ContentType, Bytes: data}
	// Plan functions expect the parsed form of JSON artifacts.
	if err == nil && p.ContentType == "application/json" {
		a.JSON, err = canon.Parse(data)
	}
	return a, err
}
