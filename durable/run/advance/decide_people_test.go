package advance_test

import (
	"fmt"
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
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// desk is a node with a step that people decide about, and its facts after each plan.
type desk struct {
	testing.TB
	w        compile.Compiled
	f        advance.Facts
	now      int64
	attempts int
}

// people of the tests, each with an account.
var (
	ada = advance.Person{Account: "uid:1", Principal: "ada"}
	bob = advance.Person{Account: "uid:2", Principal: "bob"}
	eve = advance.Person{Account: "uid:3", Principal: "eve"}
)

// newDesk returns a node at the step "plan" with a rule, given as the members after the kind.
func newDesk(t testing.TB, rule string) *desk {
	return deskOf(t, `{"id":"test.desk","name":"Desk","description":"d","version":"1.0.0","steps":[{"id":"plan","title":"Plan","prompt":"p",
		"requireConfirmation":{"kind":"human_approval"`+rule+`}},{"id":"build","title":"Build","prompt":"p"}]}`, snapshot.At("plan", nil, nil))
}

func deskOf(t testing.TB, workflow string, state snapshot.State) *desk {
	t.Helper()
	_, w, problems := compile.File("test.json", source.SourceProject, []byte(workflow))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	f := at("plan")
	f.State = state
	return &desk{TB: t, w: w, f: stored(t, f), now: 1000}
}

// attempt makes an attempt from an account and applies its plan.
func (d *desk) attempt(account config.Account, r advance.Request) event.AdvanceRecorded {
	d.Helper()
	plan, err := d.try(account, r)
	if err != nil {
		d.Fatal(err)
	}
	return plan.Events[0].Data.(event.AdvanceRecorded)
}

func (d *desk) try(account config.Account, r advance.Request) (manifest.Plan, error) {
	d.Helper()
	d.attempts++
	p, err := advance.Decide(d.w, d.f, advance.Attempt{ID: id.NextAttempt(root, id.OpAck, d.attempts), Request: r, Actor: agent,
		AtMs: d.now, Account: account})
	if err != nil {
		return p.Plan, err
	}
	recorded := p.Events[0].Data.(event.AdvanceRecorded)
	if recorded.Outcome.Kind == event.Blocked {
		d.apply(p.Plan)
		if sends := r.Notes != "" || len(r.Artifacts) > 0; recorded.Account != "" && (sends || !slices.ContainsFunc(d.f.Outputs,
			func(o advance.Output) bool { return !advance.IsDecision(o) })) {
			d.f.Performers = []config.Account{config.Account(recorded.Account)}
		}
	}
	return p.Plan, nil
}

// wantBlocked makes an attempt that is refused for the lack of an approval, and returns the message.
func (d *desk) wantBlocked(account config.Account, r advance.Request) string {
	d.Helper()
	o := d.attempt(account, r).Outcome
	if o.Kind != event.Blocked || len(o.Blockers.Blockers) != 1 || o.Blockers.Blockers[0].Code != reason.BlockerUserOnly ||
		o.Blockers.Blockers[0].Pointer != reason.WorkflowStep("plan") {
		d.Fatalf("%+v", o)
	}
	return o.Blockers.Blockers[0].Message
}

// wantAdvanced makes an attempt that is accepted.
func (d *desk) wantAdvanced(account config.Account, r advance.Request) event.AdvanceRecorded {
	d.Helper()
	recorded := d.attempt(account, r)
	if recorded.Outcome.Kind != event.Advanced {
		d.Fatalf("%+v", recorded.Outcome)
	}
	return recorded
}

// plan decides as a person and returns the plan, which is not applied.
func (d *desk) plan(who advance.Person, word event.DecisionWord, reason string) (manifest.Plan, error) {
	d.Helper()
	plan, err := advance.DecideStep(d.w, d.f, advance.Decision{Word: word, Reason: reason, Who: who, AtMs: d.now,
		Actor: event.Actor{Kind: event.Human, Ref: "a label"}})
	if err != nil && len(plan.Events)+len(plan.Objects) > 0 {
		d.Fatalf("planned with a refusal: %+v", plan)
	}
	if err == nil && len(plan.Events) > 0 {
		if _, err := manifest.EncodeSegment(plan.Log, plan.Events); err != nil {
			d.Fatal(err)
		}
	}
	return plan, err
}

// decide decides as a person and applies the plan.
func (d *desk) decide(who advance.Person, word event.DecisionWord, reason string) manifest.Plan {
	d.Helper()
	plan, err := d.plan(who, word, reason)
	if err != nil {
		d.Fatal(err)
	}
	d.apply(plan)
	return plan
}

// wantRefused decides as a person who is refused with a code and words; nothing is planned.
func (d *desk) wantRefused(who advance.Person, word event.DecisionWord, code fault.Code, says string) {
	d.Helper()
	plan, err := d.plan(who, word, "why")
	if !fault.Is(err, code) || !strings.Contains(err.Error(), says) || len(plan.Events) > 0 || fault.Of(err).Suggestion.String() == "" {
		d.Fatalf("%v, %d events", err, len(plan.Events))
	}
}

// apply updates the facts as the log is read.
func (d *desk) apply(p manifest.Plan) {
	decided := false
	for _, e := range p.Events {
		d.f.Next++
		switch data := e.Data.(type) {
		case event.GapRecorded:
			if data.Resolution.Kind == event.Unresolved {
				d.f.OpenGaps = append(d.f.OpenGaps, advance.OpenGap{ID: data.GapID, Reason: data.Reason, Pointer: data.Pointer,
					Severity: data.Severity})
				continue
			}
			d.f.OpenGaps = slices.DeleteFunc(d.f.OpenGaps, func(g advance.OpenGap) bool { return g.ID == *data.Resolution.ResolvesGapID })
		case event.NodeOutputAppended:
			o := advance.Output{ID: data.OutputID, Payload: data.Payload}
			if data.Payload.ArtifactKind == event.DecisionKind {
				o.Decision = data.Decision
			}
			decided = decided || data.Decision != nil
			for _, object := range p.Objects {
				if canon.Sum(object.Bytes) == data.Payload.SHA256 {
					o.JSON, _ = canon.Parse(object.Bytes)
				}
			}
			d.f.Outputs = append(slices.DeleteFunc(d.f.Outputs, func(old advance.Output) bool {
				return data.SupersedesOutputID != nil && old.ID == *data.SupersedesOutputID || data.Payload.Replaces(old.Payload)
			}), o)
		}
	}
	if decided {
		d.f.Approvals++
	}
}

// gaps returns the severities and messages of the gaps that a plan opens, and how many it resolves.
func gaps(p manifest.Plan) (opened []string, resolved int) {
	for _, e := range p.Events {
		if g, ok := e.Data.(event.GapRecorded); ok && g.Resolution.Kind == event.Unresolved {
			opened = append(opened, string(g.Severity)+" "+g.Summary)
		} else if ok {
			resolved++
		}
	}
	return opened, resolved
}

func notes(text string) advance.Request { return advance.Request{Notes: text} }

// TestSentBackReplacesTheWaitingGap by one with the words of the person, in the events' order.
func TestSentBackReplacesTheWaitingGap(t *testing.T) {
	d := newDesk(t, "")
	d.wantBlocked("uid:9", notes("plan A"))
	waiting := d.f.OpenGaps[0].ID
	plan := d.decide(ada, event.SentBack, "No way back is named.")
	if got := strings.Join(kinds(plan), " "); got != "gap_recorded gap_recorded node_output_appended" {
		t.Fatal(got)
	}
	first := plan.Events[0].Data.(event.GapRecorded)
	if *first.Resolution.ResolvesGapID != waiting || first.Severity != event.Info {
		t.Errorf("%+v", first)
	}
	opened, resolved := gaps(plan)
	if resolved != 1 || !slices.Equal(opened, []string{"critical Sent back by ada: No way back is named."}) {
		t.Errorf("%q, %d", opened, resolved)
	}
	gap := plan.Events[1].Data.(event.GapRecorded)
	if gap.Reason != reason.NeedsApproval || *gap.Pointer != reason.WorkflowStep("plan") || plan.Events[1].Actor.Kind != event.Engine {
		t.Errorf("%+v", gap)
	}
	out := plan.Events[2].Data.(event.NodeOutputAppended)
	want := event.StepDecision{By: "ada", Decision: event.SentBack, Reason: "No way back is named.", ShownDigest: out.Decision.ShownDigest}
	if *out.Decision != want || want.ShownDigest.IsZero() || out.Payload.ArtifactKind != event.DecisionKind ||
		plan.Events[2].Actor != (event.Actor{Kind: event.Human, Ref: "a label"}) {
		t.Errorf("%+v", out)
	}
}

// TestSentBackOutputsStayBlocked in every mode, until others are handed in and approved.
func TestSentBackOutputsStayBlocked(t *testing.T) {
	for _, mode := range []event.Autonomy{event.Guided, event.FullAutoStopOnUserDeps, event.FullAutoNeverStop} {
		t.Run(string(mode), func(t *testing.T) {
			d := newDesk(t, "")
			d.f.Preferences.Autonomy = mode
			r := advance.Request{Notes: "plan A", Artifacts: []advance.Artifact{artifact("report", "1")}}
			d.wantBlocked("uid:9", r)
			d.decide(ada, event.SentBack, "Too short")
			for i, same := range []advance.Request{{}, r, notes("plan A"), {Artifacts: r.Artifacts}} {
				if got := d.wantBlocked("uid:9", same); !strings.Contains(got, "was sent back by ada, and its outputs are still the same: Too short") {
					t.Fatal(i, got)
				}
			}
			if len(d.f.OpenGaps) != 1 {
				t.Errorf("a repeated refusal adds a gap: %+v", d.f.OpenGaps)
			}
			if got := d.wantBlocked("uid:9", notes("plan B")); strings.Contains(got, "same") || !strings.Contains(got, "needs a person's approval") {
				t.Error(got)
			}
			d.decide(bob, event.Approved, "")
			d.wantAdvanced("uid:9", advance.Request{})
		})
	}
}

// TestSentBackStaysWithItsOutputs: an approval of other outputs does not approve what was sent back.
func TestSentBackStaysWithItsOutputs(t *testing.T) {
	d := newDesk(t, "")
	d.wantBlocked("", notes("plan A"))
	d.decide(ada, event.SentBack, "Too short")
	d.wantBlocked("", notes("plan B"))
	d.decide(bob, event.Approved, "")
	if got := d.wantBlocked("", notes("plan A")); !strings.Contains(got, "sent back by ada, and its outputs are still the same: Too short") {
		t.Error(got)
	}
	d.decide(bob, event.Approved, "") // exactly what was sent back
	d.wantAdvanced("", notes("plan A"))
}

// TestSentBackTwice, with other words each time; then approved.
func TestSentBackTwice(t *testing.T) {
	d := newDesk(t, "")
	d.wantBlocked("", notes("plan A"))
	first := d.decide(ada, event.SentBack, "Too short")
	d.wantBlocked("", notes("plan B"))
	second := d.decide(ada, event.SentBack, "Too long")
	if opened, resolved := gaps(second); resolved != 1 || !slices.Equal(opened, []string{"critical Sent back by ada: Too long"}) {
		t.Errorf("%q, %d", opened, resolved)
	}
	for _, e := range second.Events {
		if slices.ContainsFunc(first.Events, func(other event.Event) bool { return other.ID == e.ID }) {
			t.Error("an id of the first decision is used again")
		}
	}
	if got := d.wantBlocked("", notes("plan A")); !strings.Contains(got, "Too long") {
		t.Error("the outputs that were sent back first are accepted:", got)
	}
	d.wantBlocked("", notes("plan C"))
	if opened, resolved := gaps(d.decide(ada, event.Approved, "now")); resolved != 1 || len(opened) > 0 {
		t.Errorf("%q, %d", opened, resolved)
	}
	d.wantAdvanced("", advance.Request{})
}

// TestSentBackRepeated: the same words about the same outputs are recorded once; other words are refused.
func TestSentBackRepeated(t *testing.T) {
	d := newDesk(t, "")
	d.wantBlocked("", notes("plan A"))
	d.decide(ada, event.SentBack, "Too short")
	if plan, err := d.plan(ada, event.SentBack, "Too short"); err != nil || len(plan.Events) > 0 {
		t.Errorf("%+v, %v", plan, err)
	}
	d.wantRefused(ada, event.SentBack, fault.DecisionRefused, "was sent back already")
	d.wantRefused(bob, event.SentBack, fault.DecisionRefused, "was sent back already")
}

// TestSentBackLeftNode: where the run continued from the node, the gap is less severe, as that of a
// refused attempt.
func TestSentBackLeftNode(t *testing.T) {
	d := newDesk(t, "")
	d.wantBlocked("", notes("plan A"))
	d.f.HasChild = true
	if opened, _ := gaps(d.decide(ada, event.SentBack, "Too short")); !slices.Equal(opened, []string{"warning Sent back by ada: Too short"}) {
		t.Errorf("%q", opened)
	}
}

// TestDecisionReasonsAreCutInGaps, and whole in the decision.
func TestDecisionReasonsAreCutInGaps(t *testing.T) {
	long := strings.Repeat("ä", limits.DecisionReasonBytesMax/2)
	for _, word := range []event.DecisionWord{event.SentBack, event.Denied} {
		d := newDesk(t, "")
		d.wantBlocked("", notes("plan A"))
		plan := d.decide(ada, word, long)
		for _, e := range plan.Events {
			if o, ok := e.Data.(event.NodeOutputAppended); ok && o.Decision.Reason != long {
				t.Error("the reason is cut")
			}
		}
	}
	d := newDesk(t, "")
	d.wantBlocked("", notes("plan A"))
	d.decide(ada, event.SentBack, long)
	d.wantBlocked("", advance.Request{}) // its message has to fit too
	for _, r := range []string{long + "x", "\xff", "", " \n\t"} {
		if plan, err := newDesk(t, "").plan(ada, event.Denied, r); !fault.Is(err, fault.ValidationError) || len(plan.Events) > 0 {
			t.Errorf("%.10q: %v", r, err)
		}
	}
}

// TestDecisionOfDenial: the waiting gap is resolved, the decision recorded, and the run closed, in one plan.
func TestDecisionOfDenial(t *testing.T) {
	d := newDesk(t, `,"approvers":["reviewer"],"count":2`)
	d.wantBlocked("", notes("plan A"))
	bob := with(bob, "reviewer")
	d.decide(with(ada, "reviewer"), event.Approved, "")
	plan := d.decide(bob, event.Denied, "The license does not allow it.")
	if got := strings.Join(kinds(plan), " "); got != "gap_recorded node_output_appended run_closed" {
		t.Fatal(got)
	}
	closed := plan.Events[2].Data.(event.RunClosed)
	if closed.Outcome != event.OutcomeFailed || closed.Reason != "Denied by bob: The license does not allow it." ||
		plan.Events[2].Actor.Kind != event.Engine || !plan.Events[2].Scope.NodeID.IsZero() {
		t.Errorf("%+v", plan.Events[2])
	}
	if opened, resolved := gaps(plan); len(opened) > 0 || resolved != 1 {
		t.Errorf("%q, %d", opened, resolved)
	}
}

// with is a person who holds roles.
func with(p advance.Person, roles ...string) advance.Person {
	p.Roles = roles
	return p
}

// TestDecisionRulesOfPeople: two of three reviewers, one of them the performer.
func TestDecisionRulesOfPeople(t *testing.T) {
	d := newDesk(t, `,"approvers":["reviewer"],"count":2,"notPerformer":true`)
	ada, bob, eve := with(ada, "reviewer"), with(bob, "reviewer"), with(eve, "reviewer")
	if recorded := d.attempt(ada.Account, notes("plan A")); recorded.Account != "uid:1" {
		t.Fatalf("%+v", recorded)
	}
	d.wantRefused(ada, event.Approved, fault.DecisionRefused, "handed in from this account")
	d.wantRefused(ada, event.SentBack, fault.DecisionRefused, "handed in from this account")
	d.wantRefused(advance.Person{Account: "uid:7", Principal: "zoe"}, event.Approved, fault.DecisionRefused, "none of the people")
	opened, resolved := gaps(d.decide(bob, event.Approved, ""))
	if resolved != 0 || len(opened) > 0 {
		t.Errorf("the gap is resolved by the first of two: %q, %d", opened, resolved)
	}
	if got := d.wantBlocked(ada.Account, advance.Request{}); !strings.Contains(got, "the approvals of 2 people") || !strings.Contains(got, "has 1") {
		t.Error(got)
	}
	d.wantRefused(bob, event.Approved, fault.DecisionRefused, "bob approved step \"plan\" already; 1 more")
	if _, resolved := gaps(d.decide(eve, event.Approved, "")); resolved != 1 {
		t.Error(resolved)
	}
	d.wantAdvanced(ada.Account, advance.Request{})
}

// TestDecisionRulesCountPeopleOnce: without a principal several approvals are one person's.
func TestDecisionRulesCountPeopleOnce(t *testing.T) {
	d := newDesk(t, `,"count":2`)
	d.wantBlocked("", notes("plan A"))
	d.wantRefused(advance.Person{Account: "uid:1"}, event.Approved, fault.PrincipalsUnbound, "no principal is bound")
	d.decide(ada, event.Approved, "")
	other := ada
	other.Principal = "ada of another name"
	d.wantRefused(other, event.Approved, fault.DecisionRefused, "already")
	// One person is enough to send it back, which ends the approval.
	d.decide(advance.Person{Account: "uid:4"}, event.SentBack, "No")
	d.wantBlocked("", notes("plan B"))
	d.decide(bob, event.Approved, "")
	d.decide(ada, event.Approved, "")
	d.wantAdvanced("", advance.Request{})
}

// TestDecisionRulesOfPerformers: the account that performs without any output does not decide either, one that hands in
// the same outputs again performed them, and one that hands in others instead is the only one.
func TestDecisionRulesOfPerformers(t *testing.T) {
	d := newDesk(t, `,"notPerformer":true`)
	d.decide(ada, event.Approved, "before anything was done") // no output, and no attempt yet
	if got := d.wantBlocked(ada.Account, advance.Request{}); !strings.Contains(got, "needs a person's approval") {
		t.Error("the one who performs approved it:", got)
	}
	d.wantRefused(ada, event.Approved, fault.DecisionRefused, "from this account")
	d.decide(bob, event.Approved, "")
	d.wantAdvanced(ada.Account, advance.Request{})

	d = newDesk(t, `,"notPerformer":true`)
	d.wantBlocked(ada.Account, notes("plan A"))
	d.wantBlocked(bob.Account, notes("plan B"))
	d.wantRefused(bob, event.Approved, fault.DecisionRefused, "from this account")
	d.decide(ada, event.Approved, "")
	d.wantAdvanced(bob.Account, advance.Request{})
}

// TestDecisionRulesOfLaterConditions: the account is recorded also while the condition of the rule does
// not hold, since a later attempt can change that.
func TestDecisionRulesOfLaterConditions(t *testing.T) {
	d := deskOf(t, `{"id":"test.desk","name":"Desk","description":"d","version":"1.0.0","steps":[{"id":"plan","title":"Plan","prompt":"p",
		"notesRequired":true,"requireConfirmation":{"kind":"human_approval","notPerformer":true,"condition":{"var":"risky","equals":true}}}]}`,
		snapshot.At("plan", nil, nil))
	recorded := d.attempt(ada.Account, advance.Request{Artifacts: []advance.Artifact{artifact("report", "1")}})
	if recorded.Outcome.Kind != event.Blocked || recorded.Account != string(ada.Account) {
		t.Fatalf("%+v", recorded)
	}
	if recorded := newDesk(t, `,"count":2`).attempt(ada.Account, notes("x")); recorded.Account != "" {
		t.Error("an account is recorded that no rule asks for")
	}
}

// TestDecisionRulesOfPeriods: an approval ends to the millisecond, judged when the attempt is made.
func TestDecisionRulesOfPeriods(t *testing.T) {
	d := newDesk(t, `,"count":2,"expiresAfter":"1h"`)
	const hour = 60 * 60 * 1000
	d.wantBlocked("", notes("plan A"))
	d.decide(ada, event.Approved, "")
	d.now += hour
	d.decide(bob, event.Approved, "")
	if got := d.wantBlocked("", advance.Request{}); !strings.Contains(got, `needs 1 more approval of what was handed in: the approval by ada counted for 1h only`) {
		t.Error(got)
	}
	d.decide(ada, event.Approved, "")
	d.now += hour - 1
	saved := *d
	d.wantAdvanced("", advance.Request{})
	d = &saved
	d.now++
	if got := d.wantBlocked("", advance.Request{}); !strings.Contains(got, "needs 2 more approvals") {
		t.Error(got)
	}
	if plan, err := d.plan(ada, event.Approved, ""); err != nil || len(plan.Events) == 0 {
		t.Errorf("an approval that ended cannot be given again: %+v, %v", plan, err)
	}
}

// TestDecisionRulesOfLoopAndStep: the first step of a loop has to meet both rules.
func TestDecisionRulesOfLoopAndStep(t *testing.T) {
	const workflow = `{"id":"test.desk","name":"Desk","description":"d","version":"1.0.0","steps":[
	 {"id":"round","type":"loop","title":"Round","loop":{"type":"for","count":2,"maxIterations":3},
	  "requireConfirmation":{"kind":"human_approval","approvers":["lead"]},
	  "body":[{"id":"plan","title":"Plan","prompt":"p","requireConfirmation":{"kind":"human_approval","approvers":["reviewer"],"count":2}}]}]}`
	d := deskOf(t, workflow, snapshot.At("plan", []snapshot.Frame{{LoopID: "round"}}, nil))
	d.wantBlocked("", notes("plan A"))
	d.wantRefused(with(ada, "lead"), event.Approved, fault.DecisionRefused, "none of the people")
	d.wantRefused(with(ada, "reviewer"), event.Approved, fault.DecisionRefused, "none of the people")
	d.decide(with(ada, "lead", "reviewer"), event.Approved, "")
	if got := d.wantBlocked("", advance.Request{}); !strings.Contains(got, "of 2 people") {
		t.Error(got)
	}
	d.decide(with(bob, "lead", "reviewer"), event.Approved, "")
	d.wantAdvanced("", advance.Request{})
}

// TestDecisionRefused: each decision that cannot be recorded is named, and plans nothing.
func TestDecisionRefused(t *testing.T) {
	shown := func(d *desk) advance.Decision {
		return advance.Decision{Word: event.Approved, Actor: person, AtMs: d.now, Seen: advance.ApprovalDigest(d.f), Who: ada}
	}
	for name, tc := range map[string]struct {
		change func(*desk)
		decide func(*advance.Decision)
		code   fault.Code
		says   string
	}{
		"other notes":   {func(d *desk) { d.wantBlocked("", notes("other")) }, nil, fault.DecisionRefused, "have changed since"},
		"the step left": {func(d *desk) { d.f.HasChild = true }, nil, fault.DecisionRefused, "have changed since"},
		"other step": {func(d *desk) { d.f.State = snapshot.At("build", nil, nil) }, nil, fault.ValidationError,
			"needs no approval"},
		"no step":   {func(d *desk) { d.f.State = snapshot.Done() }, nil, fault.ValidationError, "no step is pending"},
		"an agent":  {nil, func(d *advance.Decision) { d.Actor = agent }, fault.RunWaiting, "only a person"},
		"an engine": {nil, func(d *advance.Decision) { d.Actor = event.Actor{Kind: event.Engine} }, fault.RunWaiting, "only a person"},
		"no reason": {nil, func(d *advance.Decision) { d.Word = event.Denied }, fault.ValidationError, "none was given"},
		"a long comment": {nil, func(d *advance.Decision) { d.Reason = strings.Repeat("x", 4097) }, fault.ValidationError,
			"4097 bytes"},
		"other digest": {nil, func(d *advance.Decision) { d.Seen = canon.Sum(nil) }, fault.DecisionRefused, "have changed since"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "")
			d.wantBlocked("", notes("plan A"))
			in := shown(d)
			if tc.change != nil {
				tc.change(d)
			}
			if tc.decide != nil {
				tc.decide(&in)
			}
			plan, err := advance.DecideStep(d.w, d.f, in)
			if !fault.Is(err, tc.code) || !strings.Contains(err.Error(), tc.says) || len(plan.Events)+len(plan.Objects) > 0 {
				t.Errorf("%v, %+v", err, plan)
			}
		})
	}
	empty := newDesk(t, "")
	empty.wantRefused(ada, event.SentBack, fault.DecisionRefused, "nothing was handed in")
}

