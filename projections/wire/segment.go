package wire

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// segment is the projection of one segment. Its run events are put into the order of the protocol: what the
// run goes back to, facts of the node that is left, its end or suspension, the next node, the run's end.
type segment struct {
	*Log
	look Lookups
	// foreign is the data of the event that is read, if another program wrote it.
	foreign canon.Value

	head, facts, tail []draft
	attempt           *event.Event          // advance_recorded
	outcome           *event.AdvanceOutcome // of attempt
	response          *event.Response       // of attempt, to a gate of the host
	created           []arrival             // nodes of the segment that the run reached
	closed            *event.Event          // run_closed
	given             canon.Value           // the context of the attempt, an object
	results           resultKinds           // what a performer handed in
	decided           bool                  // a decision of a person is drafted
	artifact          *event.OutputPayload  // the first output of the step in the segment
	beyond            *node                 // the step that a limit of the run does not allow
	denied            *event.StepDecision   // the decision that ends the run
	resumesBlocked    map[id.Node]bool      // nodes of refused attempts, by another program
	begins            bool                  // the segment begins a fork that inherits run events
	skipped           int                   // drafts of tail that are inherited
}

// draft is a run event without place.
type draft struct {
	kind    openwop.EventType
	node    string
	payload canon.Value
	from    event.Event
	cause   string  // "" for that of the segment
	reached id.Node // of the start of a node and the end of the run: the node
}

// arrival is a node that the run reached.
type arrival struct {
	*node
	from  event.Event
	state State
}

// resultKinds are the results of performers in a segment.
type resultKinds struct{ command, host bool }

// read applies one event of the run, and drafts the run events of a fact.
func (s *segment) read(e event.Event) error {
	at := s.nodes[e.Scope.NodeID] // nil for events of the run as a whole
	switch p := e.Data.(type) {
	case event.RunStarted:
		s.start(e, p)
	case event.NodeCreated:
		return s.create(e, p)
	case event.AdvanceRecorded:
		s.begin(e, p)
	case event.EdgeCreated, event.SessionCreated, event.ObservationRecorded, event.SessionHandedOver, event.SessionReclaimed:
		// Nodes say what edges say; the others are about the session.
	case event.ContextSet:
		s.setContext(e, p)
	case event.NodeOutputAppended:
		s.output(e, p, at)
	case event.PreferencesChanged:
		if at != nil {
			at.autonomy = event.Autonomy(strings.Clone(string(p.Effective.Autonomy)))
		}
		s.vendor(e, p, at)
	case event.GapRecorded:
		return s.gap(e, p, at)
	case event.DivergenceRecorded:
		s.diverge(e, p, at)
	case event.RunCancelRequested:
		s.cancelling, s.cancelledBy = true, actorText(e.Actor)
		s.fact(e, openwop.VendorType("cancel_requested"), nil, payload(s.free("reason", p.Reason), word("outcome", p.EndOutcome())))
	case event.RunPaused:
		s.pause(e, p)
	case event.RunResumed:
		s.resume(e, p)
	case event.RunClosed:
		s.closed = &e
	case event.RunEventRecorded:
		s.recorded(e, p, at)
	case event.Unknown:
		if !e.Ignorable {
			s.fact(e, openwop.VendorType("unknown"), at, payload(word("kind", short(p.Kind()))))
		}
	default:
		s.vendor(e, p, at)
	}
	return nil
}

// finish drafts what follows from the segment as a whole.
func (s *segment) finish() error {
	if s.started == nil { // damaged: events of a run that the log never starts
		s.head, s.facts, s.tail = nil, nil, nil
		return nil
	}
	if s.attempt != nil {
		if err := s.decide(); err != nil {
			return err
		}
	}
	if s.begins {
		s.facts = s.changed()
		if s.inherited.pause != "" && len(s.created) > 0 {
			s.facts = slices.Insert(s.facts, 0, draft{kind: s.inherited.pause, payload: payload(), from: s.created[0].from})
		}
	}
	limit := s.limit()
	for _, a := range s.created {
		if limit != nil { // the run ends before the step is taken up
			s.current, s.beyond = a.node, a.node
			continue
		}
		if err := s.arrive(a); err != nil {
			return err
		}
		if s.Ended() {
			return nil
		}
	}
	if s.closed != nil {
		s.close(*s.closed)
	}
	if s.attempt != nil && s.draining != nil && !s.Ended() {
		hold(s, *s.attempt, *s.draining)
	}
	return nil
}

