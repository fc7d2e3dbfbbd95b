package host_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/workflow/hoststep"
)

// answers performs a gate with one answer after the other, "NAME ACTION" each, and returns the outcomes and the last result.
func answers(t *testing.T, h hoststep.Step, all ...string) (outcomes string, last host.Result) {
	t.Helper()
	for _, text := range all {
		name, action, _ := strings.Cut(text, " ")
		r, err := host.Perform(host.Step{Step: h, StepInstanceKey: "s", Responses: last.Responses,
			Answer: &host.Answer{Response: event.Response{Action: action, By: name, Digest: canon.Sum([]byte(text))}, Value: canon.OfMembers()}})
		if err != nil {
			t.Fatal(err)
		}
		v, err := r.Value()
		if err == nil {
			last, err = host.Decode(v) // what a gate records is read again
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		outcomes += string(r.Outcome)[:1]
	}
	return outcomes, last
}

// TestQuorum: a name counts once; rejections decide by the policy.
func TestQuorum(t *testing.T) {
	for _, row := range []struct {
		config, answers, want string // the first letters of the outcomes
	}{
		{"", "a accept", "c"}, {"", "a reject", "f"},
		{`{"actions": ["refine", "edit-accept"]}`, "a refine", "c"}, {`{"actions": ["refine", "edit-accept"]}`, "a edit-accept", "c"},
		{`{"requiredApprovals": 3}`, "a accept,b accept,c accept", "wwc"}, {`{"requiredApprovals": 3}`, "a accept,a accept,b accept,a accept,c accept", "wwwwc"},
		{`{"requiredApprovals": 3}`, "a accept,b reject", "wf"},
		{`{"requiredApprovals": 3, "rejectionPolicy": "single-veto"}`, "a reject", "f"},
		{`{"requiredApprovals": 3, "rejectionPolicy": "majority"}`, "a reject,a reject,b accept,c reject", "wwwf"},
		{`{"requiredApprovals": 3, "rejectionPolicy": "majority"}`, "a reject,b accept,c accept,d accept", "wwwc"},
		{`{"requiredApprovals": 2, "rejectionPolicy": "majority"}`, "a reject,b reject", "wf"},
		{`{"requiredApprovals": 1, "rejectionPolicy": "majority"}`, "a reject", "f"},
	} {
		h := hoststep.Step{TypeID: hoststep.ApprovalGate, Config: parse(t, row.config)}
		got, last := answers(t, h, strings.Split(row.answers, ",")...)
		if got != row.want {
			t.Errorf("%s: %s gives %s, want %s", row.config, row.answers, got, row.want)
		}
		if last.Outcome == host.Failed && last.Error.Code != host.CodeRejected {
			t.Errorf("%+v", last.Error)
		}
	}
}

// TestGateWithoutAnAnswer: it is none of a step that is performed; after its time it fails, also with answers.
func TestGateWithoutAnAnswer(t *testing.T) {
	h := hoststep.Step{TypeID: hoststep.ApprovalGate, Config: parse(t, `{"timeoutMs": 50, "requiredApprovals": 2}`)}
	if _, err := host.Perform(host.Step{Step: h, StepInstanceKey: "s"}); !errors.Is(err, host.ErrUnanswered) {
		t.Error(err)
	}
	_, one := answers(t, h, "a accept")
	r, err := host.Perform(host.Step{Step: h, StepInstanceKey: "s", TimedOut: true, Responses: one.Responses})
	if err != nil || r.Outcome != host.Failed || r.Error.Code != host.CodeTimeout || r.Last().Action != event.RespondTimeout || len(r.Responses) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if at, ok := host.ExpiresAt(h, 100); !ok || at != 150 {
		t.Error(at, ok)
	}
	for _, other := range []hoststep.Step{{TypeID: hoststep.ApprovalGate}, {TypeID: hoststep.Delay, Config: parse(t, `{"timeoutMs": 5}`)}} {
		if at, ok := host.ExpiresAt(other, 100); ok {
			t.Errorf("%s: %d", other.TypeID, at)
		}
	}
}

// TestContextOfGates: what of an answer becomes context.
func TestContextOfGates(t *testing.T) {
	for _, row := range []struct{ typeID, config, want string }{
		{hoststep.ApprovalGate, `{}`, "null"}, {hoststep.ApprovalGate, `{"contextKey": "k"}`, `{"k":{"a":1}}`},
		{hoststep.ClarificationGate, `{"questions": [{"id": "a", "question": "q"}]}`, `{"a":1}`},
		{hoststep.Interrupt, `{"eventType": "e", "correlation": {}}`, "null"},
		{hoststep.Interrupt, `{"eventType": "e", "correlation": {}, "contextKey": "k"}`, `{"k":{"a":1}}`},
	} {
		h := hoststep.Step{TypeID: row.typeID, Config: parse(t, row.config)}
		r := host.Result{Outcome: host.Completed, Outputs: parse(t, `{"a":1}`)}
		if got := fmt.Sprint(string(host.ContextOf(h, r).JCS())); got != row.want {
			t.Errorf("%s %s: %s", row.typeID, row.config, got)
		}
		r.Outcome = host.Waiting
		if got := host.ContextOf(h, r); !got.IsNull() {
			t.Errorf("%s that waits: %s", row.typeID, got.JCS())
		}
	}
}

// TestDecodeRefusesForgedResponses: responses belong to gates, and have the form of the event.
func TestDecodeRefusesForgedResponses(t *testing.T) {
	const good = `{"kind":"wr.host_result","outcome":"waiting","responses":[{"action":"accept","by":"a","digest":"` +
		`sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}],"stepInstanceKey":"s","typeId":"core.approvalGate"}`
	if _, err := host.Decode(parse(t, good)); err != nil {
		t.Fatal(err)
	}
	for _, row := range [][2]string{{`"core.approvalGate"`, `"core.noop"`}, {`"accept"`, `"ask"`}, {`"by":"a",`, ``}, {`"waiting"`, `"waits"`},
		{`"stepInstanceKey"`, `"outputs":{},"stepInstanceKey"`}} {
		text := strings.Replace(good, row[0], row[1], 1)
		if r, err := host.Decode(parse(t, text)); err == nil || text == good {
			t.Errorf("%s is accepted: %+v", text, r)
		}
	}
	if _, err := host.Decode(parse(t, `{"kind":"wr.host_result","outcome":"waiting","stepInstanceKey":"s","typeId":"core.approvalGate"}`)); err == nil {
		t.Error("a gate that waits without an answer is accepted")
	}
}
