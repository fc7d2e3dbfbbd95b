package perform_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
)

const (
	roundStep = "  - id: rounds\n    type: loop\n    title: Rounds\n" +
		"    loop: {type: while, maxIterations: 2, conditionSource: {kind: artifact_contract, contractRef: " +
		"wr.contracts.loop_control, loopId: r}}\n" +
		"    body:\n      - {id: decide, title: Decide, prompt: Enough., outputContract: {contractRef: " +
		"wr.contracts.loop_control}}\n"
	// No step of its body requires the decision; the last one is asked.
	silentStep = "  - id: rounds\n    type: loop\n    title: Rounds\n" +
		"    loop: {type: until, maxIterations: 3, conditionSource: {kind: artifact_contract, contractRef: " +
		"wr.contracts.loop_control}}\n" +
		"    body:\n      - {id: work, title: Work, prompt: Work.}\n" +
		"      - {id: rest, title: Rest, action: {kind: command, argv: [sleep]}}\n"
	untilStep = "  - id: rounds\n    type: loop\n    title: Rounds\n" +
		"    loop: {type: until, maxIterations: 5, condition: {var: done, equals: true}}\n    body:\n" +
		"      - {id: work, title: Work, prompt: Work.}\n"
	eachStep = "  - id: each\n    type: loop\n    title: Each\n    loop: {type: for, count: 2, maxIterations: 2}\n" +
		"    body:\n      - id: inner\n        type: loop\n        title: Inner\n" +
		"        loop: {type: for, count: 1, maxIterations: 1}\n" +
		"        body:\n          - {id: go, title: Go, action: {kind: command, argv: [go]}}\n"
	assessedSteps = "  - {id: look, title: Look, prompt: Look at it., assessmentRefs: [ready]}\n"
	assessments   = "assessments:\n  - {id: ready, purpose: Ready, dimensions: [{id: risk, purpose: How risky, " +
		"levels: [low, high]}, " +
		"{id: cover, purpose: How covered, levels: [thin, good], required: false}]}\n"
	contractStep = "  - {id: hand, title: Hand, prompt: Hand it over., outputContract: {contractRef: " +
		"wr.contracts.gate_verdict}}\n"
	probeHead   = "capabilities: {required: [web_browsing]}\n"
	commandShip = "  - {id: ship, title: Ship, requireConfirmation: {kind: human_approval}, action: {kind: command, " +
		"argv: [ship]}}\n"
	notedShip = "  - {id: ship, title: Ship, prompt: Ship it., notesRequired: true, requireConfirmation: {kind: " +
		"human_approval}}\n"
	neverStop = "full_auto_never_stop"
)

func prefs(autonomy string) []event.PreferenceChange {
	return []event.PreferenceChange{{Key: "autonomy", Value: autonomy}}
}