// fact drafts a run event about a node, or about the run. A node that did not start yet is not named: in the
// first segment of a run its facts precede it.
func (s *segment) fact(e event.Event, kind openwop.EventType, at *node, p canon.Value) {
	s.facts = append(s.facts, draft{kind: kind, node: nodeID(at), payload: p, from: e})
}

// after drafts a run event behind the facts.
func (s *segment) after(e event.Event, kind openwop.EventType, at *node, p canon.Value) {
	s.tail = append(s.tail, draft{kind: kind, node: nodeID(at), payload: p, from: e})
}

// nodeID is the id of a node on the wire, "" for none and for one that did not start.
func nodeID(n *node) string {
	if n == nil || n.starts == 0 {
		return ""
	}
	return n.state.id
}

// ofNode is the member nodeId of a payload.
func ofNode(n *node) canon.Member {
	if text := nodeID(n); text != "" {
		return word("nodeId", text)
	}
	return member("nodeId", canon.Value{})
}

// vendor drafts a fact for which the protocol has no type.
func (s *segment) vendor(e event.Event, p event.Payload, at *node) {
	data := s.foreign
	if data.Kind() != canon.Object {
		var err error
		if data, err = canon.ValueOf(p); err != nil { // of a damaged log
			data = canon.OfMembers()
		}
	}
	data = s.withoutRecords(data)
	if m := ofNode(at); !m.Value.IsNull() {
		data = data.With(m.Name, m.Value)
	}
	s.fact(e, openwop.VendorType(p.Kind()), at, data)
}

// start begins the run.
func (s *segment) start(e event.Event, p event.RunStarted) {
	if s.started != nil {
		return
	}
	s.started, s.startedAtMs = &p, s.timeOf(e)
	metadata := canon.OfMembers(word("workflowHash", p.WorkflowHash.String()))
	if p.Options != nil {
		sent := redacted(p.Options.Metadata)
		for i := range sent.Len() {
			metadata = metadata.With(sent.Key(i), sent.Item(i))
		}
	}
	if s.begins, s.firstOwn = s.next > 0, s.next; s.begins {
		s.startedAtMs = s.inherited.startedAtMs
		return
	}
	s.head = append(s.head, draft{kind: openwop.RunStarted, payload: payload(word("workflowId", p.WorkflowID),
		s.free("title", p.Name()), s.free("engineVersion", s.forcedVersion()), member("tags", s.texts(p.Tags)), member("metadata", metadata)), from: e})
}

// texts is a list of texts of a caller, null for none.
func (l *Log) texts(all []string) canon.Value {
	if len(all) == 0 {
		return canon.Value{}
	}
	items := make([]canon.Value, len(all))
	for i, text := range all {
		items[i] = l.free("", text).Value
	}
	return canon.OfList(items...)
}

