package engine_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/runs"
)

// rich has something of everything that can stop a run or send it another way.
const rich = `workflow
  capabilities: {required: [delegation]}
  inputs:
  - {contextKey: ticket, reason: needs_user_artifact, description: The ticket.}
  assessments:
  - {id: risk, purpose: What can go wrong., dimensions: [{id: harm, purpose: How bad, levels: [small, big]}]}
  conditions:
  - {id: go-on, kind: loop_control}
  recommendedPreferences: {recommendedAutonomy: guided}
  steps:
  - id: plan
    notesRequired: true
    requireConfirmation: {kind: human_approval}
  - id: areas
    type: loop
    requireConfirmation: {kind: human_approval, condition: {var: deep, equals: true}}
    loop: {type: forEach, items: list, maxIterations: 2}
    body:
    - id: look
      runCondition: {var: deep, equals: true}
    - id: rounds
      type: loop
      maxIterations: 2
      while: {kind: condition_ref, conditionId: go-on}
      body:
      - id: judge
        assessmentRefs: [risk]
        assessmentConsequences:
        - {when: {anyEqualsLevel: big}, effect: {kind: require_followup, guidance: Think again.}}
  - id: again
    type: loop
    loop: {type: until, maxIterations: 2, condition: {var: found, equals: true}}
    body:
    - id: search
      outputContract: {contractRef: wr.contracts.gate_verdict, required: false}
  - id: last
    requireConfirmation: true
scenario a walk
`

// things are what an attempt may send.
var things = []string{
	"notes done", "notes <x * 4200>", `context {"ticket":"T-1"}`, `context {"ticket":null,"deep":true}`,
	`context {"list":["a","b"]}`,
	`context {"list":["a","b","c"]}`, `context {"list":[]}`, `context {"list":7}`, `context {"found":false}`,
	`context {"found":true,"deep":false}`,
	`context {"prototype":1}`, "preferences autonomy=full_auto_never_stop",
	"preferences autonomy=guided riskPolicy=aggressive",
	`artifact {"kind":"wr.capability_observation","capability":"delegation","result":"success"}`,
	`artifact {"kind":"wr.capability_observation","capability":"delegation","result":"failure","failureCode":"tool_error"}`,
	`artifact {"kind":"wr.capability_observation","capability":"delegation","claim":"available"}`,
	`artifact {"kind":"wr.assessment","assessmentId":"risk","dimensions":{"harm":"small"}}`,
	`artifact {"kind":"wr.assessment","dimensions":{"harm":"big"}}`,
	`artifact {"kind":"wr.loop_control","decision":"continue"}`,
	`artifact {"kind":"wr.loop_control","decision":"stop"}`, `artifact {"kind":"wr.loop_control"}`,
	`artifact {"kind":"wr.gate_verdict","verdict":"maybe"}`,
	`artifact {"kind":"wr.divergence","reason":"safety_stop","summary":"s"}`,
	`artifact {"kind":"wr.divergence","reason":"none"}`, "file text/plain abc",
	`file application/json {"kind":"wr.human_approval"}`,
}

// enough is all that steps require.
var enough = [][]string{
	{"notes done", `context {"ticket":"T-1","list":["a","b"],"found":true,"deep":true}`, things[13], things[16],
		things[18]},
	{"notes done", `context {"ticket":"T-1","list":["a","b"],"found":false}`, things[13], things[16], things[19]},
	nil,
}

// TestAnyWalk: for anything that a caller sends, and from any node, the laws of playing hold; a
// refusal is a fault of the caller; a run that never stops is blocked by an approval alone; and
// status, gaps and answer agree.
func TestAnyWalk(t *testing.T) {
	all, err := parseScenarios(rich)
	if err != nil {
		t.Fatal(err)
	}
	fewWalks(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlayer(t, all[0])
		var texts []string
		play := func(text string, below ...string) {
			s := statement{text: text}
			for _, b := range below {
				s.below = append(s.below, statement{text: b})
			}
			texts = append(texts, text+" "+strings.Join(below, "; "))
			err := p.when(s)
			if err == nil && p.err != nil && !fault.Is(p.err, fault.ValidationError) {
				err = p.err
			}
			if err == nil && p.err == nil {
				err = p.agrees()
			}
			if err != nil {
				rt.Fatalf("%v\n%s", err, strings.Join(texts, "\n"))
			}
		}
		play("start")
		if rapid.IntRange(0, 3).Draw(rt, "far") > 0 {
			play("ack", things[13], things[2])
			play("ack", enough[1]...)
			play("approve")
			play("ack", rapid.SampledFrom(things[3:13]).Draw(rt, "first"))
		}
		p.names["0"] = p.last
		for i := range rapid.IntRange(3, 9).Draw(rt, "moves") {
			switch move := rapid.IntRange(0, 10).Draw(rt, "move"); {
			case move == 0:
				play("look at " + fmt.Sprint(rapid.IntRange(0, i).Draw(rt, "to")))
			case move == 10:
				play("turn ends in " + rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "chat"))
			case p.last.Pending == nil:
			case move == 1:
				play("checkpoint notes so far")
			case move == 2:
				play("approve")
			case move < 7:
				// What any step accepts, and a person who approves: so that walks get far.
				if play("ack", enough[rapid.IntRange(0, len(enough)-1).Draw(rt, "which")]...); p.err == nil &&
					len(p.last.Blockers) > 0 {
					play("approve")
				}
			default:
				play("ack", rapid.SliceOfNDistinct(rapid.SampledFrom(things), 0, 5,
					func(s string) string { return sortOf(s) }).Draw(rt, "what")...)
			}
			p.names[fmt.Sprint(i+1)] = p.last
		}
	})
}

