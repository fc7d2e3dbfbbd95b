package advance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

const workflowText = `{"id":"test.decide","name":"Decide","description":"d","version":"1.0.0","steps":[
 {"id":"plain","title":"Plain","prompt":"p"},
 {"id":"skipped","title":"Skipped","prompt":"p","runCondition":{"var":"deep","equals":true}},
 {"id":"command","title":"Command","action":{"kind":"command","argv":["true"]}},
 {"id":"choice","title":"Choice","prompt":"p","inputs":[{"contextKey":"target","reason":"needs_user_choice","choiceKind":"scope_boundary","choices":["a","b"],"description":"where to"}]},
 {"id":"approve","title":"Approve","prompt":"p","requireConfirmation":{"kind":"human_approval"}},
 {"id":"noted","title":"Noted","prompt":"p","notesRequired":true},
 {"id":"judged","title":"Judged","prompt":"p","validationCriteria":{"and":[{"type":"contains","value":"Finding","message":"list findings"},{"type":"length","min":20,"message":"say more"}]}}]}`

var (
	session = id.NewSession(id.Seed{1})
	run     = id.NewRun(id.Seed{2})
	root    = id.RootNode(run)
	agent   = event.Actor{Kind: event.Agent, Ref: "tester"}
)

func compiled(t testing.TB) compile.Compiled {
	t.Helper()
	_, w, problems := compile.File("test.json", source.SourceProject, []byte(workflowText))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	return w
}

// at returns the facts of a node with a pending step and no other records.
func at(stepID string) advance.Facts {
	return advance.Facts{Session: session, Run: run, Node: root, Next: 7, State: snapshot.At(stepID, nil, nil),
		Preferences: event.DefaultPreferences(), Context: canon.OfMembers()}
}

func decide(t testing.TB, f advance.Facts, r advance.Request) (manifest.Plan, error) {
	t.Helper()
	decided, err := advance.Decide(compiled(t), f, advance.Attempt{ID: id.NextAttempt(root, id.OpAck, 0), Request: r,
		Actor: agent, AtMs: 99})
	plan := decided.Plan
	if err == nil {
		// Every plan must be storable: none may fail when it is appended.
		if _, err := manifest.EncodeSegment(plan.Log, plan.Events); err != nil {
			t.Fatal(err)
		}
	}
	return plan, err
}

func outcome(t testing.TB, f advance.Facts, r advance.Request) event.AdvanceOutcome {
	t.Helper()
	plan, err := decide(t, f, r)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Events[0].Data.(event.AdvanceRecorded).Outcome
}

func kinds(p manifest.Plan) []string {
	var out []string
	for _, e := range p.Events {
		out = append(out, e.Data.Kind())
	}
	return out
}

func result(argv string, exit int64) canon.Value {
	v, err := canon.ValueOf(command.Result{ArgvDigest: command.ArgvDigest(source.Action{Argv: []string{argv}}),
		ExitStatus: exit,
		Kind:       command.Kind, OutputDigest: canon.Sum(nil), Tries: 1})
	if err != nil {
		panic(err)
	}
	return v
}

func TestSegmentEventOrder(t *testing.T) {
	f := at("plain")
	gap := id.FromAttempt(id.NextAttempt(root, id.OpAck, 9), id.OpAck).Gap(0)
	f.OpenGaps = []advance.OpenGap{{ID: gap, Reason: reason.MissingOutput, Severity: event.Critical}}
	full := advance.Request{Notes: "n", Context: canon.OfMembers(canon.Member{Name: "k", Value: canon.OfInt(1)}),
		Artifacts: []advance.Artifact{advance.JSONArtifact(canon.OfString("b")),
			{ContentType: "text/plain", Bytes: []byte("x")}},
		Preferences: []event.PreferenceChange{{Key: "riskPolicy", Value: "balanced"}}}
	plan, err := decide(t, f, full)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"advance_recorded", "context_set", "decision_trace_appended", "gap_recorded",
		"preferences_changed",
		"node_created", "edge_created", "node_output_appended", "node_output_appended", "node_output_appended"}
	if got := kinds(plan); !slices.Equal(got, want) {
		t.Fatalf("advanced:\n got %v\nwant %v", got, want)
	}
	first, second := plan.Events[8].Data.(event.NodeOutputAppended), plan.Events[9].Data.(event.NodeOutputAppended)
	if first.Payload.SHA256.String() >= second.Payload.SHA256.String() {
		t.Error("artifacts are not sorted by digest")
	}
	if plan.Events[0].Index != 7 || plan.Events[9].Index != 16 {
		t.Error("events are not numbered from the next index on")
	}
	blocked, err := decide(t, at("choice"), full)
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"advance_recorded", "context_set", "gap_recorded", "preferences_changed",
		"node_output_appended", "node_output_appended", "node_output_appended"}
	if got := kinds(blocked); !slices.Equal(got, want) {
		t.Fatalf("blocked:\n got %v\nwant %v", got, want)
	}
}

