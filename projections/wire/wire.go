// Package wire projects the committed segments of a session to the run events of the OpenWOP protocol
// (docs/design.md#openwop-events): Log gives the events of one run, in the order of the protocol, and the
// snapshot after them.
//
// The projection is append-stable: a prefix of the segments gives a prefix of the events. Payloads have no
// clock values, durations or ids of records, so that the same run gives the same payloads, and values of
// the context are redacted. It reads segments and, by Lookups, the snapshots and the workflow that they
// pin; it opens no file and reads no clock. Start reading at Log.Visit.
package wire

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/hoststep"
)

// Lookups read what the events of a log refer to. Both are pinned by the log and never change; an error
// means that the store cannot be read.
type Lookups interface {
	// State returns the snapshot with a digest.
	State(ref canon.Digest) (State, error)
	// Workflow returns a pinned workflow, nil for one in a form that this version cannot run.
	Workflow(hash canon.Digest) (*compile.Compiled, error)
}

// State is a snapshot as far as it can be read.
type State struct {
	// View is the zero View for a snapshot of an unknown form.
	View snapshot.View
	// Known is nil for a snapshot that another program or version wrote.
	Known *snapshot.State
}

// Log is the projection of one run. It grows with the nodes of the run; it keeps no event.
type Log struct {
	run     id.Run
	next    int64 // sequence of the next event
	started *event.RunStarted
	root    id.Node

	nodes  map[id.Node]*node
	states map[string]*state // by the id of a node on the wire
	// current is the node at which the run is, nil before it has one.
	current *node
	// pending are context deltas that precede their node in the segment.
	pending map[id.Node]canon.Value
	// secrets are values of the context that sentences must not repeat.
	secrets []string

	cancelling  bool
	cancelledBy string
	paused      bool
	draining    *event.RunPaused // a pause that is in force behind the next attempt
	status      openwop.Status   // of an ended run, "" before
	failure     *openwop.RunError
	startedAtMs int64
	endedAtMs   int64
	lastAtMs    int64 // of the last event with a time

	inherited inherited
	firstOwn  int64 // the sequence of the first run event that is not inherited
	// places are the nodes that started, and the end of the run, in the order of their run events.
	places []place
	// departed is where a replay differs, until its run event is numbered; sourceMissing reports that it ends for lack of
	// an input.
	departed      *draft
	departedAt    int64
	sourceMissing bool
}

// place is the run event with which a node started, or the run ended.
type place struct {
	sequence int64
	node     id.Node
	complete bool
}

// node is a position in the run: a step that is or was pending there.
type node struct {
	*state
	self     id.Node
	step     string // id of the step, "" if it is not known
	context  canon.Value
	autonomy event.Autonomy
	parent   *node
	// left reports that an accepted attempt left the node.
	left bool
	// kept reports a checkpoint: work that is kept beside the node of its state.
	kept  bool
	gate  *gate // nil: the step needs no approval, as far as it was known on arrival
	typed string
	host  *hoststep.Step // the step is a gate of the host
	tries int64          // attempts at the node itself
}

// state is what clients know about an instance of a step. Several nodes share one, where the run went
// back.
type state struct {
	id        string
	at        id.Node // the last one that started
	status    openwop.NodeStatus
	startedMs int64
	endedMs   int64
	starts    int64
	attempts  int64
	// interrupts counts the requests, open is the one that is not resolved.
	interrupts int64
	open       *interrupt
	resolved   []Resolution
	failure    *openwop.RunError // of the last attempt, if it failed for good
}

// New returns the projection of a run of which no segment was visited.
func New(run id.Run) *Log {
	return &Log{run: run, nodes: map[id.Node]*node{}, states: map[string]*state{}, pending: map[id.Node]canon.Value{},
		inherited: inherited{variables: map[string]canon.Value{}}}
}

