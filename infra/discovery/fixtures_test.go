package discovery

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/projections/runs"
)

// fixtures compiles the fixtures, by id.
func fixtures(t *testing.T) map[string]compile.Compiled {
	t.Helper()
	out := map[string]compile.Compiled{}
	for _, e := range catalog.Of(catalog.Sources{Files: Fixtures()}).Entries {
		if !e.Valid() || e.Ref != "fixtures/"+e.ID+".yaml" {
			t.Fatalf("%s: %s, %v", e.Ref, e.ID, e.Problems)
		}
		out[e.ID] = e.Compiled
	}
	return out
}

// TestFixturesAreOfHostSteps: each fixture is valid but for its id without a namespace, has only steps that the host performs, needs
// no trust, and no routine that another workflow could call.
func TestFixturesAreOfHostSteps(t *testing.T) {
	all := fixtures(t)
	if len(all) != len(FixtureIDs()) || len(all) < 9 {
		t.Errorf("%d workflows, %q", len(all), FixtureIDs())
	}
	for _, id := range FixtureIDs() {
		w, ok := all[id]
		missing := ""
		if id == "conformance-conversation-capability-negotiation" { // whose runs are refused
			missing = hoststep.ConversationCapability
		}
		if !ok || w.HasActions() || strings.Join(host.Unsupported(w, true), " ") != missing || len(w.Loops) != 0 {
			t.Errorf("%s: %v, %q", id, ok, host.Unsupported(w, true))
		}
		for _, s := range w.Steps {
			if s.Host == nil {
				t.Errorf("%s: the step %q is none of the host", id, s.StepID)
			}
		}
	}
	for _, e := range catalog.Of(catalog.Sources{Files: Fixtures()}).Entries {
		if len(e.Problems) != 1 || e.Problems[0].Pointer != "/id" {
			t.Errorf("%s: %v", e.ID, e.Problems)
		}
	}
}