func TestActorsOfEvents(t *testing.T) {
	plan, err := decide(t, at("plain"), advance.Request{Notes: "n"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range plan.Events {
		callers := e.Data.Kind() == "advance_recorded" || e.Data.Kind() == "node_output_appended"
		if callers != (e.Actor == agent) || !callers && e.Actor.Kind != event.Engine {
			t.Errorf("%s is by %+v", e.Data.Kind(), e.Actor)
		}
		if e.TimestampMs != 99 {
			t.Errorf("%s is of %d", e.Data.Kind(), e.TimestampMs)
		}
	}
}

func TestStepSelectionAndTrace(t *testing.T) {
	pick := func(deep bool) (string, int) {
		f := at("plain")
		plan, err := decide(t, f,
			advance.Request{Context: canon.OfMembers(canon.Member{Name: "deep", Value: canon.OfBool(deep)})})
		if err != nil {
			t.Fatal(err)
		}
		s, err := snapshot.Decode(plan.Objects[0].Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(s.CompletedKeys(), "plain") {
			t.Fatal("the left step is not completed:", s.CompletedKeys())
		}
		return s.PendingStep().StepID, len(plan.Events[2].Data.(event.DecisionTraceAppended).Entries)
	}
	// The delta of the attempt itself counts for the selection.
	if step, entries := pick(true); step != "skipped" || entries != 2 {
		t.Errorf("condition holds: %s, %d trace entries", step, entries)
	}
	if step, entries := pick(false); step != "command" || entries != 2 {
		t.Errorf("condition does not hold: %s, %d trace entries", step, entries)
	}
}

func TestBlockersAndReasons(t *testing.T) {
	approve := advance.Request{Notes: "go"}
	for name, tc := range map[string]struct {
		step   string
		req    advance.Request
		code   reason.BlockerCode
		reason reason.Code
		at     reason.Pointer
	}{
		"command without result": {"command", advance.Request{Notes: "did it"}, reason.BlockerMissingOutput,
			reason.MissingOutput, reason.WorkflowStep("command")},
		"failed command": {"command",
			advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(result("true", 3))}},
			reason.BlockerInvalidOutput, reason.InvalidOutput, reason.WorkflowStep("command")},
		"another command": {"command",
			advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(result("false", 0))}},
			reason.BlockerInvalidOutput, reason.InvalidOutput, reason.WorkflowStep("command")},
		"half a result": {"command", advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(canon.OfMembers(
			canon.Member{Name: "kind", Value: canon.OfString(command.Kind)}))}}, reason.BlockerInvalidOutput,
			reason.InvalidOutput, reason.WorkflowStep("command")},
		"missing input": {"choice", advance.Request{}, reason.BlockerUserOnly, reason.NeedsChoice,
			reason.ContextKey("target")},
		"approval": {"approve", approve, reason.BlockerUserOnly, reason.NeedsApproval,
			reason.WorkflowStep("approve")},
		"no notes": {"noted", advance.Request{Notes: " \n"}, reason.BlockerMissingOutput, reason.MissingOutput,
			reason.OutputContract(reason.NotesRef)},
		"no evidence": {"judged", advance.Request{}, reason.BlockerMissingOutput, reason.MissingOutput,
			reason.OutputContract(reason.CriteriaRef)},
		"wrong evidence": {"judged", advance.Request{Notes: "Finding 1"}, reason.BlockerInvalidOutput,
			reason.InvalidOutput, reason.OutputContract(reason.CriteriaRef)},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := decide(t, at(tc.step), tc.req)
			if err != nil {
				t.Fatal(err)
			}
			o := plan.Events[0].Data.(event.AdvanceRecorded).Outcome
			if o.Kind != event.Blocked || len(o.Blockers.Blockers) != 1 {
				t.Fatalf("%+v", o)
			}
			b := o.Blockers.Blockers[0]
			if b.Code != tc.code || b.Pointer != tc.at || b.SuggestedFix == "" {
				t.Errorf("blocker %+v", b)
			}
			i := slices.Index(kinds(plan), "gap_recorded")
			g := plan.Events[i].Data.(event.GapRecorded)
			if g.Reason != tc.reason || *g.Pointer != tc.at || g.Severity != event.Critical {
				t.Errorf("gap %+v", g)
			}
			if len(plan.Objects) != len(tc.req.Artifacts) || slices.Contains(kinds(plan), "node_created") {
				t.Error("a refused attempt creates a node")
			}
		})
	}
}