var resultScenarios = []scenario{
	{name: "a person repeats a loop, then stops it", source: steps(roundStep),
		answers: []string{"one", "continue", "not yet", "", "stop", ""}, attempts: "advanced advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Decide: "Enough."
			round 1 of "Rounds"
			notes? required=false draft="" "one"
			ask? Round 1 of "Rounds" is done. Repeat the loop, or stop? [continue/stop] "continue"
			ask? Why? Enter for no reason "not yet"
			ok
			[1/1] Decide: "Enough."
			round 2 of "Rounds"
			notes? required=false draft="" ""
			ask? Round 2 of "Rounds" is done. Repeat the loop, or stop? [continue/stop] "stop"
			ask? Why? Enter for no reason ""
			ok
			release`},
	{name: "continuing beyond the last iteration is refused and asked again", source: steps(roundStep),
		answers:  []string{"", "continue", "", "", "continue", "", "", "stop", ""},
		attempts: "advanced blocked advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Decide: "Enough."
			round 1 of "Rounds"
			notes? required=false draft="" ""
			ask? Round 1 of "Rounds" is done. Repeat the loop, or stop? [continue/stop] "continue"
			ask? Why? Enter for no reason ""
			ok
			[1/1] Decide: "Enough."
			round 2 of "Rounds"
			notes? required=false draft="" ""
			ask? Round 2 of "Rounds" is done. Repeat the loop, or stop? [continue/stop] "continue"
			ask? Why? Enter for no reason ""
			blocked: INVARIANT_VIOLATION rounds
			notes? required=false draft="" ""
			ask? Round 2 of "Rounds" is done. Repeat the loop, or stop? [continue/stop] "stop"
			ask? Why? Enter for no reason ""
			ok
			release`},
	{name: "outputs of a refused attempt are not asked again",
		source:  steps(strings.ReplaceAll(roundStep, "prompt: Enough.", "prompt: Enough., notesRequired: true")),
		answers: []string{" ", "stop", "", " ", "done"}, attempts: "blocked blocked advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Decide: "Enough."
			round 1 of "Rounds"
			notes? required=true draft="" " "
			ask? Round 1 of "Rounds" is done. Repeat the loop, or stop? [continue/stop] "stop"
			ask? Why? Enter for no reason ""
			blocked: MISSING_REQUIRED_OUTPUT wr.notesMarkdown
			notes? required=true draft=" " " "
			blocked: MISSING_REQUIRED_OUTPUT wr.notesMarkdown
			notes? required=true draft=" " "done"
			ok
			release`},
	{name: "a decision without a person waits and records nothing", source: steps(roundStep),
		opts: perform.Options{Yes: true, Notes: text("x")},
		code: fault.RunWaiting, want: "waybill continue --run R --notes x --artifact FILE",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Decide: "Enough."
			round 1 of "Rounds"
			release`},
	{name: "the last step of a body is asked if no step requires the decision", source: steps(silentStep),
		answers:  []string{"did it", "stop", ""},
		attempts: "advanced advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Work: "Work."
			round 1 of "Rounds"
			notes? required=false draft="" "did it"
			ok
			[1/1] Rest: ""
			round 1 of "Rounds"
			$ sleep (1 of 1)
			status 0, last true, again in 0 ms
			ask? Round 1 of "Rounds" is done. Repeat the loop, or stop? [continue/stop] "stop"
			ask? Why? Enter for no reason ""
			ok
			release`},
	{name: "a missing loop variable is asked for", source: steps(untilStep),
		answers:  []string{"", "true", ""},
		attempts: "blocked advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Work: "Work."
			round 1 of "Rounds"
			notes? required=false draft="" ""
			blocked: MISSING_REQUIRED_OUTPUT done
			input? done "true"
			notes? required=false draft="" ""
			ok
			release`},
	{name: "nested loops are shown", source: steps(eachStep), attempts: "advanced advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Go: ""
			round 1 of "Each", round 1 of "Inner"
			$ go (1 of 1)
			status 0, last true, again in 0 ms
			ok
			[1/1] Go: ""
			round 2 of "Each", round 1 of "Inner"
			$ go (1 of 1)
			status 0, last true, again in 0 ms
			ok
			release`},
	{name: "an assessment is asked for dimension by dimension", source: assessments + steps(assessedSteps),
		answers: []string{"seen", "low", ""}, attempts: "advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Look: "Look at it."
			notes? required=false draft="" "seen"
			ask? How risky [low/high] "low"
			ask? How covered [thin/good] ""
			ok
			release`},
	{name: "an assessment without a person waits", source: assessments + steps(assessedSteps),
		opts: perform.Options{Notes: text("x")},
		code: fault.RunWaiting, want: `requires the assessment "ready" (wr.assessment)`,
		script: `hold
			run Release, 0 of 1 done
			[1/1] Look: "Look at it."
			release`},
	{name: "a never-stopping run continues without an assessment", source: assessments + steps(assessedSteps+roundStep),
		opts:     perform.Options{Notes: text("x"), Preferences: prefs(neverStop)},
		attempts: "advanced advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Look: "Look at it."
			ok
			[2/2] Decide: "Enough."
			round 1 of "Rounds"
			ok
			[2/2] Decide: "Enough."
			round 2 of "Rounds"
			ok
			release`},
	{name: "a never-stopping run does not wait for inputs", source: steps(inputStep),
		opts: perform.Options{Preferences: prefs(neverStop)}, attempts: "advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Deploy: ""
			$ deploy (1 of 1)
			status 0, last true, again in 0 ms
			ok
			release`},
	{name: "no confirmation is waited for outside of guided mode", source: steps(riskyStep),
		opts:     perform.Options{Preferences: prefs("full_auto_stop_on_user_deps")},
		attempts: "advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Risky: ""
			$ rm x (1 of 1)
			status 0, last true, again in 0 ms
			ok
			release`},
	{name: "unsent preferences are in the command that continues", source: steps(lookStep),
		opts: perform.Options{Preferences: append(prefs(neverStop),
			event.PreferenceChange{Key: "riskPolicy", Value: "balanced"})},
		code: fault.RunWaiting,
		want: "waybill run --run R --autonomy full_auto_never_stop --risk balanced --notes TEXT",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Look: "Look at it."
			release`},
	{name: "an invalid file is asked for again", source: steps(contractStep),
		answers:  []string{"wrong.json", "right.json", "done"},
		attempts: "advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Hand: "Hand it over."
			file? This step requires a result of kind wr.gate_verdict, as a JSON file. waybill continue --run R --artifact FILE "wrong.json"
			wrong: /confidence: …
			wrong: /rationale: …
			wrong: /verdict: …
			file? This step requires a result of kind wr.gate_verdict, as a JSON file. waybill continue --run R --artifact FILE "right.json"
			notes? required=false draft="" "done"
			ok
			release`},
	{name: "leaving the question for a file", source: steps(contractStep), answers: []string{"^D"},
		code: fault.RunWaiting,
		want: "you left the run",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Hand: "Hand it over."
			file? This step requires a result of kind wr.gate_verdict, as a JSON file. waybill continue --run R --artifact FILE "^D"
			release`},
	{name: "a failed probe is tried again", source: probeHead + steps(lookStep),
		answers:  []string{"", "failure", "", "success", ""},
		attempts: "blocked advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] …
			notes? required=false draft="" ""
			ask? You tried it. Did it work? [success/failure] "failure"
			blocked: REQUIRED_CAPABILITY_UNAVAILABLE 
			notes? required=false draft="" ""
			ask? You tried it. Did it work? [success/failure] "success"
			ok
			[2/2] Look: "Look at it."
			notes? required=false draft="" ""
			ok
			release`},
	{name: "outputs are submitted, shown and approved", source: steps(approveStep), answers: []string{"the plan", "y"},
		attempts: "blocked advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Ship: "Ship it."
			notes? required=false draft="" "the plan"
			approve? "the plan" "y"
			ok
			release`},
	{name: "a refused approval waits", source: steps(approveStep), answers: []string{"the plan", "n"},
		opts: perform.Options{Yes: true},
		code: fault.RunWaiting, want: "is not approved", attempts: "blocked",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Ship: "Ship it."
			notes? required=false draft="" "the plan"
			approve? "the plan" "n"
			release`},
	{name: "other notes are submitted and shown before the approval", source: steps(approveStep),
		answers: []string{"the plan", "e", "a better plan", "e", "", "y"}, attempts: "blocked blocked advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Ship: "Ship it."
			notes? required=false draft="" "the plan"
			approve? "the plan" "e"
			other notes? draft="the plan" "a better plan"
			approve? "a better plan" "e"
			other notes? draft="a better plan" ""
			approve? "a better plan" "y"
			ok
			release`},
	{name: "a command's result is approved too, and it runs once", source: steps(commandShip), answers: []string{"y"},
		attempts: "blocked advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Ship: "---"
			$ ship (1 of 1)
			status 0, last true, again in 0 ms
			submitted: wr.command_result …
			approve? "" "y"
			ok
			release`},
	{name: "outputs refused for another reason are submitted again, then approved", source: steps(notedShip),
		answers: []string{" ", "the plan", "y"}, attempts: "blocked blocked advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Ship: "Ship it."
			notes? required=true draft="" " "
			blocked: MISSING_REQUIRED_OUTPUT wr.notesMarkdown
			blocked: USER_ONLY_DEPENDENCY ship
			notes? required=true draft=" " "the plan"
			approve? "the plan" "y"
			ok
			release`},
	{name: "an approval is waited for in every mode", source: steps(approveStep),
		opts: perform.Options{Notes: text("the plan"), Yes: true, Preferences: prefs(neverStop)},
		code: fault.RunWaiting, want: "waybill approve R", attempts: "blocked",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Ship: "Ship it."
			release`},
}

// like compares line by line; a line of the script that ends with … matches
// every line with that beginning.
func like(got, want string) bool {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		return false
	}
	for i := range g {
		if start, open := strings.CutSuffix(w[i], "…"); g[i] != w[i] && !(open && strings.HasPrefix(g[i], start)) {
			return false
		}
	}
	return true
}

func TestRequiredOutputs(t *testing.T) {
	for _, s := range resultScenarios {
		t.Run(s.name, func(t *testing.T) {
			w := newFixture(t, s.source)
			w.answers = s.answers
			w.files = map[string]string{"wrong.json": `{"kind":"wr.gate_verdict"}`}
			if a, err := w.g.Rehydrate(context.Background(), w.at); err == nil && a.Pending.OutputContract != nil {
				w.files["right.json"] = string(a.Pending.OutputContract.Example.JCS())
			}
			report, err := w.perform(context.Background(), s.opts)
			if got := codeOf(err); got != s.code {
				t.Errorf("ended with %q: %v; want %q", got, err, s.code)
			}
			if f := fault.Of(err); f != nil && !strings.Contains(f.Message+" "+f.Suggestion.String(), s.want) {
				t.Errorf("got %q and %q, want %q in it", f.Message, f.Suggestion.String(), s.want)
			}
			if got, want := w.transcript(), strings.ReplaceAll(s.script, "\t", ""); !like(got, want) {
				t.Errorf("transcript:\n%s\n\nwant:\n%s", got, want)
			}
			if got := w.attempts(); got != s.attempts {
				t.Errorf("recorded %q, want %q", got, s.attempts)
			}
			if len(w.answers) > 0 || (err == nil) != report.Last.IsComplete {
				t.Errorf("answers not asked for: %q; err is %v and complete is %v", w.answers, err,
					report.Last.IsComplete)
			}
		})
	}
}

// Outputs that wait for an approval are not changed by further calls. After the
// approval the next call sends no outputs, even with notes given beforehand.
func TestApprovalFromAnotherProcess(t *testing.T) {
	w := newFixture(t, steps(approveStep))
	given := perform.Options{Notes: text("the plan")}
	for range 3 {
		if _, err := w.perform(context.Background(), given); codeOf(err) != fault.RunWaiting {
			t.Fatal(err)
		}
		given.Notes = text("something else")
	}
	if got := w.attempts(); got != "blocked" {
		t.Fatalf("recorded %q", got)
	}
	by := engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 5}
	shown, err := w.g.Approvable(context.Background(), by, w.at)
	if err != nil || shown.Notes != "the plan" {
		t.Fatal(shown.Notes, err)
	}
	if _, err := w.g.Decide(context.Background(), by, shown, event.Approved, "fine"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.perform(context.Background(), given); err != nil || w.attempts() != "blocked advanced" {
		t.Errorf("%v, %q", err, w.attempts())
	}
}

// An approval is valid for what was shown: outputs submitted in between void
// it.
func TestApprovalOfChangedOutputsIsRefused(t *testing.T) {
	w := newFixture(t, steps(approveStep))
	w.answers = []string{"the plan", "y"}
	w.onApprove = func() {
		a, err := w.g.Rehydrate(context.Background(), w.at)
		if err == nil {
			_, err = w.g.Advance(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 7},
				a.Position(), a.AttemptID, advance.Request{Notes: "another plan"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.perform(context.Background(), perform.Options{}); codeOf(err) != fault.DecisionRefused ||
		!strings.Contains(err.Error(), "have changed since they were shown") {
		t.Error(err)
	}
	if got := w.attempts(); got != "blocked blocked" {
		t.Errorf("recorded %q", got)
	}
}

// A decision names the loop and the reason.
func TestDecisionNamesItsLoop(t *testing.T) {
	w := newFixture(t, steps(roundStep))
	w.answers = []string{"", "stop", "enough"}
	if _, err := w.perform(context.Background(), perform.Options{}); err != nil {
		t.Fatal(err)
	}
	var found bool
	for _, e := range w.events() {
		if o, ok := e.Data.(event.NodeOutputAppended); ok && o.Payload.ArtifactKind == "wr.loop_control" {
			data, err := w.store.Object(context.Background(), "artifact", o.Payload.SHA256)
			found = err == nil &&
				string(data) == `{"decision":"stop","kind":"wr.loop_control","loopId":"r","summary":"enough"}`
			if !found {
				t.Errorf("%s, %v", data, err)
			}
		}
	}
	if !found {
		t.Error("no decision is on record")
	}
}

// Preferences and context are sent with the first attempt only: another caller
// may have changed them by the second.
func TestPreferencesAreSentWithFirstAttempt(t *testing.T) {
	w := newFixture(t, steps(lookStep+noteStep))
	o := perform.Options{Notes: text("x"), Preferences: prefs(neverStop), Context: members("k", "v")}
	if _, err := w.perform(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if len(w.requests) != 2 || len(w.requests[0].Preferences) != 1 || len(w.requests[1].Preferences) != 0 ||
		!w.requests[1].Context.IsNull() {
		t.Errorf("sent %+v", w.requests)
	}
}

// A valid output is not asked for again, although its gap stays open until an
// attempt is accepted.
func TestValidOutputIsNotAskedAgain(t *testing.T) {
	w := newFixture(t, steps(strings.ReplaceAll(roundStep, "prompt: Enough.", "prompt: Enough., notesRequired: true")))
	a, err := w.g.Rehydrate(context.Background(), w.at)
	stop := artifact(`{"kind":"wr.loop_control","decision":"stop"}`)
	for _, r := range []advance.Request{{}, {Artifacts: []advance.Artifact{stop}}} {
		if err == nil {
			a, err = w.g.Advance(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 3},
				a.Position(), a.AttemptID, r)
		}
	}
	if err != nil || len(a.Blockers) != 1 {
		t.Fatal(a.Blockers, err)
	}
	w.answers = []string{"done"}
	if _, err := w.perform(context.Background(), perform.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := w.transcript(); strings.Contains(got, "ask?") || strings.Count(got, "refused before:") != 1 {
		t.Error(got)
	}
}

func artifact(text string) advance.Artifact {
	v, err := canon.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return advance.JSONArtifact(v)
}
