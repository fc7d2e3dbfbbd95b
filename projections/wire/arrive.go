package wire

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/interpreter"
	rules "github.com/waybill/waybill/durable/run/interrupt"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Types of nodes: what carries out a step.
const (
	TypeStep    = "waybill.step"    // a person or an agent
	TypeCommand = "waybill.command" // a performer that runs a command
	TypeWait    = "waybill.wait"    // a performer, when the time has come
)

// gate is the approval that a step needs.
type gate struct {
	approvers []string
	needed    int
}

// wanted is what a suspended node requests.
type wanted struct {
	kind      openwop.InterruptKind
	questions []question
	title     string         // of the step, filled
	gate      *hoststep.Step // of the host, nil for any other request
}

// question is what a clarification asks: a value of the context.
type question struct {
	key, text string
	choices   []string
}

// asked are the keys of the questions.
func (w wanted) asked() (keys []string) {
	for _, q := range w.questions {
		keys = append(keys, q.key)
	}
	return keys
}

// rules are the questions for the rules about answers.
func (w wanted) rules() (all []rules.Question) {
	for _, q := range w.questions {
		all = append(all, rules.Question{Key: q.key, Choices: q.choices})
	}
	return all
}

// arrive drafts the start of a node, and its suspension if nothing but a person or an agent can complete
// it; or the end of the run.
func (s *segment) arrive(a arrival) error {
	if a.state.View.IsComplete() {
		s.current = a.node
		s.tail = append(s.tail, draft{kind: openwop.RunCompleted, payload: canon.OfMembers(), from: a.from, reached: a.self})
		s.status, s.endedAtMs = openwop.Completed, s.timeOf(a.from)
		return nil
	}
	if s.current != nil && s.current.running() { // of a segment without an attempt, by another program
		s.tail = append(s.tail, s.cancel(a.from, "the run continues at another node"))
	}
	w, err := s.workflow()
	if err != nil {
		return err
	}
	a.node.typed, a.node.host = typeIn(w, a.node.step), hostIn(w, a.node.step)
	if w != nil && a.state.Known != nil {
		a.gate = gateOf(*w, a)
	}
	enter := func() {
		s.tail = append(s.tail, s.enter(a.from, a.node))
		if want, suspended := wantedOnArrival(w, a); suspended {
			s.request(a.from, a.node, want)
		}
	}
	if !s.begins || !s.resumed(a, enter) {
		enter()
	}
	return nil
}

// typeIn is the type of a step of a workflow.
func typeIn(w *compile.Compiled, stepID string) string {
	if w == nil {
		return TypeStep
	}
	switch step, _ := w.Step(stepID); {
	case step.Action != nil:
		return TypeCommand
	case step.Wait != nil:
		return TypeWait
	case step.Host != nil:
		return step.Host.TypeID
	}
	return TypeStep
}

// hostIn is the gate of the host that a step is, nil for any other step.
func hostIn(w *compile.Compiled, stepID string) *hoststep.Step {
	if w == nil {
		return nil
	}
	if step, _ := w.Step(stepID); step.Host != nil && step.Host.Gate() {
		return step.Host
	}
	return nil
}

// ofGate is what a gate of the host requests.
func (w wanted) ofGate(gate hoststep.Step) wanted {
	w.gate, w.questions = &gate, nil
	switch gate.TypeID {
	case hoststep.ApprovalGate:
		w.kind = openwop.ApprovalInterrupt
	case hoststep.ClarificationGate:
		w.kind = openwop.ClarificationInterrupt
		for _, q := range gate.Questions() {
			w.questions = append(w.questions, question{q.ID, q.Question, q.Choices})
		}
	default:
		w.kind = openwop.ExternalEventInterrupt
	}
	return w
}

// automatic reports a type of node that a performer completes without a person or an agent.
func automatic(nodeType string) bool { return nodeType != TypeStep }

// gateOf returns the approval that a step needs on arrival, nil for none.
func gateOf(w compile.Compiled, a arrival) *gate {
	if !interpreter.NeedsApproval(w, *a.state.Known, a.context) {
		return nil
	}
	g := &gate{needed: 1}
	for _, rule := range interpreter.ApprovalRules(w, *a.state.Known, a.context) {
		g.needed = max(g.needed, rule.Needed())
		g.approvers = append(g.approvers, rule.Approvers...)
	}
	return g
}

