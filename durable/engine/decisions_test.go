package engine_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/projections/runs"
)

// deciding is a workflow whose first step has a rule, given as the members after the kind.
func deciding(rule string) string {
	return strings.Replace(approving, `"kind":"human_approval"`, `"kind":"human_approval"`+rule, 1)
}

const threeReviewers = `{"ada":{"roles":["reviewer"],"uid":1},"bob":{"roles":["reviewer"],"uid":2},"eve":{"roles":["reviewer"],"uid":3},` +
	`"zoe":{"roles":["writer"],"uid":4}}`

// office is a fixture with an audit log, whose store has people.
func office(t *testing.T, principals string) *fixture {
	w := newCleanupFixture(t)
	if principals != "" {
		must(t, w.g.Set(context.Background(), "principals", principals))
	}
	return w
}

// as is a caller at a terminal with an account and a label, which is never the name of a principal.
func (w *fixture) as(uid int) engine.Caller {
	by := w.person("label")
	by.Account = config.AccountOf(uid)
	return by
}

// decide shows what a step holds to the person of an account, who decides.
func (w *fixture) decide(uid int, a engine.Answer, word event.DecisionWord, reason string) (engine.Answer, error) {
	shown, err := w.g.Approvable(context.Background(), w.as(uid), a.Position())
	if err != nil {
		return engine.Answer{}, err
	}
	return w.g.Decide(context.Background(), w.as(uid), shown, word, reason)
}

