package interrupt_test

import (
	"fmt"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/run/interrupt"
	"github.com/waybill/waybill/durable/workflow/hoststep"
)

func parse(t *testing.T, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(text, err)
	}
	return v
}

// gate is a step of a type with a configuration.
func gate(t *testing.T, typeID, config string) *hoststep.Step {
	t.Helper()
	s := &hoststep.Step{TypeID: typeID, Config: parse(t, config)}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRead: for each kind, what is an answer, and what is none.
func TestRead(t *testing.T) {
	approval := func(config string) interrupt.Request {
		return interrupt.Request{Kind: openwop.ApprovalInterrupt, Gate: gate(t, hoststep.ApprovalGate, config), Automatic: true}
	}
	plain, full := approval(`{}`), approval(`{"actions": ["accept", "reject", "refine", "edit-accept", "ask"]}`)
	human := interrupt.Request{Kind: openwop.ApprovalInterrupt, Human: true}
	confirm, command := interrupt.Request{Kind: openwop.ApprovalInterrupt}, interrupt.Request{Kind: openwop.ApprovalInterrupt, Automatic: true}
	asked := interrupt.Request{Kind: openwop.ClarificationInterrupt, Questions: []interrupt.Question{{Key: "a"}, {Key: "b"}}}
	questions := interrupt.Request{Kind: openwop.ClarificationInterrupt, Questions: []interrupt.Question{{Key: "a", Choices: []string{"x", "y"}}, {Key: "b"}}, Automatic: true,
		Gate: gate(t, hoststep.ClarificationGate, `{"questions": [{"id": "a", "question": "A?", "choices": ["x", "y"]}, {"id": "b", "question": "B?"}]}`)}
	event := interrupt.Request{Kind: openwop.ExternalEventInterrupt, Automatic: true,
		Gate: gate(t, hoststep.Interrupt, `{"eventType": "e", "correlation": {"id": 1, "of": {"a": [1]}}}`)}
	custom := interrupt.Request{Kind: openwop.CustomInterrupt}
	for _, row := range []struct {
		name    string
		of      interrupt.Request
		text    string
		pointer string // "" for an answer
	}{
		{"gate", plain, `{"action": "accept"}`, ""}, {"gate", plain, `{"action": "reject", "feedback": "f", "voter": "v"}`, ""},
		{"gate", plain, `null`, "/resumeValue"}, {"gate", plain, `"accept"`, "/resumeValue"}, {"gate", plain, `[]`, "/resumeValue"},
		{"gate", plain, `{}`, "/resumeValue"}, {"gate", plain, `{"action": "ask"}`, "/resumeValue/action"},
		{"gate", plain, `{"action": "edit"}`, "/resumeValue/action"}, {"gate", plain, `{"action": "accept", "more": 1}`, "/resumeValue/more"},
		{"gate", plain, `{"action": "accept", "notesMarkdown": "n"}`, "/resumeValue/notesMarkdown"},
		{"gate", plain, `{"action": "accept", "voter": ""}`, "/resumeValue/voter"},
		{"full", full, `{"action": "ask", "question": "why"}`, ""},
		{"full", full, `{"action": "refine", "refineFeedback": {"scope": "whole"}}`, ""},
		{"full", full, `{"action": "refine"}`, "/resumeValue/refineFeedback"},
		{"full", full, `{"action": "refine", "refineFeedback": {"scope": "all"}}`, "/resumeValue/refineFeedback/scope"},
		{"full", full, `{"action": "edit-accept"}`, "/resumeValue/editedArtifactData"},
		{"full", full, `{"action": "edit-accept", "editedArtifactData": [1]}`, ""},
		{"human", human, `{"action": "accept"}`, ""}, {"human", human, `{"notesMarkdown": "n"}`, ""},
		{"human", human, `{"action": "refine", "refineFeedback": {"scope": "whole"}}`, "/resumeValue/refineFeedback/text"},
		{"human", human, `{"action": "refine", "refineFeedback": {"scope": "whole", "text": "t"}}`, ""},
		{"human", human, `{"action": "edit-accept", "editedArtifactData": 1}`, "/resumeValue/action"},
		{"human", human, `{"action": "accept", "notesMarkdown": "n"}`, "/resumeValue"},
		{"confirm", confirm, `{"action": "accept", "notesMarkdown": "n", "context": {"a": 1}, "artifacts": [{}]}`, ""},
		{"confirm", confirm, `{"action": "reject", "notesMarkdown": "n"}`, "/resumeValue"},
		{"command", command, `{"action": "accept"}`, ""}, {"command", command, `{"action": "accept", "context": {}}`, "/resumeValue/context"},
		{"command", command, `{"context": {"a": 1}}`, "/resumeValue"},
		{"asked", asked, `{"answers": {"a": 1}}`, ""}, {"asked", asked, `{"answers": {"a": 1}, "notesMarkdown": "n"}`, ""},
		{"asked", asked, `{"answers": {"c": 1}}`, "/resumeValue/answers/c"}, {"asked", asked, `{"answers": [{"id": "c", "answer": 1}]}`, "/resumeValue/answers/c"}, {"asked", asked, `{"answers": {}}`, "/resumeValue/answers"},
		{"asked", asked, `{"answers": {"a": null}}`, "/resumeValue/answers/a"}, {"asked", asked, `{"answers": "a"}`, "/resumeValue/answers"},
		{"questions", questions, `{"answers": {"a": "x", "b": {"any": 1}}}`, ""},
		{"questions", questions, `{"answers": [{"id": "b", "answer": 1}, {"id": "a", "answer": "y"}]}`, ""},
		{"questions", questions, `{"answers": {"a": "x"}}`, "/resumeValue/answers"},
		{"questions", questions, `{"answers": {"a": "z", "b": 1}}`, "/resumeValue/answers/a"},
		{"questions", questions, `{"answers": [{"id": "b"}]}`, "/resumeValue/answers/0"},
		{"event", event, `{"id": 1, "of": {"a": [1]}, "more": true}`, ""}, {"event", event, `7`, "/resumeValue"},
		{"event", event, `{"id": 2, "of": {"a": [1]}}`, "mismatch /resumeValue/id"}, {"event", event, `{"id": 1}`, "mismatch /resumeValue/of"},
		{"custom", custom, `{}`, ""}, {"custom", custom, `{"notesMarkdown": "n", "artifacts": [1], "context": {}}`, ""},
		{"custom", custom, `{"action": "accept"}`, "/resumeValue/action"}, {"custom", custom, `{"context": 1}`, "/resumeValue/context"},
		{"custom", custom, `null`, "/resumeValue"},
	} {
		_, err := row.of.Read(parse(t, row.text))
		got := ""
		if f := fault.Of(err); f != nil {
			if got = fmt.Sprint(f.Details["pointer"]); f.Code == fault.InterruptMismatch {
				got = "mismatch " + got
			} else if f.Code != fault.ValidationError {
				t.Errorf("%s %s: %v", row.name, row.text, err)
			}
		}
		if got != row.pointer {
			t.Errorf("%s %s: at %q, want %q", row.name, row.text, got, row.pointer)
		}
		if kind := row.of.Schema().Kind(); kind != canon.Object {
			t.Errorf("%s: the schema is %v", row.name, kind)
		}
	}
}

// TestBothFormsOfAnswers are the same answers.
func TestBothFormsOfAnswers(t *testing.T) {
	r := interrupt.Request{Kind: openwop.ClarificationInterrupt, Questions: []interrupt.Question{{Key: "a"}, {Key: "b"}}}
	one, err := r.Read(parse(t, `{"answers": {"a": 1, "b": "x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	other, err := r.Read(parse(t, `{"answers": [{"id": "a", "answer": 1}, {"id": "b", "answer": "x"}]}`))
	if err != nil || string(one.Values.JCS()) != string(other.Values.JCS()) || string(one.Values.JCS()) != `{"a":1,"b":"x"}` {
		t.Errorf("%s, %s, %v", one.Values.JCS(), other.Values.JCS(), err)
	}
}