// Visit returns the run events of the next segment of the session. Segments are visited in the order of
// the log, each once. After an error the Log must not be used any more. Errors are those of the lookups, and
// INVARIANT_VIOLATION for an event that must not be sent, which is a bug.
func (l *Log) Visit(seg manifest.Segment, look Lookups) ([]openwop.RunEvent, error) {
	if l.Ended() {
		return nil, nil
	}
	var out []openwop.RunEvent
	s := &segment{Log: l, look: look, resumesBlocked: leadsToBlocked(seg)}
	for _, e := range seg.Events {
		if e.TimestampMs != 0 {
			l.lastAtMs = e.TimestampMs
		}
		if e.Scope.RunID != l.run {
			continue
		}
		e, data := known(e)
		// Another program may commit several attempts at once.
		if _, next := e.Data.(event.AdvanceRecorded); next && s.attempt != nil {
			part, err := s.end()
			if out = append(out, part...); err != nil || l.Ended() {
				return out, err
			}
			s = &segment{Log: l, look: look, resumesBlocked: s.resumesBlocked}
		}
		s.foreign = data
		if err := s.read(e); err != nil {
			return nil, err
		}
	}
	part, err := s.end()
	if err != nil {
		return nil, err
	}
	return append(out, part...), nil
}

// end returns the run events of a segment, or of the part of one that an attempt begins.
func (s *segment) end() ([]openwop.RunEvent, error) {
	if err := s.finish(); err != nil {
		return nil, err
	}
	return s.number()
}

// Ended reports that the run has its last event.
func (l *Log) Ended() bool { return l.status != "" }

// Started reports that the run has its first event.
func (l *Log) Started() bool { return l.started != nil }

// Next is the sequence of the next event: the number of events so far.
func (l *Log) Next() int64 { return l.next }

// Nodes is the number of positions that the Log keeps.
func (l *Log) Nodes() int { return len(l.nodes) }

// known returns an event with the part of its data that this version can read, where another program
// wrote it (docs/design.md#foreign-stores), and all of its data then. Ignorable events are not interpreted.
func known(e event.Event) (event.Event, canon.Value) {
	if e.Ignorable {
		return e, canon.Value{}
	}
	g, ok := event.Domain.ViewForeign(e)
	if !ok || g.Known == nil {
		return e, canon.Value{}
	}
	e.Data = g.Known
	return e, g.Data
}

// leadsToBlocked returns the nodes of a segment that another program created for a refused attempt.
func leadsToBlocked(seg manifest.Segment) map[id.Node]bool {
	var out map[id.Node]bool
	for _, e := range seg.Events {
		e, _ := known(e)
		if p, ok := e.Data.(event.NodeCreated); ok && p.NodeKind == event.BlockedAttemptNode {
			if out == nil {
				out = map[id.Node]bool{}
			}
			out[e.Scope.NodeID] = true
		}
	}
	return out
}

// number gives the events of a segment their sequences and ids, and checks them.
func (s *segment) number() ([]openwop.RunEvent, error) {
	out := make([]openwop.RunEvent, 0, len(s.head)+len(s.facts)+len(s.tail)+1)
	of := map[string]int{} // run events of a domain event so far
	cause := ""
	if s.attempt != nil {
		cause = idText(*s.attempt)
	}
	all := s.ordered()
	if left := s.departedAt - s.next; s.departed != nil && left < int64(len(all)) {
		all = slices.Insert(all, int(max(left, 0)), *s.departed)
		s.departed = nil
	}
	for _, d := range all {
		if !d.reached.IsZero() {
			s.places = append(s.places, place{s.next, d.reached, d.kind.Terminal()})
		}
		e := openwop.RunEvent{EventID: idText(d.from), RunID: s.run.String(), NodeID: d.node, Type: d.kind,
			Payload: d.payload, Sequence: s.next, Timestamp: event.TimeText(s.timeOf(d.from))}
		base := e.EventID
		if of[base] > 0 {
			e.EventID = suffixed(base, of[base])
		}
		of[base]++
		if e.CausationID = cmp.Or(d.cause, cause); e.CausationID == e.EventID || d.kind == openwop.ReplayDiverged {
			e.CausationID = ""
		}
		if err := e.Check(); err != nil {
			return nil, fault.Wrap(err, fault.Invariant, "run %s: %s", s.run, err)
		}
		s.next++
		out = append(out, e)
	}
	return out, nil
}

// ordered are the drafts of the segment in the order of the protocol, without those that the run inherits.
func (s *segment) ordered() []draft {
	return slices.Concat(s.head, s.facts, s.tail[min(s.skipped, len(s.tail)):])
}

// timeOf is the time of an event, that of the one before it for an event without a time.
func (l *Log) timeOf(e event.Event) int64 {
	if e.TimestampMs != 0 {
		return e.TimestampMs
	}
	return l.lastAtMs
}