func TestEarlierOutputsSatisfyRequirements(t *testing.T) {
	ok, failed := advance.Output{ID: id.FromStart(root).Output(0), JSON: result("true", 0)},
		advance.Output{ID: id.FromStart(root).Output(1), JSON: result("true", 1)}
	f := at("command")
	f.Outputs = []advance.Output{ok}
	if o := outcome(t, f, advance.Request{}); o.Kind != event.Advanced {
		t.Error("a recorded result satisfies the step:", o.Blockers)
	}
	f.Outputs = []advance.Output{failed}
	if o := outcome(t, f, advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(result("true",
		0))}}); o.Kind != event.Advanced {
		t.Error("the attempt's own result supersedes a failed one:", o.Blockers)
	}
	f = at("judged")
	f.Notes = "Finding 1: all is well here"
	if o := outcome(t, f, advance.Request{}); o.Kind != event.Advanced {
		t.Error("recorded notes satisfy the criteria:", o.Blockers)
	}
	if o := outcome(t, f, advance.Request{Notes: "no"}); o.Kind != event.Blocked {
		t.Error("new notes replace the recorded ones")
	}
}

func TestOutputsReferToSupersededOutputs(t *testing.T) {
	recap, report, other := id.FromStart(root).Output(0), id.FromStart(root).Output(1), id.FromStart(root).Output(2)
	f := at("plain")
	f.Outputs = []advance.Output{
		{ID: recap, Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: "old"}},
		{ID: report, Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: "report"}},
		{ID: other, Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: "other"}}}
	kind := canon.OfMembers(canon.Member{Name: "kind", Value: canon.OfString("report")})
	plan, err := decide(t, f, advance.Request{Notes: "new", Artifacts: []advance.Artifact{advance.JSONArtifact(kind),
		advance.JSONArtifact(kind)}})
	if err != nil {
		t.Fatal(err)
	}
	var got []id.Output
	for _, e := range plan.Events {
		if o, ok := e.Data.(event.NodeOutputAppended); ok {
			got = append(got, *o.SupersedesOutputID)
		}
	}
	if !slices.Equal(got, []id.Output{recap, report}) {
		t.Fatalf("superseded %v; two equal artifacts count once", got)
	}
}

func TestAttemptFromNodeWithChild(t *testing.T) {
	for left, want := range map[bool]event.CauseKind{false: event.IntentionalFork, true: event.NonTipAdvance} {
		f := at("plain")
		f.HasChild = left
		plan, err := decide(t, f, advance.Request{})
		if err != nil {
			t.Fatal(err)
		}
		edge := plan.Events[slices.Index(kinds(plan), "edge_created")].Data.(event.EdgeCreated)
		if edge.Cause.Kind != want || edge.Cause.EventID != plan.Events[0].ID {
			t.Errorf("left before %v: cause %+v", left, edge.Cause)
		}
		trace := plan.Events[1].Data.(event.DecisionTraceAppended)
		if (trace.Entries[0].Kind == event.DetectedNonTipAdvance) != left {
			t.Errorf("left before %v: trace %+v", left, trace.Entries)
		}
	}
}

func TestNotesAreTruncatedWithTheMarker(t *testing.T) {
	for n, cut := range map[int]bool{limits.NotesBytesMax: false, limits.NotesBytesMax + 1: true} {
		plan, err := decide(t, at("plain"), advance.Request{Notes: strings.Repeat("x", n)})
		if err != nil {
			t.Fatal(err)
		}
		recap := slices.Index(kinds(plan), "node_output_appended")
		got := plan.Events[recap].Data.(event.NodeOutputAppended).Payload.NotesMarkdown
		if len(got) != limits.NotesBytesMax || strings.HasSuffix(got, limits.TruncationMarker) != cut {
			t.Errorf("%d bytes of notes became %d, marker %v", n, len(got), !cut)
		}
	}
}