// TestFixturesAreFoundWhenTheyAreAdded: no search finds a fixture, and one that is added takes its id from no other file.
func TestFixturesAreFoundWhenTheyAreAdded(t *testing.T) {
	own := `{"id": "conformance-noop", "name": "Own", "description": "d", "version": "1.0.0", "steps": [{"id": "s", "title": "S", "prompt": "p"}]}`
	dir := writeTree(t, map[string]string{".waybill/workflows/own.json": own})
	finder := New(Places{From: dir, Attached: []Attached{{"team", writeTree(t, map[string]string{
		"noop.json": strings.Replace(own, "conformance-noop", "conformance-delay", 1)})}}})
	files, err := finder.Workflows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := catalog.Of(catalog.Sources{Files: files})
	if e, err := found.Find("conformance-noop"); err != nil || e.Name != "Own" {
		t.Errorf("%+v, %v", e.Ref, err)
	}
	if _, err := found.Find("conformance-identity"); !fault.Is(err, fault.WorkflowNotFound) {
		t.Error(err)
	}
	with := catalog.Of(catalog.Sources{Files: append(files, Fixtures()...)})
	for _, id := range []string{"conformance-noop", "conformance-delay"} {
		if _, err := with.Find(id); !fault.Is(err, fault.WorkflowAmbiguous) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if e, err := with.Find("conformance-identity"); err != nil || e.Name != "Identity" {
		t.Errorf("%+v, %v", e.Ref, err)
	}
}

// driven is a run of a fixture, with a clock that only a pause moves.
type driven struct {
	*testing.T
	g     *enginetest.Engine
	store *memstore.Store
	at    engine.Position
	clock int64
	held  bool
}

func drive(t *testing.T, name, inputs string) *driven {
	t.Helper()
	w, ok := fixtures(t)[name]
	if !ok {
		t.Fatalf("no fixture %s", name)
	}
	d := &driven{T: t, store: memstore.NewDisk(id.Seed{9}).Open(time.Second), clock: 1000}
	d.g = enginetest.InMemory(d.store)
	context, err := canon.Parse([]byte(inputs))
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.g.Start(t.Context(), engine.Caller{Actor: event.Actor{Kind: event.Agent, Ref: "key:ci"}, AtMs: d.clock}, id.Seed{1},
		engine.Start{Workflow: w, SourceKind: event.SourceProject, SourceRef: "fixtures/" + name + ".yaml", Context: context})
	if err != nil {
		t.Fatal(err)
	}
	d.at = a.Position()
	return d
}

// perform performs the run as a server does: without a person, and without waiting.
func (d *driven) perform(o perform.Options) (perform.Report, perform.Next, error) {
	line := func(id.Run, ...string) fault.Command { return fault.Command{"runs", "show"} }
	p := &perform.Performer{Engine: d.g, Logs: d.store, Person: absent{}, Performers: d, Display: perform.NoDisplay{}, Hosts: host.Perform,
		By:           engine.Caller{Actor: event.Actor{Kind: event.Agent, Ref: "key:ci"}},
		NowMs:        func() int64 { return d.clock },
		Pause:        func(ctx context.Context, ms int64) error { d.clock += ms; return ctx.Err() },
		Watch:        func(ctx context.Context, _ int64) error { <-ctx.Done(); return ctx.Err() },
		OfStore:      func(c fault.Command) fault.Command { return c },
		ContinueLine: line, SubmitLine: line, ApproveLine: line}
	o.NoWait = true
	r, err := p.Perform(d.Context(), d.at.Session, d.at.Run, o)
	return r, perform.After(r, err), err
}

func (d *driven) Hold(context.Context, id.Session) (ports.Lease, error) {
	if d.held {
		return ports.Lease{}, fault.New(fault.RunBusy, "held")
	}
	d.held = true
	return ports.Lease{Release: func() error { d.held = false; return nil }}, nil
}

// absent is a Person who is not present: no other method is called.
type absent struct{ ports.Person }

func (absent) Present() bool    { return false }
func (absent) CanConsent() bool { return false }

// ended checks the end of the run, and returns the keys of its steps and the outputs of the last result.
func (d *driven) ended(status runs.Status) (steps []string, outputs string) {
	d.Helper()
	shown, err := d.g.Run(d.Context(), d.at.Run.String())
	if err != nil || shown.Status != status {
		d.Fatalf("%s, %v", shown.Status, err)
	}
	for _, s := range shown.Steps {
		steps = append(steps, s.StepInstanceKey)
		for _, a := range s.Artifacts {
			data, err := d.store.Object(d.Context(), manifest.Artifact, a.SHA256)
			if err != nil {
				d.Fatal(err)
			}
			v, err := canon.Parse(data)
			if err != nil {
				d.Fatal(err)
			}
			if r, err := host.Decode(v); err == nil && !r.Outputs.IsNull() {
				outputs = string(r.Outputs.JCS())
			}
		}
	}
	if report, err := d.g.Replay(d.Context(), d.at); err != nil || !report.OK {
		d.Errorf("%+v, %v", report, err)
	}
	return steps, outputs
}

// TestFixturesThatEndByThemselves: each is driven to its end without a pause, with the nodes that scenarios name.
func TestFixturesThatEndByThemselves(t *testing.T) {
	for name, want := range map[string]string{
		"conformance-noop": "[noop]", "conformance-multi-node": "[a b c]",
		"conformance-identity":   `[identity] {"deep":{"list":[1,null]},"text":"x"}`,
		"conformance-idempotent": `[idempotent] {"deep":{"list":[1,null]},"text":"x"}`,
	} {
		d := drive(t, name, `{"deep":{"list":[1,null]},"text":"x"}`)
		_, next, err := d.perform(perform.Options{})
		steps, outputs := d.ended(runs.CompleteStatus)
		if got := strings.TrimSpace(fmt.Sprint(steps, " ", outputs)); !next.Done || err != nil || strings.ReplaceAll(got, "  ", " ") != want {
			t.Errorf("%s: %+v, %v, %s", name, next, err, got)
		}
	}
}

// TestFixtureOfFailure: the run fails with the message of its step.
func TestFixtureOfFailure(t *testing.T) {
	d := drive(t, "conformance-failure", `{}`)
	_, next, err := d.perform(perform.Options{})
	if f := fault.Of(err); !next.Done || f.Details["reason"] != "This workflow fails on purpose." {
		t.Errorf("%+v, %v", next, err)
	}
	if steps, _ := d.ended(runs.Failed); fmt.Sprint(steps) != "[fail]" {
		t.Error(steps)
	}
}

// TestFixturesOfDelays: a delay is that of the inputs, else the one of the fixture; meanwhile the run can be cancelled.
func TestFixturesOfDelays(t *testing.T) {
	for _, row := range []struct {
		name, inputs string
		want         int64
	}{
		{"conformance-delay", `{}`, 1000}, {"conformance-delay", `{"delayMs":250}`, 250},
		{"conformance-cancellable", `{}`, 30_000}, {"conformance-cancellable", `{"delaySeconds":5}`, 5000},
		{"conformance-cancellable", `{"delaySeconds":3600}`, 60_000},
	} {
		d := drive(t, row.name, row.inputs)
		_, next, err := d.perform(perform.Options{})
		if next != (perform.Next{AtMs: d.clock + row.want}) {
			t.Fatalf("%s %s: %+v, %v", row.name, row.inputs, next, err)
		}
		d.clock = next.AtMs
		if _, next, err = d.perform(perform.Options{}); !next.Done || err != nil {
			t.Errorf("%s: %+v, %v", row.name, next, err)
		}
		if steps, _ := d.ended(runs.CompleteStatus); steps[0] != "delay" {
			t.Error(steps)
		}
	}
	d := drive(t, "conformance-cancellable", `{}`)
	if _, next, err := d.perform(perform.Options{}); next.AtMs == 0 {
		t.Fatal(err)
	}
	if _, err := d.g.Cancel(t.Context(), engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 2000}, d, d.at,
		engine.CancelRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, next, err := d.perform(perform.Options{}); !next.Done || !fault.Is(err, fault.RunClosed) {
		t.Errorf("%+v, %v", next, err)
	}
	d.ended(runs.Cancelled)
}

// TestFixturesOfGates: each waits for its answer, and ends as the answer says.
func TestFixturesOfGates(t *testing.T) {
	answer := func(action, value string) *host.Answer {
		v, err := canon.Parse([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		return &host.Answer{Response: event.Response{Action: action, By: "ada", Digest: canon.Sum(v.JCS())}, Value: v}
	}
	for _, row := range []struct {
		id, step string
		answer   *host.Answer
		status   runs.Status
		outputs  string
	}{
		{"approval", "gate", answer("accept", `{}`), runs.CompleteStatus, `{"action":"accept"}`},
		{"approval", "gate", answer("reject", `{}`), runs.Failed, ""},
		{"interrupt-auth-required", "gate", answer("accept", `{}`), runs.CompleteStatus, `{"action":"accept"}`},
		{"clarification", "ask", answer("answer", `{"q1":"blue"}`), runs.CompleteStatus, `{"q1":"blue"}`},
		{"interrupt-external-event", "wait-for-external", answer("event", `{"orderId":"o"}`), runs.CompleteStatus, `{"orderId":"o"}`},
	} {
		d := drive(t, "conformance-"+row.id, `{}`)
		if _, next, err := d.perform(perform.Options{}); !next.Waiting || !fault.Is(err, fault.RunWaiting) {
			t.Fatalf("%s: %+v, %v", row.id, next, err)
		}
		if _, next, err := d.perform(perform.Options{Answer: row.answer}); !next.Done {
			t.Fatalf("%s: %+v, %v", row.id, next, err)
		}
		if steps, outputs := d.ended(row.status); row.status == runs.CompleteStatus && (fmt.Sprint(steps) != "["+row.step+"]" || outputs != row.outputs) {
			t.Errorf("%s: %v %s", row.id, steps, outputs)
		}
	}
}

// TestAThousandDelaysHoldNoWorker: one worker passes the delays of many runs in the time of one.
func TestAThousandDelaysHoldNoWorker(t *testing.T) {
	w := fixtures(t)["conformance-delay"]
	d := drive(t, "conformance-delay", `{}`)
	var all []engine.Position
	for i := range 1000 {
		a, err := d.g.Start(t.Context(), engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: d.clock}, id.Seed{2, byte(i), byte(i >> 8)},
			engine.Start{Workflow: w, SourceKind: event.SourceProject, SourceRef: "fixtures/conformance-delay.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a.Position())
	}
	for _, want := range []perform.Next{{AtMs: d.clock + 1000}, {Done: true}} {
		for _, d.at = range all {
			if _, next, err := d.perform(perform.Options{}); next != want {
				t.Fatalf("%+v, want %+v: %v", next, want, err)
			}
		}
		d.clock += 1000
	}
}
