package redrive_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/redrive"
)

// TestWholeNotesAreTheInput; without them, as in logs of older versions, the recap is, and cut says that more was sent.
func TestWholeNotesAreTheInput(t *testing.T) {
	notes := strings.Repeat("n", 5000)
	recap := event.NodeOutputAppended{OutputChannel: event.Recap, Payload: event.OutputPayload{
		PayloadKind: event.Notes, NotesMarkdown: reason.Truncate(notes, limits.NotesBytesMax)}}
	whole := event.NodeOutputAppended{OutputChannel: event.Artifact, Payload: event.OutputPayload{
		PayloadKind: event.ArtifactRef, ArtifactKind: event.FullNotesKind, ContentType: event.FullNotesType,
		SHA256: canon.Sum([]byte(notes))}}
	agent, engine := event.Actor{Kind: event.Agent}, event.Actor{Kind: event.Engine}
	events := func(by event.Actor) []event.Event {
		return []event.Event{{Actor: agent, Data: event.AdvanceRecorded{}}, {Actor: agent, Data: recap},
			{Actor: by, Data: whole}}
	}
	stored := func(canon.Digest) ([]byte, error) { return []byte(notes), nil }
	a, cut, err := redrive.AttemptOf(events(engine), stored)
	if err != nil || cut || a.Request.Notes != notes || len(a.Request.Artifacts) != 0 || a.Performed {
		t.Errorf("with: %d bytes, cut %v, %v", len(a.Request.Notes), cut, err)
	}
	a, cut, err = redrive.AttemptOf(events(engine)[:2], stored)
	if err != nil || !cut || a.Request.Notes != recap.Payload.NotesMarkdown {
		t.Errorf("without: %d bytes, cut %v, %v", len(a.Request.Notes), cut, err)
	}
	// Of a caller, it is an artifact that was sent.
	if a, cut, err = redrive.AttemptOf(events(agent), stored); err != nil || !cut || len(a.Request.Artifacts) != 1 {
		t.Errorf("of a caller: %+v, cut %v, %v", a.Request.Artifacts, cut, err)
	}
	erased := func(canon.Digest) ([]byte, error) { return nil, fault.New(fault.ArtifactErased, "erased") }
	if _, _, err = redrive.AttemptOf(events(engine), erased); !fault.Is(err, fault.ArtifactErased) {
		t.Error(err)
	}
	point := append([]event.Event{{Actor: engine, Data: event.NodeCreated{}}}, events(engine)[1:]...)
	if _, a, err = redrive.CheckpointOf(point, stored); err != nil || a.Actor != agent || a.Request.Notes != notes {
		t.Errorf("a checkpoint: %+v, %v", a.Actor, err)
	}
}