// wantedOnArrival returns what a node requests as soon as it is reached: the inputs that are missing, the
// approval or confirmation of a person, or the work itself. A step that a performer completes requests
// nothing, but what it cannot begin without.
func wantedOnArrival(w *compile.Compiled, a arrival) (want wanted, suspended bool) {
	pending := pendingOf(a.state)
	if w == nil || pending == nil {
		return wanted{kind: openwop.CustomInterrupt}, true
	}
	step, _ := w.Step(pending.StepID)
	vars := interpreter.Variables(*w, *a.state.Known, a.context)
	want.title = prompt.Title(step.Title, redacted(vars)).Text
	guided := a.autonomy == event.Guided && interpreter.NeedsConfirmation(*w, *a.state.Known, a.context)
	if want.questions = missingInputs(*w, step, vars); len(want.questions) == 0 {
		want.questions = missingInstant(*w, a)
	}
	switch {
	case len(want.questions) > 0:
		want.kind = openwop.ClarificationInterrupt
	case guided, a.gate != nil && !automatic(a.typed):
		want.kind = openwop.ApprovalInterrupt
	case a.node.host != nil:
		want = want.ofGate(*a.node.host)
	case automatic(a.typed):
		return want, false
	default:
		want.kind = openwop.CustomInterrupt
	}
	return want, true
}

// missingInputs are the declared inputs without a value, at most limits.InputsShownMax.
func missingInputs(w compile.Compiled, step compile.Step, vars canon.Value) (out []question) {
	for _, in := range w.InputsOf(step) {
		if v, _ := vars.Get(in.ContextKey); v.IsNull() && len(out) < limits.InputsShownMax {
			out = append(out, questionOf(in))
		}
	}
	return out
}

// questionOf asks for an input. Choices from an earlier result are not listed.
func questionOf(in source.Input) question {
	return question{in.ContextKey, cmp.Or(in.Description, in.ContextKey), in.Choices}
}

// missingInstant asks for the instant of a wait that the context does not have.
func missingInstant(w compile.Compiled, a arrival) []question {
	waiting, ok := advance.WaitAt(w, *a.state.Known, 0, a.context)
	if !ok || waiting.Unfilled == nil || !reason.ValidContextKey(waiting.Unfilled.Key) {
		return nil
	}
	return []question{{key: waiting.Unfilled.Key, text: waiting.Unfilled.Error()}}
}

// wantedBy returns what a refused attempt lacks.
func wantedBy(s *segment, n *node) (wanted, error) {
	want := wanted{kind: openwop.CustomInterrupt}
	w, err := s.workflow()
	if err != nil {
		return want, err
	}
	var step compile.Step
	var inputs []source.Input
	if w != nil {
		step, _ = w.Step(n.step)
		want.title, inputs = prompt.Title(step.Title, redacted(n.context)).Text, w.InputsOf(step)
	}
	for _, b := range s.blockers() {
		if b.Code != reason.BlockerUserOnly {
			continue
		}
		if b.Pointer.Kind != reason.AtContextKey {
			if len(want.questions) == 0 {
				want.kind = openwop.ApprovalInterrupt
			}
			continue
		}
		q := question{key: b.Pointer.Key, text: b.Message}
		if i := slices.IndexFunc(inputs, func(in source.Input) bool { return in.ContextKey == q.key }); i >= 0 {
			q = questionOf(inputs[i])
		}
		want.kind, want.questions = openwop.ClarificationInterrupt, append(want.questions, q)
	}
	if n.host != nil && len(want.questions) == 0 {
		want = want.ofGate(*n.host)
	}
	return want, nil
}