func TestRefusalsRecordNothing(t *testing.T) {
	big := canon.OfMembers(canon.Member{Name: "k", Value: canon.OfString(strings.Repeat("x", limits.ContextBytesMax))})
	half := canon.OfMembers(canon.Member{Name: "k",
		Value: canon.OfString(strings.Repeat("x", limits.ContextBytesMax-100))})
	full := at("plain")
	full.Context = half
	done := at("plain")
	done.State = snapshot.Done()
	approval := canon.OfMembers(canon.Member{Name: "kind", Value: canon.OfString(advance.ApprovalKind)})
	for name, tc := range map[string]struct {
		facts advance.Facts
		req   advance.Request
		want  string
	}{
		"context over budget": {at("plain"), advance.Request{Context: big}, "262152"},
		"merged over budget": {full,
			advance.Request{Context: canon.OfMembers(canon.Member{Name: "l",
				Value: canon.OfString(strings.Repeat("y", 200))})}, "RFC 8785"},
		"context is a list": {at("plain"), advance.Request{Context: canon.OfList()}, "want an object"},
		"reserved key": {at("plain"),
			advance.Request{Context: canon.OfMembers(canon.Member{Name: "__proto__", Value: canon.OfInt(1)})},
			"reserved"},
		"complete": {done, advance.Request{}, "complete"},
		"approval by another way": {at("plain"),
			advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(approval)}}, "waybill approve"},
		"empty artifact": {at("plain"),
			advance.Request{Artifacts: []advance.Artifact{{ContentType: "text/plain"}}}, "empty"},
		"no content type": {at("plain"), advance.Request{Artifacts: []advance.Artifact{{Bytes: []byte("x")}}},
			"type/subtype"},
		"odd content type": {at("plain"),
			advance.Request{Artifacts: []advance.Artifact{{ContentType: "text/\xff", Bytes: []byte("x")}}},
			"type/subtype"},
		"unknown preference": {at("plain"),
			advance.Request{Preferences: []event.PreferenceChange{{Key: "mood", Value: "good"}}}, "mood"},
		"preference twice": {at("plain"),
			advance.Request{Preferences: []event.PreferenceChange{{Key: "autonomy", Value: "guided"},
				{Key: "autonomy", Value: "guided"}}}, "twice"},
		"bad UTF-8": {at("plain"), advance.Request{Notes: "\xff"}, "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := decide(t, tc.facts, tc.req)
			if !fault.Is(err, fault.ValidationError) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("want VALIDATION_ERROR with %q, got %v", tc.want, err)
			}
			if len(plan.Events) > 0 {
				t.Error("a refusal plans events")
			}
		})
	}
}

func TestSameInputsSameEvents(t *testing.T) {
	req := advance.Request{Notes: "n", Context: canon.OfMembers(canon.Member{Name: "k", Value: canon.OfInt(1)})}
	a, _ := decide(t, at("plain"), req)
	b, _ := decide(t, at("plain"), req)
	one, _ := manifest.EncodeSegment(a.Log, a.Events)
	two, _ := manifest.EncodeSegment(b.Log, b.Events)
	if string(one.Bytes) != string(two.Bytes) {
		t.Fatal("a re-executed attempt does not reproduce the log")
	}
}

func TestRequestDigest(t *testing.T) {
	// The digest of a request is part of the format: absent parts are left out.
	if got := (advance.Request{}).Digest(); got != canon.Sum([]byte("{}")) {
		t.Error("an empty request:", got)
	}
	full := advance.Request{Notes: "n", Context: canon.OfMembers(canon.Member{Name: "k", Value: canon.OfInt(1)}),
		Artifacts:   []advance.Artifact{advance.JSONArtifact(canon.OfInt(7))},
		Preferences: []event.PreferenceChange{{Key: "autonomy", Value: "guided"}}}
	want := `{"artifacts":[7],"context":{"k":1},"notesMarkdown":"n","preferences":{"autonomy":"guided"}}`
	if got := full.Digest(); got != canon.Sum([]byte(want)) {
		t.Error("a full request:", got)
	}
}

// TestPlaceholdersAreRefused: the placeholder of a prepared call must not be accepted as
// notes.
func TestPlaceholdersAreRefused(t *testing.T) {
	for pointer, r := range map[string]advance.Request{
		"/output/notesMarkdown": {Notes: " …\n"},
		"/context/b~1c": {Context: canon.OfMembers(canon.Member{Name: "a", Value: canon.OfInt(1)},
			canon.Member{Name: "b/c", Value: canon.OfString(advance.Placeholder)})},
	} {
		if err := r.Check(); !fault.Is(err, fault.ValidationError) || fault.Of(err).Details["pointer"] != pointer {
			t.Errorf("%+v: got %v", r, err)
		}
	}
	if err := (advance.Request{Notes: "Done … mostly",
		Context: canon.OfMembers(canon.Member{Name: "a", Value: canon.OfString("… and so on")})}).Check(); err != nil {
		t.Errorf("an ellipsis inside a text: %v", err)
	}
}
