package advance_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

var person = event.Actor{Kind: event.Human, Ref: "ada"}

func approve(t testing.TB, f advance.Facts, a advance.Decision) (manifest.Plan, error) {
	t.Helper()
	plan, err := advance.DecideStep(compiled(t), stored(t, f), a)
	if err == nil {
		if _, err := manifest.EncodeSegment(plan.Log, plan.Events); len(plan.Events) > 0 && err != nil {
			t.Fatal(err)
		}
	}
	return plan, err
}

// held returns an output as recorded at a node.
func held(n int, a advance.Artifact) advance.Output {
	return advance.Output{ID: id.FromStart(root).
		Output(n), JSON: a.JSON, Payload: event.OutputPayload{PayloadKind: event.ArtifactRef,
		ArtifactKind: a.Kind(), ContentType: a.ContentType, ByteLength: int64(len(a.Bytes)),
		SHA256: canon.Sum(a.Bytes)}}
}

func noted(text string) advance.Output {
	return advance.Output{ID: id.FromStart(root).
		Output(99), Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: text}}
}

// approval returns the approval that a plan appends, alone, as the log of an older version has it.
func approval(t testing.TB, plan manifest.Plan) advance.Output {
	t.Helper()
	for _, o := range decided(plan) {
		if o.Payload.ArtifactKind == advance.ApprovalKind {
			return o
		}
	}
	t.Fatal("the plan has no approval")
	return advance.Output{}
}

