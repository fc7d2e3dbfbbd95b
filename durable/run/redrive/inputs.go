package redrive

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
)

// Artifacts hands out the stored bytes of an artifact.
type Artifacts func(ref canon.Digest) ([]byte, error)

// StartOf is what began a session, and the workflow version that it is pinned to.
func StartOf(session id.Session, events []event.Event) (s advance.Start, hash canon.Digest) {
	s = advance.Start{Session: session, Actor: events[0].Actor, AtMs: events[0].TimestampMs,
		Observations: observations(events)}
	for _, e := range events {
		switch p := e.Data.(type) {
		case event.RunStarted:
			s.Run, s.SourceKind, s.SourceRef, s.Title, hash = e.Scope.RunID, p.WorkflowSourceKind, p.WorkflowSourceRef,
				p.Title, p.WorkflowHash
		case event.ContextSet:
			s.Context = p.Context
		case event.PreferencesChanged:
			if p.Source == event.FromUser {
				s.Preferences = p.Delta
			}
		}
	}
	return s, hash
}

// ForkOf is what began a forked session: all of it stands in its own log. Only the
// state is missing, which is the snapshot that ref names.
func ForkOf(session id.Session, events []event.Event) (from advance.Source, f advance.Fork, ref canon.Digest) {
	f = advance.Fork{Session: session, Actor: events[0].Actor, AtMs: events[0].TimestampMs,
		Observations: observations(events)}
	from.Context = canon.OfMembers()
	for _, e := range events {
		switch p := e.Data.(type) {
		case event.RunStarted:
			f.Run, f.Title = e.Scope.RunID, p.Title
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

func observations(events []event.Event) []event.ObservationRecorded {
	var out []event.ObservationRecorded
	for _, e := range events {
		if o, ok := e.Data.(event.ObservationRecorded); ok {
			out = append(out, o)
		}
	}
	return out
}

// AttemptOf is a recorded attempt as it was sent. cut says that its notes are kept
// short of what was sent: what they were held against cannot be decided again.
func AttemptOf(events []event.Event, stored Artifacts) (a advance.Attempt, cut bool, err error) {
	a.Actor, a.AtMs = events[0].Actor, events[0].TimestampMs
	if p, ok := events[0].Data.(event.AdvanceRecorded); ok {
		a.ID, a.Digest = p.AttemptID, p.RequestDigest
	}
	for _, e := range events {
		if e.Actor.Kind == event.Engine {
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

// CheckpointOf is a recorded checkpoint as it was sent, but for its attempt's id,
// which no event holds: it follows from how many the parent had before.
func CheckpointOf(events []event.Event, stored Artifacts) (parent id.Node, a advance.Attempt, err error) {
	if p, ok := events[0].Data.(event.NodeCreated); ok && p.ParentNodeID != nil {
		parent = *p.ParentNodeID
	}
	a, _, err = AttemptOf(events, stored)
	a.Actor = events[len(events)-1].Actor // of what was kept; the node is the engine's
	return parent, a, err
}

// ApprovalOf is a recorded approval as it was given, but for how many there were
// before.
func ApprovalOf(events []event.Event, stored Artifacts) (a advance.Approval, err error) {
	last := events[len(events)-1]
	a.Actor, a.AtMs = last.Actor, last.TimestampMs
	p, ok := last.Data.(event.NodeOutputAppended)
	if !ok {
		return a, fmt.Errorf("the segment does not end with the approval")
	}
	artifact, err := artifactOf(p.Payload, stored)
	comment, _ := artifact.JSON.Get("comment")
	a.Comment = comment.Text()
	return a, err
}

// CancellationOf is a recorded request for a run's end.
func CancellationOf(events []event.Event) advance.Cancellation {
	c := advance.Cancellation{Actor: events[0].Actor, AtMs: events[0].TimestampMs}
	if p, ok := events[0].Data.(event.RunCancelRequested); ok {
		c.Reason, c.Outcome = p.Reason, p.Ends()
	}
	_, c.Close = first[event.RunClosed](events)
	return c
}

func artifactOf(p event.OutputPayload, stored Artifacts) (advance.Artifact, error) {
	data, err := stored(p.SHA256)
	a := advance.Artifact{ContentType: p.ContentType, Bytes: data}
	if err == nil && p.ContentType == "application/json" {
		a.JSON, err = canon.Parse(data)
	}
	return a, err
}