// create adds a node.
func (s *segment) create(e event.Event, p event.NodeCreated) error {
	if s.nodes[e.Scope.NodeID] != nil {
		return nil // a duplicate, which verification reports
	}
	// What a node keeps must not share the memory of the line or of the snapshot: it is kept as long as the Log.
	self := e.Scope.NodeID
	n := &node{self: self, context: canon.OfMembers(), autonomy: event.DefaultPreferences().Autonomy}
	if p.ParentNodeID != nil {
		n.parent = s.nodes[*p.ParentNodeID]
	}
	if n.parent != nil {
		n.context, n.autonomy = n.parent.context, n.parent.autonomy
	}
	if delta, ok := s.pending[e.Scope.NodeID]; ok {
		n.context = event.MergeContext(n.context, delta)
		delete(s.pending, e.Scope.NodeID)
	}
	if s.root.IsZero() {
		s.root = self
	}
	s.nodes[self] = n
	if n.parent != nil && p.NodeKind != event.StepNode && n.parent.state != nil {
		// A checkpoint, or what another program creates for a refused attempt: both are at the same step.
		n.state, n.step, n.gate, n.typed, n.host = n.parent.state, n.parent.step, n.parent.gate, n.parent.typed, n.parent.host
		if n.kept = p.NodeKind == event.CheckpointNode; n.kept {
			s.fact(e, openwop.VendorType("checkpoint"), n, payload(ofNode(n)))
		} else if s.current == n.parent {
			s.current = n
		}
		return nil
	}
	found, err := s.look.State(p.SnapshotRef)
	if err != nil {
		return err
	}
	key := self.String() // of a step that cannot be read
	if pending := found.View.PendingStep(); pending != nil {
		key, n.step = strings.Clone(pending.Key()), strings.Clone(pending.StepID)
	}
	n.state = s.stateOf(shorten(key, openwop.NodeIDBytesMax), found)
	s.created = append(s.created, arrival{n, e, found})
	return nil
}

// stateOf returns the state of a step instance. The end of a run is none.
func (s *segment) stateOf(key string, of State) *state {
	if of.View.IsComplete() {
		return &state{id: key}
	}
	st := s.states[key]
	if st == nil {
		st = &state{id: key}
		s.states[key] = st
	}
	return st
}

// setContext applies a delta, and drafts a change of a variable for each key.
func (s *segment) setContext(e event.Event, p event.ContextSet) {
	target := s.root
	if p.NodeID != nil {
		target = *p.NodeID
	}
	set, err := canon.Parse(p.Context.JCS())
	if err != nil {
		set = p.Context // cannot be: it is what canon wrote
	}
	if n := s.nodes[target]; n != nil {
		n.context = event.MergeContext(n.context, set)
	} else {
		s.pending[target] = set
	}
	var left *node
	if s.attempt != nil {
		left = s.nodes[s.attempt.Scope.NodeID]
	}
	s.given = redacted(p.Context)
	s.learn(p.Context, s.given)
	for i := range s.given.Len() {
		s.fact(e, openwop.VariableChanged, left, canon.OfMembers(word("name", cmp.Or(s.given.Key(i), "_")),
			member("next", s.given.Item(i).AtLine(0))))
	}
}

// gap drafts a gap, and the limit of a loop where the gap reports it.
func (s *segment) gap(e event.Event, p event.GapRecorded, at *node) error {
	s.vendor(e, p, at)
	if p.Resolution.Kind != event.Unresolved || p.Reason != reason.InvariantBroken || p.Pointer == nil ||
		p.Pointer.Kind != reason.AtWorkflowStep || s.started == nil {
		return nil
	}
	w, err := s.look.Workflow(s.started.WorkflowHash)
	if err != nil || w == nil {
		return err
	}
	// The sentence names the limit where it is the reason; stored sentences are never changed.
	if loop, ok := w.Loop(p.Pointer.StepID); ok && strings.Contains(p.Summary, "maxIterations=") {
		s.fact(e, openwop.LoopbackLimit, at, payload(word("nodeId", loop.LoopID),
			member("iterations", canon.OfInt(loop.MaxIterations)), member("limit", canon.OfInt(loop.MaxIterations))))
	}
	return nil
}

// actorText names the actor of an event.
func actorText(a event.Actor) string { return cmp.Or(a.Ref, string(a.Kind), "unknown") }

// workflow returns the pinned workflow of the run, nil for one that this version cannot run.
func (s *segment) workflow() (*compile.Compiled, error) {
	return s.look.Workflow(s.started.WorkflowHash)
}

// pendingOf returns the pending step of a state, nil for a state that this version cannot continue.
func pendingOf(of State) *snapshot.PendingStep {
	if of.Known == nil {
		return nil
	}
	return of.Known.PendingStep()
}
