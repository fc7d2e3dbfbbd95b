// Package interrupt has the rules for what a suspended run is answered over the protocol
// (docs/design.md#openwop-interrupts): the form of an answer by the kind of the interrupt, and what it means for the step.
//
// It is pure: package projections/wire finds what a run is suspended for, and durable/engine/interrupts acts. Start
// reading at Request.
package interrupt

import (
	"cmp"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Request is what a run is suspended for, as far as the form of an answer depends on it.
type Request struct {
	Kind openwop.InterruptKind
	// Gate is the host step that is answered, nil for any other step.
	Gate *hoststep.Step
	// Human reports a step that a person has to approve.
	Human bool
	// Automatic reports a step that a performer carries out, so that no caller hands in work.
	Automatic bool
	// Questions are those of a clarification.
	Questions []Question
}

// Question asks for a value of the context.
type Question struct {
	Key     string
	Choices []string // none: any value
}

// Actions are what an approval may be answered, nil for the other kinds.
func (r Request) Actions() []string {
	switch {
	case r.Kind != openwop.ApprovalInterrupt:
		return nil
	case r.Gate != nil:
		return r.Gate.ApprovalOf().Actions
	case r.Human:
		return []string{hoststep.Accept, hoststep.Reject, hoststep.Refine, hoststep.Ask}
	}
	return []string{hoststep.Accept, hoststep.Reject, hoststep.Ask}
}

const required, optional = shape.Required, shape.Optional

// The members of answers.
var (
	text     = shape.Text{Max: limits.DecisionReasonBytesMax / 4} // of characters of at most four bytes
	name     = shape.Text{Min: 1, Max: limits.GateNameCharactersMax}
	feedback = shape.Object{What: "the feedback of a refinement", Open: true, Fields: []shape.Field{
		{"scope", shape.Words{"whole", "section", "items"}, required}, {"sectionPath", text, optional},
		{"itemIds", shape.List{Of: text, Max: limits.GateChoicesMax}, optional},
		{"tags", shape.List{Of: text, Max: limits.GateChoicesMax}, optional}, {"text", text, optional}}}
	work = []shape.Field{{"notesMarkdown", shape.Text{}, optional},
		{"artifacts", shape.List{Of: shape.Anything{}, Max: limits.ArtifactsMax}, optional}, {"context", shape.AnyObject, optional}}
)

// shape is the form of an answer.
func (r Request) shape() shape.Shape {
	switch {
	case r.Kind == openwop.ApprovalInterrupt:
		fields := []shape.Field{{"action", shape.Words(r.Actions()), required}, {"voter", name, optional}, {"feedback", text, optional},
			{"refineFeedback", feedback, optional}, {"editedArtifactData", shape.Anything{}, optional},
			{"question", text, optional}, {"decidedBy", name, optional}, {"decidedAt", shape.Text{Max: 64}, optional}}
		if r.Gate == nil && !r.Automatic { // the work may be handed in, alone or with a confirmation
			fields[0].Required = false
			fields = append(fields, work...)
		}
		return shape.Object{What: "an answer to an approval", Fields: fields}
	case r.Kind == openwop.ClarificationInterrupt:
		answers := shape.ByKind{canon.Object: r.answers(), canon.Array: shape.List{Min: 1, Max: limits.InputsShownMax, Key: "id",
			Of: shape.Object{What: "an answer", Fields: []shape.Field{{"id", name, required}, {"answer", shape.Anything{}, required}}}}}
		fields := []shape.Field{{"answers", answers, required}}
		if r.Gate == nil && !r.Automatic {
			fields = append(fields, work...)
		}
		return shape.Object{What: "an answer to a clarification", Fields: fields}
	case r.Kind == openwop.ExternalEventInterrupt:
		return shape.AnyObject
	}
	return shape.Object{What: "the work of a step", Fields: work}
}

// answers is the form of the answers by key. A gate needs all of them; others are asked for again.
func (r Request) answers() shape.Shape {
	var fields []shape.Field
	for _, q := range r.Questions {
		of := shape.Field{q.Key, shape.Anything{}, optional}
		if len(q.Choices) > 0 {
			of.Shape = shape.Words(q.Choices)
		}
		of.Required = r.Gate != nil
		fields = append(fields, of)
	}
	return shape.Object{What: "the answers", Fields: fields}
}

// Schema is the JSON Schema of an answer.
func (r Request) Schema() canon.Value {
	return r.shape().Schema(func(string, string) string { return "" })
}

// Resume is an answer that has the form of its interrupt.
type Resume struct {
	// Action is what an approval is answered, "" for the other kinds and for work that is handed in.
	Action string
	// By is the name that the answer gives for the one who answers, "" for none.
	By string
	// Reason is the feedback as a sentence.
	Reason string
	// Values are the answers by key, the event, or what comes with an approval.
	Values canon.Value
	// Notes, Artifacts and Context are the work of the step.
	Notes     string
	Artifacts []canon.Value
	Context   canon.Value
	// Digest identifies the answer.
	Digest canon.Digest
}

// Read reads an answer. Errors: VALIDATION_ERROR with the place under /resumeValue, INTERRUPT_MISMATCH for an event
// that is not the one that is waited for.
func (r Request) Read(v canon.Value) (Resume, error) {
	if err := check(r.shape(), v, ""); err != nil {
		return Resume{}, err
	}
	of := func(name string) canon.Value {
		member, _ := v.Get(name)
		return member
	}
	out := Resume{Action: of("action").Text(), By: cmp.Or(of("voter").Text(), of("decidedBy").Text()), Digest: canon.Sum(v.JCS()),
		Notes: of("notesMarkdown").Text(), Context: of("context")}
	for i := range of("artifacts").Len() {
		out.Artifacts = append(out.Artifacts, of("artifacts").Item(i))
	}
	feedback, _ := of("refineFeedback").Get("text")
	out.Reason = cmp.Or(of("feedback").Text(), feedback.Text())
	switch r.Kind {
	case openwop.ApprovalInterrupt:
		err := r.readApproval(v, &out)
		return out, err
	case openwop.ClarificationInterrupt:
		err := r.readAnswers(of("answers"), &out)
		return out, err
	case openwop.ExternalEventInterrupt:
		out = Resume{Action: event.RespondEvent, Values: v, Digest: out.Digest}
		return out, r.correlates(v)
	}
	return out, nil
}

// check refuses a value of another form, at a place of an answer.
func check(form shape.Shape, v canon.Value, at string) error {
	var all []problem.Problem
	form.Check(problem.SourceValue{Value: v}, func(p problem.Problem) {
		if p.Severity == problem.Error {
			all = append(all, p)
		}
	})
	if len(all) == 0 {
		return nil
	}
	sorting.Stable(all, func(a, b problem.Problem) int { return cmp.Compare(a.Pointer, b.Pointer) })
	return invalid(at+all[0].Pointer, "the answer does not have the form of resumeSchema")
}

// invalid is VALIDATION_ERROR for a place in an answer. What was sent is not repeated.
func invalid(pointer, format string, args ...any) *fault.Fault {
	return fault.New(fault.ValidationError, format, args...).With("pointer", "/resumeValue"+pointer)
}

// readApproval reads what comes with an action.
func (r Request) readApproval(v canon.Value, out *Resume) error {
	with := canon.OfMembers()
	for _, name := range []string{"feedback", "refineFeedback", "editedArtifactData"} {
		if member, ok := v.Get(name); ok {
			with = with.With(name, member)
		}
	}
	out.Values = with
	_, edited := v.Get("editedArtifactData")
	_, refined := v.Get("refineFeedback")
	switch {
	case out.Action == hoststep.Refine && !refined:
		return invalid("/refineFeedback", "a refinement says in refineFeedback what has to change")
	case out.Action == hoststep.Refine && r.Human && strings.TrimSpace(out.Reason) == "":
		return invalid("/refineFeedback/text", "a step is sent back with a text")
	case out.Action == hoststep.EditAccept && !edited:
		return invalid("/editedArtifactData", "an edited artifact is accepted with editedArtifactData")
	case out.Action != "" && out.Action != hoststep.Accept && out.hasWork():
		return invalid("", "work comes with accept, or alone")
	case out.Action != "" && r.Human && out.hasWork():
		return invalid("", "a decision and work are two answers")
	}
	return nil
}

// hasWork reports that work is handed in.
func (r Resume) hasWork() bool { return r.Notes != "" || len(r.Artifacts) > 0 || r.Context.Len() > 0 }

// readAnswers reads the answers of both forms.
func (r Request) readAnswers(given canon.Value, out *Resume) error {
	out.Action, out.Values = event.RespondAnswer, given
	if given.Kind() == canon.Array {
		out.Values = canon.OfMembers()
		for i := range given.Len() {
			id, _ := given.Item(i).Get("id")
			answer, _ := given.Item(i).Get("answer")
			out.Values = out.Values.With(id.Text(), answer)
		}
		if err := check(r.answers(), out.Values, "/answers"); err != nil {
			return err
		}
	}
	if out.Values.Len() == 0 {
		return invalid("/answers", "no question is answered")
	}
	for i := range out.Values.Len() {
		if out.Values.Item(i).IsNull() {
			return invalid("/answers/"+canon.EscapePointer(out.Values.Key(i)), "an answer is not null")
		}
	}
	return nil
}

// correlates refuses an event without the members that the step waits for. Other members are accepted.
func (r Request) correlates(v canon.Value) error {
	if r.Gate == nil {
		return nil
	}
	want := r.Gate.EventOf().Correlation
	for i := range want.Len() {
		got, ok := v.Get(want.Key(i))
		if !ok || string(got.JCS()) != string(want.Item(i).JCS()) {
			return fault.New(fault.InterruptMismatch, "the event is not the one that the run waits for; the run is still suspended").
				With("pointer", "/resumeValue/"+canon.EscapePointer(want.Key(i)))
		}
	}
	return nil
}

// AnswerOf is the answer to a gate. by names the caller, for an answer without a name.
func (r Resume) AnswerOf(by string) *host.Answer {
	return &host.Answer{Response: event.Response{Action: r.Action, By: cmp.Or(r.By, by), Digest: r.Digest}, Value: r.Values}
}
