// Package submitted reads the artifacts of a session with the nodes at which they were recorded, in memory that depends on
// their number and not on the length of the session.
//
// It reads no artifact. Start reading at Read.
package submitted

import (
	"context"
	"errors"
	"math"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Artifact is one recorded artifact of a run, superseded or not.
type Artifact struct {
	event.Event
	Payload event.OutputPayload
	// Decision is what a person decided, nil for any other artifact.
	Decision *event.StepDecision
	// Inline is the artifact where another program stored it in its event, null otherwise.
	Inline canon.Value
}

// Of returns the artifact that an event records, in the form of any program; ok is false for
// other events, and for those that no fold interprets.
func Of(e event.Event) (out Artifact, ok bool) {
	if e.Ignorable {
		return out, false
	}
	data := e.Data
	var inline canon.Value
	if g, foreign := event.Domain.ViewForeign(e); foreign {
		data = g.Known
		payload, _ := g.Data.Get("payload")
		inline, _ = payload.Get("content")
	}
	p, ok := data.(event.NodeOutputAppended)
	return Artifact{e, p.Payload, p.Decision, inline}, ok && p.OutputChannel == event.Artifact
}

// Found are artifacts of one session with the nodes at which they were recorded.
type Found struct {
	// Fold is a window of the session, and left are the nodes of artifacts that are not in it any more.
	Fold     *runs.Fold
	left     map[id.Node]*runs.Node
	nodesMax int
	Outputs  []Artifact
	More     bool // Outputs was cut
	most     int
	keep     func(Artifact) bool
}

// Node returns the node of an artifact, nil if the log does not create it.
func (s *Found) Node(out Artifact) *runs.Node {
	if n := s.left[out.Scope.NodeID]; n != nil {
		return n
	}
	if r := s.Fold.Runs[out.Scope.RunID]; r != nil {
		return r.Node(out.Scope.NodeID)
	}
	return nil
}

// errMissed reports that a window of the fold does not suffice.
var errMissed = errors.New("an event refers to a node that was left out")

// Visit implements ports.Visitor.
func (s *Found) Visit(seg manifest.Segment, head manifest.Head) error {
	for _, e := range seg.Events {
		out, ok := Of(e)
		switch {
		case !ok || !s.keep(out):
		case len(s.Outputs) == s.most:
			s.More = true
		default:
			s.Outputs = append(s.Outputs, out)
		}
	}
	_ = s.Fold.Visit(seg, head) // always nil
	if s.Fold.Missed() {
		return errMissed
	}
	before := s.Fold.Session
	if s.nodesMax = session.Reduce(s.Fold, s.nodesMax); s.Fold.Session == before {
		return nil
	}
	for _, out := range s.Outputs {
		if r := before.Runs[out.Scope.RunID]; r != nil && s.Node(out) == nil && r.Node(out.Scope.NodeID) != nil {
			s.left[out.Scope.NodeID] = r.Node(out.Scope.NodeID)
		}
	}
	return nil
}

// Read reads the first artifacts of a session that keep selects, at most so many. They are those before damage.
func Read(ctx context.Context, store ports.Logs, s id.Session, most int, keep func(Artifact) bool) (*Found,
	manifest.Verdict, error) {
	var out *Found
	read := func(nodesMax int) (manifest.Verdict, error) {
		return store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(s)}, ports.Into(&out, func() *Found {
			return &Found{Fold: runs.NewFold(), left: map[id.Node]*runs.Node{}, nodesMax: nodesMax, most: most, keep: keep}
		}))
	}
	v, err := read(session.FoldNodesMax)
	if errors.Is(err, errMissed) {
		v, err = read(math.MaxInt)
	}
	return out, v, err
}
