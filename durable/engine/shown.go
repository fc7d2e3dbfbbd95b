package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/difference"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/ports"
)

// nodeLog holds the events of one node that a fold does not keep: who made the
// attempts, and the notes that were replaced.
type nodeLog struct {
	node     id.Node
	attempts []event.Actor
	notes    map[canon.Digest]string // by the digest of the recap
}

// Visit implements ports.Visitor.
func (l *nodeLog) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		if e.Scope.NodeID != l.node {
			continue
		}
		switch p := e.Data.(type) {
		case event.AdvanceRecorded:
			l.attempts = append(l.attempts, e.Actor)
		case event.NodeOutputAppended:
			if p.Payload.PayloadKind == event.Notes {
				l.notes[canon.Sum([]byte(p.Payload.NotesMarkdown))] = p.Payload.NotesMarkdown
			}
		}
	}
	return nil
}

// addHistory adds who handed in what is shown, and the difference to what was sent
// back last.
func (e *Engine) addHistory(ctx context.Context, p session.Resolved, facts advance.Facts, shown *Approvable) error {
	var l *nodeLog
	_, err := e.store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(p.At.Session)},
		ports.Into(&l, func() *nodeLog { return &nodeLog{node: p.Node.ID, notes: map[canon.Digest]string{}} }))
	if err != nil {
		return err
	}
	for _, o := range p.Node.Outputs {
		if o.IsDecision() || o.Attempt < 1 || o.Attempt > int64(len(l.attempts)) {
			continue
		}
		if name := actorName(l.attempts[o.Attempt-1]); !slices.Contains(shown.Performers, name) {
			shown.Performers = append(shown.Performers, name)
		}
	}
	if len(shown.Decisions) == 0 || shown.Decisions[0].SentBack == nil {
		return nil
	}
	shown.Changes, err = e.changes(ctx, l, *shown.Decisions[0].SentBack, facts)
	return err
}

// changesLinesMax bounds the lines of the difference that is shown with a question: what
// is shown whole is above it.
const changesLinesMax = 400

// changes returns the difference between what was sent back and the outputs of a
// node, as lines, each output under its kind.
func (e *Engine) changes(ctx context.Context, l *nodeLog, sentBack decision.Record, facts advance.Facts) (lines []string, err error) {
	before, after := map[string][]byte{}, map[string][]byte{}
	var kinds []string
	add := func(to map[string][]byte, kind string, content []byte) {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		to[kind] = append(to[kind], content...)
	}
	for i := range sentBack.Outputs.Len() {
		kind, _ := sentBack.Outputs.Item(i).Get("kind")
		text, _ := sentBack.Outputs.Item(i).Get("sha256")
		digest, err := canon.ParseDigest(text.Text())
		if err != nil {
			continue // the log of another program may have any text
		}
		content := []byte(l.notes[digest])
		if kind.Text() != string(event.Notes) {
			if content, err = e.contentOf(ctx, digest); err != nil {
				return nil, err
			}
		}
		add(before, kind.Text(), content)
	}
	for _, o := range facts.Outputs {
		switch {
		case decision.IsRecord(o.Payload.ArtifactKind):
		case o.Payload.PayloadKind == event.Notes:
			add(after, string(event.Notes), []byte(o.Payload.NotesMarkdown))
		default:
			content, err := e.contentOf(ctx, o.Payload.SHA256)
			if err != nil {
				return nil, err
			}
			add(after, advance.KindOf(o.Payload), content)
		}
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		if found := difference.Lines(before[kind], after[kind]); found != nil {
			lines = append(append(lines, kind+":"), found...)
		}
	}
	if len(lines) > changesLinesMax {
		lines = append(lines[:changesLinesMax], "…")
	}
	return lines, nil
}

// contentOf reads an artifact for a difference; one that was erased has no content.
func (e *Engine) contentOf(ctx context.Context, digest canon.Digest) ([]byte, error) {
	data, err := e.Object(ctx, manifest.Artifact, digest)
	if fault.Is(err, fault.ArtifactErased) || fault.Is(err, fault.ArtifactNotFound) {
		return nil, nil
	}
	return data, err
}
