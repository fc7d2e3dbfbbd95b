// Package handed reads what people are shown of the outputs of a step beside their content: who
// handed them in, and the difference to what was sent back (docs/design.md#decisions).
package handed

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/difference"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Content returns a stored artifact.
type Content func(ctx context.Context, digest canon.Digest) ([]byte, error)

// History holds the events of one node that a fold does not keep: who made the
// attempts, and the notes that were replaced.
type History struct {
	node     id.Node
	attempts []event.Actor
	notes    map[canon.Digest]string // by the digest of the recap
}

// Read reads the history of a node.
func Read(ctx context.Context, logs ports.Logs, session id.Session, node id.Node) (*History, error) {
	var h *History
	_, err := logs.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(session)},
		ports.Into(&h, func() *History { return &History{node: node, notes: map[canon.Digest]string{}} }))
	return h, err
}

// Visit implements ports.Visitor.
func (h *History) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		if e.Scope.NodeID != h.node {
			continue
		}
		switch p := e.Data.(type) {
		case event.AdvanceRecorded:
			h.attempts = append(h.attempts, e.Actor)
		case event.NodeOutputAppended:
			if p.Payload.PayloadKind == event.Notes {
				h.notes[canon.Sum([]byte(p.Payload.NotesMarkdown))] = p.Payload.NotesMarkdown
			}
		}
	}
	return nil
}

// Performers are the names of those who handed in the outputs of the node, in the order of the
// outputs. They are claimed, not verified.
func (h *History) Performers(n *runs.Node) (names []string) {
	for _, o := range n.Outputs {
		if o.IsDecision() || o.Attempt < 1 || o.Attempt > int64(len(h.attempts)) {
			continue
		}
		actor := h.attempts[o.Attempt-1]
		if name := cmp.Or(actor.Ref, string(actor.Kind)); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// changesLinesMax bounds the lines of the difference that is shown with a question: what
// is shown whole precedes it.
const changesLinesMax = 400

// Changes returns the difference between what was sent back and the outputs of the
// node, as lines, each output under its kind.
func (h *History) Changes(ctx context.Context, read Content, sentBack decision.Record, outputs []advance.Output) (lines []string, err error) {
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
		content := []byte(h.notes[digest])
		if kind.Text() != string(event.Notes) {
			if content, err = contentOf(ctx, read, digest); err != nil {
				return nil, err
			}
		}
		add(before, kind.Text(), content)
	}
	for _, o := range outputs {
		switch {
		case advance.IsDecision(o):
		case o.Payload.PayloadKind == event.Notes:
			add(after, string(event.Notes), []byte(o.Payload.NotesMarkdown))
		default:
			content, err := contentOf(ctx, read, o.Payload.SHA256)
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
func contentOf(ctx context.Context, read Content, digest canon.Digest) ([]byte, error) {
	data, err := read(ctx, digest)
	if fault.Is(err, fault.ArtifactErased) || fault.Is(err, fault.ArtifactNotFound) {
		return nil, nil
	}
	return data, err
}
