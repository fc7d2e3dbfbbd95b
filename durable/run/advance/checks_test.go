package advance_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

const checksText = `{"id":"test.checks","name":"Checks","description":"d","version":"1.0.0","steps":[
 {"id":"verify","title":"Verify","prompt":"p","checks":[
  {"id":"unit","argv":["go","test"],"expect":{"exit":3}},{"id":"lint","argv":["lint"]}]},
 {"id":"approved","title":"Approved","prompt":"p","requireConfirmation":{"kind":"human_approval"},"checks":[
  {"id":"unit","argv":["go","test"]}]},
 {"id":"end","title":"End","prompt":"p"}]}`

// compiledChecks is the workflow above.
func compiledChecks(t *testing.T) compile.Compiled {
	t.Helper()
	_, w, problems := compile.File("test.json", source.SourceProject, []byte(checksText))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	return w
}

// passing is the result of a check of the step "verify" in an attempt.
func passing(attempt id.Attempt, checkID string) check.Result {
	r := check.Result{Kind: check.Kind, AttemptID: attempt, CheckID: checkID, StepInstanceKey: "verify",
		OutputDigest: canon.Sum(nil), ArgvDigest: check.ArgvDigest(source.Check{Argv: []string{"lint"}})}
	if checkID == "unit" {
		r.Exit, r.ArgvDigest = 3, check.ArgvDigest(source.Check{Argv: []string{"go", "test"}})
	}
	return r
}

// artifactOf is a result as it is sent.
func artifactOf(t *testing.T, r any) advance.Artifact {
	t.Helper()
	v, err := canon.ValueOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return advance.JSONArtifact(v)
}

// TestChecksDecide: an attempt needs a passing result of each check, of this attempt and step, in every
// mode.
func TestChecksDecide(t *testing.T) {
	w := compiledChecks(t)
	mine, other := id.NextAttempt(root, id.OpAck, 0), id.NextAttempt(root, id.OpAck, 9)
	edit := func(r check.Result, change func(*check.Result)) check.Result {
		change(&r)
		return r
	}
	unit, lint := passing(mine, "unit"), passing(mine, "lint")
	for _, row := range []struct {
		name string
		sent []check.Result
		want []string // the blocked checks with a part of the message
	}{
		{"both", []check.Result{unit, lint}, nil},
		{"in any order", []check.Result{lint, unit}, nil},
		{"none", nil, []string{"lint: has no result of this attempt", "unit: has no result of this attempt"}},
		{"one", []check.Result{unit}, []string{"lint: has no result of this attempt"}},
		{"of an earlier attempt", []check.Result{passing(other, "unit"), lint}, []string{"unit: has no result of this attempt"}},
		{"of another step", []check.Result{edit(unit, func(r *check.Result) { r.StepInstanceKey = "end" }), lint},
			[]string{"unit: has no result of this attempt"}},
		{"twice", []check.Result{unit, edit(unit, func(r *check.Result) { r.DurationMs = 5 }), lint},
			[]string{"unit: has no result of this attempt"}},
		{"another command", []check.Result{edit(unit, func(r *check.Result) { r.ArgvDigest = lint.ArgvDigest }), lint},
			[]string{"unit: has the result of another command"}},
		{"another status", []check.Result{edit(unit, func(r *check.Result) { r.Exit = 0 }), lint},
			[]string{"unit: exited with status 0, want 3"}},
		{"both fail", []check.Result{edit(unit, func(r *check.Result) { r.Exit = 1 }), edit(lint, func(r *check.Result) { r.Exit = 1 })},
			[]string{"lint: exited with status 1, want 0", "unit: exited with status 1, want 3"}},
		{"changed", []check.Result{edit(unit, func(r *check.Result) { r.Changed, r.Exit, r.Failure = []string{"a_test.go"}, -1, "x" }), lint},
			[]string{"unit: \"a_test.go\" is not as it was"}},
		{"changed while it ran", []check.Result{edit(unit, func(r *check.Result) { r.Changed = []string{"a_test.go"} }), lint},
			[]string{"unit: \"a_test.go\" was changed while it ran"}},
		{"of no form", []check.Result{edit(unit, func(r *check.Result) { r.DurationMs = -1 }), lint},
			[]string{"unit: has no result of this attempt"}},
	} {
		for _, mode := range []event.Autonomy{event.Guided, event.FullAutoStopOnUserDeps, event.FullAutoNeverStop} {
			t.Run(row.name+"/"+string(mode), func(t *testing.T) {
				f := advance.Facts{Session: session, Run: run, Node: root, Next: 7, State: snapshot.At("verify", nil, nil),
					Preferences: event.DefaultPreferences(), Context: canon.OfMembers()}
				f.Preferences.Autonomy = mode
				request := advance.Request{Notes: "done"}
				for _, r := range row.sent {
					request.Artifacts = append(request.Artifacts, artifactOf(t, r))
				}
				d, err := advance.Decide(w, f, advance.Attempt{ID: mine, Request: request, AtMs: 1, Performed: true})
				if err != nil {
					t.Fatal(err)
				}
				checkBlocked(t, d.Events[0].Data.(event.AdvanceRecorded).Outcome, row.want)
			})
		}
	}
}

// checkBlocked compares the blockers of an outcome with "check: part of the message"; none advances.
func checkBlocked(t *testing.T, o event.AdvanceOutcome, want []string) {
	t.Helper()
	var blockers []reason.Blocker
	if o.Blockers != nil {
		blockers = o.Blockers.Blockers
	}
	if len(blockers) != len(want) {
		t.Fatalf("%+v, want %q", blockers, want)
	}
	for i, b := range blockers {
		name, part, _ := strings.Cut(want[i], ": ")
		if b.Code != reason.BlockerInvalidOutput || b.Pointer != reason.WorkflowStep("verify") || b.Check == nil ||
			b.Check.ID != name || b.Check.OutputTail != nil || !strings.Contains(b.Message, part) {
			t.Errorf("%+v with %+v, want %s", b, b.Check, want[i])
		}
	}
}

// TestChecksAreNotTheCallers: a result of a check is no part of the request's digest, of the number of
// artifacts that a caller may send, and of what people approve.
func TestChecksAreNotTheCallers(t *testing.T) {
	mine := id.NextAttempt(root, id.OpAck, 0)
	result := artifactOf(t, passing(mine, "unit"))
	request := advance.Request{Notes: "n"}
	for i := range 64 {
		request.Artifacts = append(request.Artifacts, advance.JSONArtifact(canon.OfInt(int64(i))))
	}
	with := request
	with.Artifacts = append(with.Artifacts[:len(with.Artifacts):len(with.Artifacts)], result)
	if request.Digest() != with.Digest() || with.Check() != nil {
		t.Errorf("the digest differs, or %v", with.Check())
	}
	f := advance.Facts{State: snapshot.At("approved", nil, nil), Node: root}
	before := advance.ApprovalDigest(f)
	f.Outputs = []advance.Output{{JSON: result.JSON, Payload: event.OutputPayload{PayloadKind: event.ArtifactRef,
		ArtifactKind: check.Kind, ContentType: result.ContentType, SHA256: canon.Sum(result.Bytes)}}}
	if advance.ApprovalDigest(f) != before {
		t.Error("a decision is bound to the result of a check")
	}
}