// settings are those in force with some principals, as "name:uid:role".
func settings(t testing.TB, principals ...string) *config.People {
	t.Helper()
	members := []string{}
	for _, p := range principals {
		part := strings.Split(p, ":")
		members = append(members, fmt.Sprintf(`%q:{"uid":%s,"roles":[%q]}`, part[0], part[1], part[2]))
	}
	v, err := canon.Parse([]byte(`{"principals":{` + strings.Join(members, ",") + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Read(v)
	if err != nil {
		t.Fatal(err)
	}
	people := c.People()
	return &people
}

// TestDecisionMeetsSettingsInForce: an approval counts by the settings when it was recorded and by those
// at the attempt; where it does not, the attempt is refused and nothing is recorded.
func TestDecisionMeetsSettingsInForce(t *testing.T) {
	for name, tc := range map[string]struct {
		rule string
		now  []string
		ok   bool
	}{
		"the same":               {`,"approvers":["reviewer"]`, []string{"ada:1:reviewer"}, true},
		"by name":                {`,"approvers":["ada","reviewer"]`, []string{"ada:1:other"}, true},
		"the role is gone":       {`,"approvers":["reviewer"]`, []string{"ada:1:other"}, false},
		"the principal is gone":  {`,"approvers":["reviewer"]`, []string{"bob:2:reviewer"}, false},
		"another account":        {`,"approvers":["reviewer"]`, []string{"ada:7:reviewer"}, false},
		"another name":           {`,"approvers":["reviewer"]`, []string{"zoe:1:reviewer"}, false},
		"none is bound any more": {`,"approvers":["reviewer"]`, nil, false},
		"any person":             {``, nil, true},
		"only the period counts": {`,"expiresAfter":"1h"`, []string{"bob:2:other"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, tc.rule)
			d.wantBlocked("", notes("plan A"))
			d.decide(with(ada, "reviewer"), event.Approved, "")
			d.f.People = settings(t, tc.now...)
			plan, err := d.try("", advance.Request{})
			if tc.ok && (err != nil || plan.Events[0].Data.(event.AdvanceRecorded).Outcome.Kind != event.Advanced) {
				t.Fatalf("%+v, %v", plan, err)
			}
			if !tc.ok && (!fault.Is(err, fault.RunWaiting) || len(plan.Events) > 0 || !strings.Contains(err.Error(), "by ada") ||
				!strings.Contains(err.Error(), "settings in force")) {
				t.Fatalf("%+v, %v", plan, err)
			}
			d.f.People = nil // a decision that is made again
			d.wantAdvanced("", advance.Request{})
		})
	}
	// While no principal is bound, the person at the terminal holds every role; that ends with the first one.
	free := newDesk(t, `,"approvers":["reviewer"]`)
	free.wantBlocked("", notes("plan A"))
	free.decide(with(advance.Person{Account: "uid:1"}, "reviewer"), event.Approved, "")
	free.f.People = settings(t, "bob:2:reviewer")
	if _, err := free.try("", advance.Request{}); !fault.Is(err, fault.RunWaiting) {
		t.Error(err)
	}
	free.f.People = settings(t)
	free.wantAdvanced("", advance.Request{})
	// One of two is not enough either.
	d := newDesk(t, `,"count":2`)
	d.wantBlocked("", notes("plan A"))
	d.decide(ada, event.Approved, "")
	d.decide(bob, event.Approved, "")
	d.f.People = settings(t, "ada:1:x")
	if plan, err := d.try("", advance.Request{}); !fault.Is(err, fault.RunWaiting) || len(plan.Events) > 0 || !strings.Contains(err.Error(), "by bob") {
		t.Errorf("%+v, %v", plan, err)
	}
}