func TestApprovalBindsStepSnapshotAndOutputs(t *testing.T) {
	f := at("approve")
	at := reason.WorkflowStep("approve")
	other := reason.ContextKey("consent")
	f.OpenGaps = []advance.OpenGap{
		{ID: id.FromStart(root).Gap(0), Reason: reason.NeedsApproval, Pointer: &at, Severity: event.Critical},
		// an input's
		{ID: id.FromStart(root).Gap(1), Reason: reason.NeedsApproval, Pointer: &other, Severity: event.Critical},
		{ID: id.FromStart(root).Gap(2), Reason: reason.MissingOutput, Pointer: &at, Severity: event.Critical},
	}
	f.Outputs = []advance.Output{noted("the plan"), held(1, artifact("zeta", "1")), held(2, artifact("alpha", "2"))}
	plan, err := approve(t, f, advance.Decision{Word: event.Approved, Actor: person, Reason: "fine", AtMs: 5})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(kinds(plan), " "); got != "gap_recorded node_output_appended node_output_appended" {
		t.Fatal(got)
	}
	gap := plan.Events[0].Data.(event.GapRecorded)
	if gap.Resolution.Kind != event.Resolves || *gap.Resolution.ResolvesGapID != f.OpenGaps[0].ID ||
		gap.Severity != event.Info ||
		gap.Reason != reason.NeedsApproval || *gap.Pointer != at {
		t.Errorf("%+v", gap)
	}
	o := approval(t, plan)
	for _, e := range plan.Events[1:] {
		if e.Actor != person || e.Scope.NodeID != root {
			t.Errorf("%+v", e)
		}
	}
	want := `{"approvedBy":"ada","comment":"fine","kind":"wr.human_approval","outputs":[` +
		`{"kind":"alpha","sha256":"` + f.Outputs[2].Payload.SHA256.String() + `"},` +
		`{"kind":"notes","sha256":"` + canon.Sum([]byte("the plan")).String() + `"},` +
		`{"kind":"zeta","sha256":"` + f.Outputs[1].Payload.SHA256.String() + `"}],` +
		`"snapshotRef":"` + stored(t, f).SnapshotRef.String() + `","stepInstanceKey":"approve"}`
	if got := string(o.JSON.JCS()); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestApprovalsOfOneNodeHaveTheirOwnIDs(t *testing.T) {
	f := at("approve")
	first, err := approve(t, f, advance.Decision{Word: event.Approved, Actor: person})
	if err != nil {
		t.Fatal(err)
	}
	f.Approvals, f.Outputs = 1, []advance.Output{approval(t, first), noted("more")}
	second, err := approve(t, f, advance.Decision{Word: event.Approved, Actor: person})
	if err != nil {
		t.Fatal(err)
	}
	a, b := approval(t, first), approval(t, second)
	if a.ID == b.ID {
		t.Errorf("%+v\n%+v", a, b)
	}
	for _, e := range second.Events {
		o := e.Data.(event.NodeOutputAppended)
		if is := o.Payload.ArtifactKind == advance.ApprovalKind; is != (o.SupersedesOutputID != nil) ||
			is && *o.SupersedesOutputID != a.ID {
			t.Errorf("%+v", o)
		}
	}
}

// TestApproveIsIdempotent, unless a gap waits for the approval again.
func TestApproveIsIdempotent(t *testing.T) {
	f := at("approve")
	f.Outputs = []advance.Output{noted("x")}
	first, err := approve(t, f, advance.Decision{Word: event.Approved, Actor: person, Reason: "one"})
	if err != nil {
		t.Fatal(err)
	}
	f.Outputs, f.Approvals = append(f.Outputs, approval(t, first)), 1
	if again, err := approve(t, f, advance.Decision{Word: event.Approved, Actor: person, Reason: "two"}); err != nil ||
		len(again.Events) > 0 || len(again.Objects) > 0 {
		t.Fatalf("%+v, %v", again, err)
	}
	if got := advance.ApprovalComment(f.Outputs); got != "one" {
		t.Error(got)
	}
	at := reason.WorkflowStep("approve")
	f.OpenGaps = []advance.OpenGap{{ID: id.FromStart(root).Gap(0), Reason: reason.NeedsApproval, Pointer: &at,
		Severity: event.Critical}}
	if again, err := approve(t, f, advance.Decision{Word: event.Approved, Actor: person}); err != nil || len(again.Events) != 3 {
		t.Fatalf("the open gap was not resolved: %+v, %v", again, err)
	}
}

func TestOutputsThatInvalidateAnApproval(t *testing.T) {
	f := stored(t, at("approve"))
	f.Outputs = []advance.Output{noted("the plan"), held(1, artifact("report", "1")), held(2, artifact("", "2"))}
	plan, err := approve(t, f, advance.Decision{Word: event.Approved, Actor: person})
	if err != nil {
		t.Fatal(err)
	}
	o, ref := approval(t, plan), f.SnapshotRef
	elsewhere := stored(t, at("plain")).SnapshotRef
	unkinded := o
	unkinded.Payload.ArtifactKind = "" // an attempt may send the same content without the kind
	long := noted(strings.Repeat("x", limits.NotesBytesMax+1))
	for name, tc := range map[string]struct {
		key     string
		ref     canon.Digest
		outputs []advance.Output
		want    bool
	}{
		"the same":             {"approve", ref, append([]advance.Output{o}, f.Outputs...), true},
		"in another order":     {"approve", ref, []advance.Output{f.Outputs[2], o, f.Outputs[1], f.Outputs[0]}, true},
		"without the approval": {"approve", ref, f.Outputs, false},
		"of another step":      {"plain", ref, append([]advance.Output{o}, f.Outputs...), false},
		"at another snapshot":  {"approve", elsewhere, append([]advance.Output{o}, f.Outputs...), false},
		"other notes": {"approve", ref, []advance.Output{o, noted("another"), f.Outputs[1], f.Outputs[2]},
			false},
		"notes missing": {"approve", ref, []advance.Output{o, f.Outputs[1], f.Outputs[2]}, false},
		"another artifact": {"approve", ref,
			[]advance.Output{o, f.Outputs[0], held(3, artifact("report", "other")), f.Outputs[2]}, false},
		"one more artifact": {"approve", ref, append([]advance.Output{o, held(3, artifact("extra", "1"))},
			f.Outputs...), false},
		"the same one twice":     {"approve", ref, append([]advance.Output{o, f.Outputs[1]}, f.Outputs...), false},
		"not an approval's kind": {"approve", ref, append([]advance.Output{unkinded}, f.Outputs...), false},
		"notes over their size":  {"approve", ref, append([]advance.Output{o, long}, f.Outputs[1:]...), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := advance.IsApproved(advance.Judge([]compile.Approval{{}}, tc.key, tc.ref, tc.outputs, 0, nil)); got != tc.want {
				t.Error(got)
			}
		})
	}
}