func (w *fixture) mustDecide(uid int, a engine.Answer, word event.DecisionWord, reason string) engine.Answer {
	w.Helper()
	out, err := w.decide(uid, a, word, reason)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// refused decides as a person who is refused: nothing is recorded but the refusal in the audit log.
func (w *fixture) refused(uid int, a engine.Answer, word event.DecisionWord, code fault.Code, says string) {
	w.Helper()
	n := w.events(a)
	_, err := w.decide(uid, a, word, "because")
	if !fault.Is(err, code) || !strings.Contains(err.Error(), says) || w.events(a) != n {
		w.Fatalf("%v, %d events more", err, w.events(a)-n)
	}
	list, err := w.g.AuditList(context.Background(), verify.AuditQuery{Limit: 1})
	must(w.T, err)
	last := list.Entries[len(list.Entries)-1]
	want := map[event.DecisionWord]audit.Action{event.Approved: audit.Approve, event.SentBack: audit.SendBack, event.Denied: audit.Deny}[word]
	if last.Action != want || last.Outcome != audit.Failed || last.Code != string(code) || last.Target.ID != a.Session.RunID.String() ||
		last.Details["nodeId"] != a.NodeID.String() {
		w.Fatalf("the audit log has %+v", last)
	}
}

// from makes an attempt from an account.
func (w *fixture) from(uid int, a engine.Answer, req advance.Request) engine.Answer {
	w.Helper()
	by := w.by()
	by.Account = config.AccountOf(uid)
	out, err := w.g.Continue(context.Background(), by, engine.Continue{StateToken: a.StateToken, AckToken: a.AckToken, Request: req})
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// blocked checks that an answer is blocked for the approval alone.
func (w *fixture) blocked(a engine.Answer) engine.Answer {
	w.Helper()
	if a.Kind() != "blocked" || len(a.Blockers) != 1 || a.Pending.StepID != "plan" {
		w.Fatalf("%+v", a.Blockers)
	}
	return a
}

// sane checks that a session is valid and that each operation is decided again in the same way.
func (w *fixture) sane(a engine.Answer) {
	w.Helper()
	v, err := w.process().VerifySession(context.Background(), a.Session.RunID.String())
	if err != nil || !v.OK || len(v.Findings) > 0 {
		w.Errorf("%+v, %v", v.Findings, err)
	}
	w.replays(a.Position())
}

// TestDecisionsOfTwoOfThree: two of three reviewers approve, one of them performed the step.
func TestDecisionsOfTwoOfThree(t *testing.T) {
	t.Parallel()
	w := office(t, threeReviewers)
	start := w.start(deciding(`,"approvers":["reviewer"],"count":2,"notPerformer":true`))
	a := w.blocked(w.from(1, start, note("the plan")))
	if x := a.Pending.Approval; x == nil || x.Needed != 2 || x.Given != 0 || !x.NotPerformer || !slices.Equal(x.Approvers, []string{"reviewer"}) {
		t.Errorf("%+v", a.Pending.Approval)
	}
	w.refused(1, a, event.Approved, fault.DecisionRefused, "handed in from this account")
	w.refused(4, a, event.Approved, fault.DecisionRefused, "none of the people")
	w.refused(9, a, event.Denied, fault.DecisionRefused, "none of the people")
	a = w.mustDecide(2, a, event.Approved, "first")
	if x := a.Pending.Approval; a.IsApproved() || x.Given != 1 || !slices.Equal(x.GivenBy, []string{"bob"}) || a.Status != runs.Blocked ||
		!strings.Contains(a.StillNeeded(), "1 more approval by another person") {
		t.Errorf("%+v, %s, %q", x, a.Status, a.StillNeeded())
	}
	w.refused(2, a, event.Approved, fault.DecisionRefused, "bob approved step \"plan\" already")
	a = w.blocked(w.from(1, a, advance.Request{}))
	a = w.mustDecide(3, a, event.Approved, "second")
	if !a.IsApproved() || a.Status != runs.InProgress {
		t.Errorf("%+v, %s", a.Pending.Approval, a.Status)
	}
	if b := w.from(1, a, advance.Request{}); b.Pending.StepID != "build" {
		t.Fatalf("%+v", b)
	}
	w.sane(start)
}

// TestDecisionsOfUnboundPeople: two approvals of accounts that are bound to no principal are not those
// of two people.
func TestDecisionsOfUnboundPeople(t *testing.T) {
	t.Parallel()
	w := office(t, "")
	a := w.blocked(w.from(1, w.start(deciding(`,"count":2`)), note("the plan")))
	w.refused(1, a, event.Approved, fault.PrincipalsUnbound, "no principal is bound to this account")
	w.mustDecide(1, a, event.Denied, "not by two people")
	w.sane(a)
}

// TestDecisionsWithoutOutputs: who performs a step that has no output does not approve it, neither before
// the attempt nor after it.
func TestDecisionsWithoutOutputs(t *testing.T) {
	t.Parallel()
	w := office(t, "")
	start := w.start(deciding(`,"notPerformer":true`))
	a := w.blocked(w.from(1, w.mustDecide(1, start, event.Approved, "before"), advance.Request{}))
	if a.IsApproved() {
		t.Error("the answer counts the approval of the one who performed")
	}
	w.refused(1, a, event.Approved, fault.DecisionRefused, "from this account")
	a = w.mustDecide(2, a, event.Approved, "")
	if b := w.from(1, a, advance.Request{}); b.Pending.StepID != "build" {
		t.Fatalf("%+v", b)
	}
	w.sane(start)
}

// TestDecisionsExpire between the first and the second approval.
func TestDecisionsExpire(t *testing.T) {
	t.Parallel()
	w := office(t, threeReviewers)
	const hour = 60 * 60 * 1000
	start := w.start(deciding(`,"count":2,"expiresAfter":"1h"`))
	a := w.mustDecide(1, w.blocked(w.from(4, start, note("the plan"))), event.Approved, "")
	if x := a.Pending.Approval; x.ExpiresAtMs != w.clock+hour {
		t.Errorf("%+v at %d", x, w.clock)
	}
	w.clock += hour
	a = w.mustDecide(2, a, event.Approved, "")
	if a.IsApproved() || a.Pending.Approval.Given != 1 {
		t.Errorf("%+v", a.Pending.Approval)
	}
	if a = w.blocked(w.from(4, a, advance.Request{})); !strings.Contains(a.Blockers[0].Message, "by ada counted for 1h only") {
		t.Error(a.Blockers[0].Message)
	}
	a = w.mustDecide(1, a, event.Approved, "")
	if b := w.from(4, a, advance.Request{}); b.Pending.StepID != "build" {
		t.Fatalf("%+v", b)
	}
	w.sane(start)
}

// TestDecisionsAboutOtherOutputs: the outputs change under the question; the step is left under it.
func TestDecisionsAboutOtherOutputs(t *testing.T) {
	t.Parallel()
	for _, word := range []event.DecisionWord{event.Approved, event.SentBack, event.Denied} {
		t.Run(string(word), func(t *testing.T) {
			w := office(t, "")
			ctx := context.Background()
			a := w.must(w.start(approving), note("plan A"))
			old, err := w.g.Approvable(ctx, w.as(1), a.Position())
			must(t, err)
			b := w.must(a, note("plan B"))
			n := w.events(a)
			if err := w.g.MayDecide(ctx, w.as(1), old, word); !fault.Is(err, fault.DecisionRefused) {
				t.Error(err)
			}
			if _, err := w.g.Decide(ctx, w.as(1), old, word, "why"); !fault.Is(err, fault.DecisionRefused) ||
				!strings.Contains(err.Error(), "have changed since they were shown") || w.events(a) != n {
				t.Fatal(err)
			}
			now, err := w.g.Approvable(ctx, w.as(1), b.Position())
			must(t, err)
			w.must(w.mustApprove(b, ""), advance.Request{})
			if _, err := w.g.Decide(ctx, w.as(1), now, word, "why"); !fault.Is(err, fault.DecisionRefused) {
				t.Fatal("the step was left under the question:", err)
			}
			action := map[event.DecisionWord]string{event.Approved: "approve", event.SentBack: "send_back", event.Denied: "deny"}[word]
			if got := w.auditTrail(); got != action+"! approve "+action+"!" {
				t.Error(got)
			}
		})
	}
}

// TestDecisionsAreFacts: who, when, why and what was shown is in the run, in its timeline and in the audit log.
func TestDecisionsAreFacts(t *testing.T) {
	t.Parallel()
	w := office(t, threeReviewers)
	ctx := context.Background()
	a := w.blocked(w.from(4, w.start(approving), note("plan A")))
	w.mustDecide(1, a, event.SentBack, "No way back, and sk-canary0123456789")
	sentAt := w.clock
	a = w.blocked(w.from(4, a, note("plan B")))
	w.mustDecide(2, a, event.Approved, "better")
	a = w.from(4, a, advance.Request{})
	details, err := w.process().Run(ctx, a.Session.RunID.String())
	must(t, err)
	if len(details.Decisions) != 2 {
		t.Fatalf("%+v", details.Decisions)
	}
	sent, ok := details.Decisions[0], details.Decisions[1]
	if sent.Decision != event.SentBack || sent.By != "ada" || sent.AtMs != sentAt || sent.Reason != "No way back, and [REDACTED:secret_key]" ||
		sent.ShownDigest.IsZero() || sent.StepID != "plan" || sent.SHA256.IsZero() || sent.Imported {
		t.Errorf("%+v", sent)
	}
	if ok.Decision != event.Approved || ok.By != "bob" || ok.Reason != "better" || ok.ShownDigest == sent.ShownDigest {
		t.Errorf("%+v", ok)
	}
	timeline, err := timelineOf(w.g, a.Session.RunID.String())
	must(t, err)
	text := ""
	for _, e := range timeline.Moments {
		text += e.Text + "\n"
	}
	if !strings.Contains(text, "sent back by ada") || !strings.Contains(text, "approved by bob") {
		t.Error(text)
	}
	list, err := w.g.AuditList(ctx, verify.AuditQuery{})
	must(t, err)
	var acts []string
	for _, e := range list.Entries {
		if e.Source != nil {
			acts = append(acts, string(e.Action)+" "+e.Details["by"]+": "+e.Reason)
			if e.Details["shownDigest"] == "" || e.Details["artifact"] == "" {
				t.Errorf("%+v", e)
			}
		}
	}
	if got := strings.Join(acts, "\n"); got != "send_back ada: No way back, and [REDACTED:secret_key]\napprove bob: better" {
		t.Error(got)
	}
	w.sane(a)
}

// TestDecisionsShowTheDifference to what was sent back, and who handed in what.
func TestDecisionsShowTheDifference(t *testing.T) {
	t.Parallel()
	w := office(t, "")
	ctx := context.Background()
	a := w.must(w.start(approving), advance.Request{Notes: "one\ntwo", Artifacts: []advance.Artifact{report("plan", "1")}})
	w.mustDecide(1, a, event.SentBack, "Say three")
	a = w.must(a, advance.Request{Notes: "one\nthree", Artifacts: []advance.Artifact{report("plan", "2")}})
	shown, err := w.g.Approvable(ctx, w.as(1), a.Position())
	must(t, err)
	text := strings.Join(shown.Changes, "\n")
	for _, want := range []string{"notes:", "-two", "+three", "plan:"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !slices.Equal(shown.Performers, []string{"agent"}) {
		t.Error(shown.Performers)
	}
	if q := shown.Question(); len(q.Decided) != 1 || !strings.Contains(q.Decided[0], "Say three") {
		t.Errorf("%+v", q)
	}
	// What was approved otherwise since is no reason to forget it.
	w.mustDecide(2, a, event.Approved, "")
	a = w.must(a, advance.Request{Notes: "one\ntwo", Artifacts: []advance.Artifact{report("plan", "1")}})
	if !a.SentBack() || !strings.Contains(a.Blockers[0].Message, "Say three") {
		t.Errorf("%+v", a.Blockers)
	}
}

// TestDecisionsErased: a decision whose content is gone ends the approvals before it; a new one counts.
func TestDecisionsErased(t *testing.T) {
	t.Parallel()
	w := office(t, threeReviewers)
	a := w.blocked(w.from(4, w.start(deciding(`,"count":2`)), note("the plan")))
	w.mustDecide(1, a, event.Approved, "")
	a = w.mustDecide(2, a, event.Approved, "")
	details, err := w.g.Run(context.Background(), a.Session.RunID.String())
	must(t, err)
	_, err = w.erase(details.Decisions[1].SHA256, "it held a secret")
	must(t, err)
	a = w.blocked(w.from(4, a, advance.Request{}))
	if !strings.Contains(a.Blockers[0].Message, "erased") {
		t.Error(a.Blockers[0].Message)
	}
	if details, err = w.g.Run(context.Background(), a.Session.RunID.String()); err != nil || len(details.Decisions) != 2 {
		t.Errorf("%+v, %v", details.Decisions, err)
	}
	w.mustDecide(1, a, event.Approved, "")
	a = w.mustDecide(3, a, event.Approved, "")
	if b := w.from(4, a, advance.Request{}); b.Pending.StepID != "build" {
		t.Fatalf("%+v", b)
	}
	v, err := w.process().VerifySession(context.Background(), a.Session.RunID.String())
	if err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
	if got, err := w.process().Replay(context.Background(), a.Position()); err != nil || !got.OK || len(got.Undecided) == 0 {
		t.Errorf("%+v, %+v, %v", got, got.Difference, err)
	}
}

// TestReplayOfEveryDecision: each log with decisions is decided again in the same way, also under new ids.
func TestReplayOfEveryDecision(t *testing.T) {
	t.Parallel()
	w := office(t, threeReviewers)
	start := w.start(deciding(`,"approvers":["reviewer"],"count":2,"expiresAfter":"1h","notPerformer":true`))
	a := w.blocked(w.from(1, start, note("plan A")))
	w.mustDecide(2, a, event.Approved, "")
	w.mustDecide(3, a, event.SentBack, "Too short")
	a = w.blocked(w.from(1, a, note("plan A")))
	a = w.blocked(w.from(1, a, note("plan B")))
	a = w.mustKeep(a, note("kept"))
	w.mustDecide(2, a, event.SentBack, "Too long")
	a = w.blocked(w.from(2, a, note("plan C")))
	w.mustDecide(1, a, event.Approved, "")
	w.clock += 3600_000
	a = w.blocked(w.from(2, a, advance.Request{}))
	w.mustDecide(1, a, event.Approved, "")
	w.mustDecide(3, a, event.Denied, "After all, no")
	w.sane(start)
	data := export(t, w.g, start.Session.SessionID, 1)
	to := newFixture(t)
	fresh := take(t, to.g, data, true)
	at := engine.Position{Session: fresh.SessionID, Run: fresh.Runs[0].RunID, Node: fresh.Runs[0].Tips[0].NodeID}
	to.replays(at)
	if v, err := to.g.Verify(context.Background()); err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestDecisionsImported are shown, and do not count; what is decided here counts, also what was sent back
// elsewhere.
func TestDecisionsImported(t *testing.T) {
	t.Parallel()
	w := office(t, threeReviewers)
	ctx := context.Background()
	a := w.blocked(w.from(4, w.start(deciding(`,"count":2`)), note("plan A")))
	w.mustDecide(1, a, event.SentBack, "Too short")
	a = w.blocked(w.from(4, a, note("plan B")))
	w.mustDecide(1, a, event.Approved, "")
	a = w.mustDecide(2, a, event.Approved, "")
	to := office(t, threeReviewers)
	to.seeds, to.clock = w.seeds, w.clock
	take(t, to.g, export(t, w.g, a.Session.SessionID, 1), false)
	details, err := to.g.Run(ctx, a.Session.RunID.String())
	must(t, err)
	if len(details.Decisions) != 3 || slices.ContainsFunc(details.Decisions, func(d views.DecisionRow) bool { return !d.Imported }) {
		t.Errorf("%+v", details.Decisions)
	}
	at, err := to.g.Locate(ctx, a.Session.RunID.String())
	must(t, err)
	here, err := to.g.Rehydrate(ctx, at)
	must(t, err)
	if here.IsApproved() || here.Pending.Approval.Given != 0 {
		t.Errorf("%+v", here.Pending.Approval)
	}
	here = to.blocked(to.from(4, here, advance.Request{}))
	to.mustDecide(1, here, event.Approved, "")
	here = to.mustDecide(3, here, event.Approved, "")
	if b := to.from(4, here, advance.Request{}); b.Pending.StepID != "build" {
		t.Fatalf("%+v", b)
	}
	if got := to.auditTrail(); strings.Count(got, "approve") != 2 || strings.Contains(got, "send_back") {
		t.Error("imported decisions are acts of this store:", got)
	}
	to.sane(here)
}

// TestDecisionsStayWithTheirRun: a fork from a node with a decision has none, and the source keeps its own.
func TestDecisionsStayWithTheirRun(t *testing.T) {
	t.Parallel()
	w := office(t, "")
	a := w.must(w.start(approving), note("plan A"))
	a = w.mustDecide(1, a, event.Approved, "")
	f := w.mustFork(a.Position(), "")
	if f.Pending.StepID != "plan" || f.IsApproved() {
		t.Fatalf("%+v", f.Pending)
	}
	f = w.blocked(w.must(f, note("plan A")))
	w.mustDecide(1, f, event.SentBack, "Not here")
	if b := w.must(a, advance.Request{}); b.Pending.StepID != "build" {
		t.Fatalf("%+v", b)
	}
	w.sane(a)
	w.sane(f)
}

// TestDecisionsRedacted: a bundle without the secrets in a reason and in a name is valid, and differs
// in nothing but what cannot be decided again.
func TestDecisionsRedacted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, label := range map[string]string{"short": "sk-canary0123456789", "long": strings.Repeat("sk-canary ", 12)} {
		t.Run(name, func(t *testing.T) {
			w := office(t, "")
			a := w.must(w.start(approving), note("plan A"))
			for i, word := range []event.DecisionWord{event.SentBack, event.Approved, event.Denied} {
				by := w.person(label)
				shown, err := w.g.Approvable(ctx, by, a.Position())
				must(t, err)
				if i == 1 {
					shown.Position = w.must(a, note("plan B")).Position()
					shown, err = w.g.Approvable(ctx, by, shown.Position)
					must(t, err)
				}
				_, err = w.g.Decide(ctx, by, shown, word, "x sk-canary0123456789")
				must(t, err)
			}
			var out bytes.Buffer
			_, err := w.g.Export(ctx, id.Seed{1}, travel.ExportRequest{Ref: a.Session.SessionID.String(), ExportedAt: "at 1", AppVersion: "1",
				Redact: true}, &out)
			if err != nil || strings.Contains(out.String(), "canary") {
				t.Fatalf("%v\n%.4000s", err, out.String())
			}
			to := newFixture(t)
			if got := take(t, to.g, out.Bytes(), false); got.Relation != travel.NewSession {
				t.Fatalf("%+v", got)
			}
			if v, err := to.g.Verify(ctx); err != nil || !v.OK {
				t.Errorf("%+v, %v", v, err)
			}
			details, err := to.g.Run(ctx, a.Session.RunID.String())
			if err != nil || len(details.Decisions) != 3 || !strings.Contains(details.Decisions[0].By, "[REDACTED:") {
				t.Errorf("%+v, %v", details.Decisions, err)
			}
			// A name that does not fit any more is cut in the event, and not in the artifact.
			if got, err := to.g.Replay(ctx, a.Position()); err != nil || got.OK != (name == "short") {
				t.Errorf("%+v, %+v, %v", got, got.Difference, err)
			}
		})
	}
}

// TestDecisionsHaveNoOtherDoor: an agent's artifact of the kinds of decisions is refused.
func TestDecisionsHaveNoOtherDoor(t *testing.T) {
	t.Parallel()
	w := office(t, "")
	a := w.must(w.start(approving), note("plan A"))
	w.mustDecide(1, a, event.Approved, "")
	all, _, err := w.process().Events(context.Background(), a.Session.RunID.String())
	must(t, err)
	n := len(all)
	for _, e := range all {
		o, ok := e.Data.(event.NodeOutputAppended)
		if !ok || o.Decision == nil {
			continue
		}
		data, err := w.g.Object(context.Background(), "artifact", o.Payload.SHA256)
		must(t, err)
		v, err := canon.Parse(data)
		must(t, err)
		forged := []advance.Artifact{advance.JSONArtifact(v), advance.JSONArtifact(set("kind", o.Payload.ArtifactKind))}
		for _, f := range forged {
			if _, err := w.next(a, advance.Request{Artifacts: []advance.Artifact{f}}); !fault.Is(err, fault.ValidationError) || w.events(a) != n {
				t.Errorf("%s: %v", o.Payload.ArtifactKind, err)
			}
			if _, err := w.keep(a, advance.Request{Artifacts: []advance.Artifact{f}}); !fault.Is(err, fault.ValidationError) {
				t.Errorf("%s in a checkpoint: %v", o.Payload.ArtifactKind, err)
			}
		}
	}
}

// TestDecisionsBySettingsInForce: a role that was taken away ends what its holder approved; nothing is
// recorded by the attempt.
func TestDecisionsBySettingsInForce(t *testing.T) {
	t.Parallel()
	w := office(t, threeReviewers)
	a := w.blocked(w.from(4, w.start(deciding(`,"approvers":["reviewer"]`)), note("plan A")))
	a = w.mustDecide(1, a, event.Approved, "")
	must(t, w.g.Set(context.Background(), "principals", strings.Replace(threeReviewers, "reviewer", "former", 1)))
	n := w.events(a)
	if _, err := w.next(a, advance.Request{}); !fault.Is(err, fault.RunWaiting) || w.events(a) != n {
		t.Fatal(err)
	}
	w.refused(1, a, event.Approved, fault.DecisionRefused, "none of the people")
	if shown, err := w.g.Approvable(context.Background(), w.as(2), a.Position()); err != nil || shown.Approved {
		t.Errorf("a person is not asked: %+v, %v", shown.Decisions, err)
	}
	a = w.mustDecide(2, a, event.Approved, "")
	if b := w.from(4, a, advance.Request{}); b.Pending.StepID != "build" {
		t.Fatalf("%+v", b)
	}
	w.sane(a)
}

// TestDeniedRunSaysWhy: an attempt at a denied run is refused with the words of the person.
func TestDeniedRunSaysWhy(t *testing.T) {
	t.Parallel()
	w := office(t, "")
	a := w.must(w.start(approving), note("plan A"))
	w.mustDecide(1, a, event.Denied, "The license does not allow it.")
	if _, err := w.next(a, note("plan B")); !fault.Is(err, fault.RunClosed) ||
		!strings.Contains(err.Error(), `"Denied by label: The license does not allow it."`) {
		t.Error(err)
	}
	w.sane(a)
}