// fewWalks: each plays a run in full.
func fewWalks(t *testing.T) { histories(t, "20") }

// histories sets the number of histories of a test. -rapid.checks N plays another number of them.
func histories(t *testing.T, n string) {
	f := flag.Lookup("rapid.checks")
	if f.Value.String() != f.DefValue {
		return
	}
	_ = f.Value.Set(n)
	t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
}

// sortOf keeps an attempt from bringing two of what it can bring once.
func sortOf(thing string) string {
	what, _, _ := strings.Cut(thing, " ")
	if what == "artifact" || what == "file" {
		return thing
	}
	return what
}

// agrees compares an answer with what is on record.
func (p *player) agrees() error {
	n := p.node()
	blocked := len(p.last.Blockers) > 0
	if blocked && n.Preferences.Autonomy == event.FullAutoNeverStop &&
		!slices.ContainsFunc(n.OpenGaps,
			func(g runs.Gap) bool { return g.Reason.Detail == "needs_user_approval" }) {
		return fmt.Errorf("a run that never stops is blocked: %+v", p.last.Blockers)
	}
	for _, b := range p.last.Blockers {
		if !slices.ContainsFunc(n.OpenGaps, func(g runs.Gap) bool {
			return g.Reason.Blocker() == b.Code &&
				*g.Pointer == b.Pointer
		}) {
			return fmt.Errorf("blocker %s %s has no gap", b.Code, pointer(&b.Pointer))
		}
	}
	type place struct{ severity, reason, pointer string }
	seen := map[place]bool{}
	for _, g := range n.OpenGaps {
		at := place{string(g.Severity), g.Reason.String(), pointer(g.Pointer)}
		if seen[at] {
			return fmt.Errorf("two gaps for %v", at)
		}
		seen[at] = true
	}
	tip := p.after.Tip == n.ID
	critical := slices.ContainsFunc(n.OpenGaps, func(g runs.Gap) bool { return g.Severity == event.Critical })
	switch stops := n.Preferences.Autonomy != event.FullAutoNeverStop; {
	case p.last.IsComplete != (p.last.Pending == nil):
		return fmt.Errorf("complete %v with pending %v", p.last.IsComplete, p.last.Pending)
	case tip && stops && !p.last.IsComplete && critical != (p.last.Status == runs.Blocked):
		return fmt.Errorf("status %s with critical gaps: %v", p.last.Status, critical)
	case tip && p.last.IsComplete &&
		(len(p.after.CriticalOnPath(n.ID)) > 0) != (p.last.Status == runs.CompleteWithGaps):
		return fmt.Errorf("status %s with %d critical gaps on the path", p.last.Status,
			len(p.after.CriticalOnPath(n.ID)))
	}
	return nil
}

// TestAttemptsFromOneNodeGiveAsManyBranches: N attempts, each from the same node, give N branches,
// each with its own context, and the first alone is no rewind.
func TestAttemptsFromOneNodeGiveAsManyBranches(t *testing.T) {
	all, err := parseScenarios("workflow\n  steps:\n  - id: one\n  - id: two\n  - id: three\nscenario branches\n")
	if err != nil {
		t.Fatal(err)
	}
	fewWalks(t)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(rt, "n")
		p := newPlayer(t, all[0])
		say := func(word, text string) {
			f := p.when
			if word == "then" {
				f = p.then
			}
			if err := f(statement{text: text}); err != nil || p.err != nil {
				rt.Fatalf("%s %s: %v, %v", word, text, err, p.err)
			}
		}
		say("when", "start")
		p.names["A"] = p.last
		children := map[string]bool{}
		for i := range n {
			say("when", "look at A")
			say("when", fmt.Sprintf(`ack context {"way":%d,"k%d":1}`, i, i))
			say("then", fmt.Sprintf(`context {"way":%d,"k%d":1}`, i, i))
			cause := "non_tip_advance"
			if i == 0 {
				cause = "intentional_fork"
			}
			say("then", "cause "+cause+" by advance_recorded")
			say("then", fmt.Sprintf("run in_progress tips=%d", i+1))
			children[p.last.NodeID.String()] = true
			if rapid.Bool().Draw(rt, "further") {
				say("when", "ack")
				say("then", "cause intentional_fork by advance_recorded")
			}
		}
		if len(children) != n {
			rt.Fatalf("%d attempts gave %d nodes", n, len(children))
		}
	})
}
