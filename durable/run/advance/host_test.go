package advance_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/source"
)

const hostText = `{"id":"test.host","name":"Host","description":"d","version":"1.0.0","steps":[
 {"id":"noop","title":"Noop","action":{"kind":"host","typeId":"core.noop"}},
 {"id":"pause","title":"Pause","action":{"kind":"host","typeId":"core.delay","config":{"defaultMs":5000}}},
 {"id":"fail","title":"Fail","action":{"kind":"host","typeId":"core.fail"}},
 {"id":"gate","title":"Gate","action":{"kind":"host","typeId":"core.noop"},"requireConfirmation":{"kind":"human_approval"}},
 {"id":"end","title":"End","prompt":"p"}]}`

// hostCase is an attempt at a host step that became pending at time 0.
type hostCase struct {
	step    string
	context string
	sent    string // the result with the attempt, "" for none
	have    string // the one recorded before
	left    bool   // a branch of the run has left the node with it
	atMs    int64
	want    string // of the blocker's message; "" advances
}

// TestHostStepsInEachMode: which attempts complete a host step, in every mode.
func TestHostStepsInEachMode(t *testing.T) {
	_, w, problems := compile.File("test.json", source.SourceProject, []byte(hostText))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	result := func(step, typeID string) string {
		return `{"kind":"wr.host_result","outcome":"completed","stepInstanceKey":"` + step + `","typeId":"` + typeID + `"}`
	}
	noop, pause := result("noop", "core.noop"), result("pause", "core.delay")
	const failed = `{"error":{"code":"E1","message":"Out of order."},"kind":"wr.host_result","outcome":"failed","stepInstanceKey":"fail","typeId":"core.fail"}`
	for _, mode := range []event.Autonomy{event.Guided, event.FullAutoStopOnUserDeps, event.FullAutoNeverStop} {
		for name, row := range map[string]hostCase{
			"nothing":                   {step: "noop", want: "performed by the host (core.noop) and has no result"},
			"completed":                 {step: "noop", sent: noop},
			"recorded before":           {step: "noop", have: noop},
			"of another branch":         {step: "noop", have: noop, left: true, want: "has no result"},
			"of another step":           {step: "noop", sent: result("pause", "core.noop"), want: "is of another step"},
			"of another type":           {step: "noop", sent: result("noop", "core.identity"), want: "is of another step"},
			"not one":                   {step: "noop", sent: `{"kind":"wr.host_result"}`, want: "is not one"},
			"failed":                    {step: "fail", sent: failed, want: `Step "fail" failed (E1): Out of order.`},
			"failed before":             {step: "fail", have: failed, want: `Step "fail" failed (E1): Out of order.`},
			"a delay":                   {step: "pause", sent: pause, atMs: 5000},
			"a delay, early":            {step: "pause", sent: pause, atMs: 4999, want: "lasts until 1970-01-01T00:00:05.000Z"},
			"a delay of the context":    {step: "pause", context: `{"delaySeconds":2}`, sent: pause, atMs: 2000},
			"the same, early":           {step: "pause", context: `{"delaySeconds":2}`, sent: pause, atMs: 1999, want: "lasts until"},
			"recorded, clock went back": {step: "pause", have: pause, atMs: 5},
			"without an approval":       {step: "gate", sent: result("gate", "core.noop"), want: "approval"},
		} {
			t.Run(string(mode)+"/"+name, func(t *testing.T) {
				outcome := decideHost(t, w, mode, row)
				if (outcome.Kind == event.Advanced) != (row.want == "") {
					t.Fatalf("%+v", outcome)
				}
				if row.want != "" && !strings.Contains(outcome.Blockers.Blockers[0].Message, row.want) {
					t.Errorf("%+v", outcome.Blockers.Blockers)
				}
			})
		}
	}
}

// decideHost decides a case, and checks that the engine is the actor of the result.
func decideHost(t *testing.T, w compile.Compiled, mode event.Autonomy, row hostCase) event.AdvanceOutcome {
	t.Helper()
	artifact := func(text string) advance.Artifact {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return advance.JSONArtifact(v)
	}
	context := canon.OfMembers()
	if row.context != "" {
		context = artifact(row.context).JSON
	}
	f := advance.Facts{Session: session, Run: run, Node: root, Next: 7, State: snapshot.At(row.step, nil, nil),
		Preferences: event.DefaultPreferences(), Context: context}
	f.Preferences.Autonomy = mode
	if row.have != "" {
		a := artifact(row.have)
		f.Outputs = []advance.Output{{ID: id.FromAttempt(id.NextAttempt(root, id.OpAck, 3), id.OpAck).Output(0), JSON: a.JSON, Left: row.left,
			Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: host.Kind, ContentType: a.ContentType,
				ByteLength: int64(len(a.Bytes)), SHA256: canon.Sum(a.Bytes)}}}
	}
	request := advance.Request{}
	if row.sent != "" {
		request.Artifacts = []advance.Artifact{artifact(row.sent)}
	}
	d, err := advance.Decide(w, f, advance.Attempt{ID: id.NextAttempt(root, id.OpAck, 0), Request: request, Actor: agent,
		AtMs: row.atMs, Performed: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := manifest.EncodeSegment(d.Log, d.Events); err != nil {
		t.Fatal(err)
	}
	for _, e := range d.Events {
		if p, ok := e.Data.(event.NodeOutputAppended); ok && e.Actor.Kind != event.Engine {
			t.Errorf("the actor of %s is %+v", p.Payload.ArtifactKind, e.Actor)
		}
	}
	return d.Events[0].Data.(event.AdvanceRecorded).Outcome
}

// TestHostResultOfAnAgent: a request that comes in with the result of a host step is refused, and names what performs it.
func TestHostResultOfAnAgent(t *testing.T) {
	r, err := host.Perform(host.Step{Step: hoststep.Step{TypeID: hoststep.Noop}, StepInstanceKey: "noop"})
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.Value()
	if err != nil {
		t.Fatal(err)
	}
	err = advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(v)}}.RefuseObserved(run)
	if f := fault.Of(err); f == nil || f.Code != fault.ValidationError || f.Details["artifactKind"] != host.Kind ||
		!strings.Contains(f.Suggestion.String(), "waybill serve") {
		t.Error(err)
	}
}