// request drafts what a node requests, and its suspension.
func (s *segment) request(e event.Event, n *node, want wanted) {
	n.interrupts++
	n.open = &interrupt{kind: want.kind, id: interruptID(n), asked: want.asked(), questions: want.rules(), gate: want.gate, human: n.gate != nil,
		at: n.self, atMs: s.timeOf(e)}
	title := cmp.Or(s.free("", want.title).Value.Text(), n.id)
	switch want.kind {
	case openwop.ApprovalInterrupt:
		n.open.data = approvalOf(s, n, title)
		s.after(e, openwop.ApprovalRequested, n, n.open.data)
	case openwop.ClarificationInterrupt:
		n.open.data = payload(word("nodeId", n.id), word("interruptId", n.open.id), member("questions", questionsOf(s, want.questions)))
		s.after(e, openwop.ClarificationRequested, n, n.open.data)
	case openwop.ExternalEventInterrupt:
		event := want.gate.EventOf()
		n.open.data = payload(s.free("eventType", event.Type), member("correlation", redacted(event.Correlation)))
		s.after(e, openwop.InterruptRequested, n, requestOf(s, n))
	default:
		n.open.data = payload(word("customKind", n.typeID()), member("payload", payload(word("nodeId", n.id), word("title", title))))
		s.after(e, openwop.InterruptRequested, n, requestOf(s, n))
	}
	s.after(e, openwop.NodeSuspended, n, payload(word("nodeId", n.id), word("interruptId", n.open.id),
		word("kind", want.kind), word("key", n.open.id)))
	n.status, n.endedMs = openwop.NodeIsSuspended, 0
}

// requestOf is the payload of interrupt.requested.
func requestOf(s *segment, n *node) canon.Value {
	var timeout canon.Value
	if n.open.gate != nil && n.open.gate.TimeoutMs() > 0 {
		timeout = canon.OfInt(n.open.gate.TimeoutMs())
	}
	return payload(word("kind", n.open.kind), word("key", n.open.id), member("resumeSchema", n.rules(n.open).Schema()),
		member("timeoutMs", timeout), member("data", n.open.data))
}

// rules are those for answers to an interrupt of the node.
func (n *node) rules(open *interrupt) rules.Request {
	return rules.Request{Kind: open.kind, Gate: open.gate, Human: open.human, Automatic: automatic(n.typeID()), Questions: open.questions}
}

// typeID is the type of a node for clients.
func (n *node) typeID() string { return cmp.Or(n.typed, TypeStep) }

// approvalOf is the request of an approval: of what the segment handed in, else of the step itself.
func approvalOf(s *segment, n *node, title string) canon.Value {
	artifact, kind := n.id, TypeStep
	if s.artifact != nil && s.attempt != nil {
		artifact, kind = artifactID(*s.artifact), artifactType(*s.artifact)
	}
	if n.open.gate != nil {
		return gateData(s, n, title)
	}
	actions := []string{"accept", "reject"}
	members := []canon.Member{word("nodeId", n.id), word("interruptId", n.open.id), word("artifactId", artifact),
		word("artifactType", kind), word("title", title)}
	if n.gate != nil {
		actions = append(actions, "refine")
		members = append(members, member("requiredApprovals", canon.OfInt(int64(n.gate.needed))),
			member("approversList", s.texts(n.gate.approvers)))
	}
	return payload(append(members, member("actions", s.texts(actions)))...)
}

// gateData is the request of a gate of the host. The legacy event of the protocol has no edit-accept.
func gateData(s *segment, n *node, title string) canon.Value {
	a := n.open.gate.ApprovalOf()
	actions := slices.DeleteFunc(slices.Clone(a.Actions), func(word string) bool { return word == hoststep.EditAccept })
	if len(actions) == 0 {
		actions = []string{hoststep.Accept}
	}
	return payload(word("nodeId", n.id), word("interruptId", n.open.id), word("artifactId", n.id), word("artifactType", n.typeID()),
		word("title", title), member("requiredApprovals", canon.OfInt(a.Required)), member("approversList", s.texts(a.Approvers)),
		word("rejectionPolicy", a.Policy()), member("actions", s.texts(actions)))
}

// questionsOf are the questions of a clarification.
func questionsOf(s *segment, all []question) canon.Value {
	items := make([]canon.Value, len(all))
	for i, q := range all {
		var schema canon.Value
		if len(q.choices) > 0 {
			schema = payload(member("enum", s.texts(q.choices)))
		}
		items[i] = payload(word("id", q.key), word("question", cmp.Or(s.free("", q.text).Value.Text(), q.key)),
			member("schema", schema))
	}
	return canon.OfList(items...)
}