// TestApprovalIsValidForExactlyItsOutputs: an approval of one list of outputs is valid for
// another if and only if their contents are equal.
func TestApprovalIsValidForExactlyItsOutputs(t *testing.T) {
	ref, w := stored(t, at("approve")).SnapshotRef, compiled(t)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (out []advance.Output, spelled string) {
			picked := rapid.SliceOfNDistinct(rapid.IntRange(0, 4), 0, 4, rapid.ID[int]).Draw(t, name)
			in := [5]bool{}
			for _, n := range picked {
				in[n] = true
				if n == 0 {
					out = append(out, noted("n"))
				} else {
					out = append(out, held(n, artifact([]string{"a", "b"}[n%2], []string{"1", "2"}[n/3])))
				}
			}
			for n, there := range in {
				if there {
					spelled += string(rune('0' + n))
				}
			}
			return out, spelled
		}
		one, oneSpelled := draw("one")
		two, twoSpelled := draw("two")
		f := at("approve")
		f.SnapshotRef, f.Outputs = ref, one
		plan, err := advance.DecideStep(w, f, advance.Decision{Word: event.Approved, Actor: person})
		if err != nil {
			t.Fatal(err)
		}
		two = append(two, decided(plan)...)
		if got := advance.IsApproved(advance.Judge([]compile.Approval{{}}, "approve", ref, two, 0, nil)); got != (oneSpelled == twoSpelled) {
			t.Fatalf("approved %q, found %q: %v", oneSpelled, twoSpelled, got)
		}
	})
}

func TestApprovalsThatAreRefused(t *testing.T) {
	done := at("approve")
	done.State = snapshot.Done()
	for name, tc := range map[string]struct {
		facts advance.Facts
		by    event.Actor
		want  string
		code  fault.Code
	}{
		"an agent":        {at("approve"), agent, "person", fault.RunWaiting},
		"another step":    {at("plain"), person, `"plain" (Plain)`, fault.ValidationError},
		"nothing pending": {done, person, "no step is pending", fault.ValidationError},
		"an unknown step": {at("other"), person, `"other"`, fault.Invariant},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := approve(t, tc.facts, advance.Decision{Word: event.Approved, Actor: tc.by})
			if !fault.Is(err, tc.code) || !strings.Contains(err.Error(), tc.want) ||
				fault.Of(err).Suggestion.String() == "" {
				t.Fatal(err)
			}
		})
	}
	for _, comment := range []string{"\xff", strings.Repeat("x", limits.NotesBytesMax+1)} {
		if _, err := approve(t, at("approve"), advance.Decision{Word: event.Approved, Actor: person, Reason: comment}); !fault.Is(err,
			fault.ValidationError) {
			t.Error(err)
		}
	}
}

// TestApprovedAttemptAdvances with the approved outputs, and with no others.
func TestApprovedAttemptAdvances(t *testing.T) {
	f := stored(t, at("approve"))
	f.Outputs = []advance.Output{held(1, artifact("report", "1"))}
	plan, err := approve(t, f, advance.Decision{Word: event.Approved, Actor: person})
	if err != nil {
		t.Fatal(err)
	}
	f.Outputs, f.Approvals = append(f.Outputs, approval(t, plan)), 1
	for name, tc := range map[string]struct {
		req  advance.Request
		want event.OutcomeKind
	}{
		"nothing new":    {advance.Request{}, event.Advanced},
		"the same bytes": {advance.Request{Artifacts: []advance.Artifact{artifact("report", "1")}}, event.Advanced},
		"other bytes":    {advance.Request{Artifacts: []advance.Artifact{artifact("report", "2")}}, event.Blocked},
		"notes":          {advance.Request{Notes: "and this"}, event.Blocked},
	} {
		if got := outcome(t, f, tc.req).Kind; got != tc.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// decided returns the outputs of a plan as they are held afterwards.
func decided(plan manifest.Plan) (out []advance.Output) {
	for _, e := range plan.Events {
		p, ok := e.Data.(event.NodeOutputAppended)
		if !ok {
			continue
		}
		o := advance.Output{ID: p.OutputID, Payload: p.Payload}
		if p.Payload.ArtifactKind == event.DecisionKind {
			o.Decision = p.Decision
		}
		for _, object := range plan.Objects {
			if canon.Sum(object.Bytes) == p.Payload.SHA256 {
				o.JSON, _ = canon.Parse(object.Bytes)
			}
		}
		out = append(out, o)
	}
	return out
}
