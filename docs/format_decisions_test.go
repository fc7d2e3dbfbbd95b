package docs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// formatBound is what the decisions of a test are about: step, snapshot, and outputs with a digest.
func formatBound(outputs string) decision.Bound {
	return decision.Bound{Outputs: canon.OfList(formatObject("kind", "notes", "sha256", outputs)), StepInstanceKey: "release",
		SnapshotRef: canon.Sum([]byte("snapshot"))}
}

// formatGiven reads one decision of a test, as "uid:1 approved A 10 reviewer": who, what, about which outputs, at which
// second, with which roles. A person "person" has no principal; "erased" and "plain" are a whole line.
func formatGiven(text string) (g decision.Given) {
	words := strings.Fields(text)
	switch words[0] {
	case "erased":
		return decision.Given{Erased: true}
	case "plain":
		g.Plain = true
	case "person":
	default:
		g.Account, g.Principal = config.Account(words[0]), true
	}
	g.Decision, g.By, g.Bound = event.DecisionWord(words[1]), words[0], formatBound(words[2])
	_, _ = fmt.Sscan(words[3], &g.AtMs)
	g.AtMs *= 1000
	g.Roles = words[4:]
	return g
}

// TestFormatDecisionsThatCount: which decisions count is as the page about artifacts has it. Each row is a gate, the
// decisions at a node in their order, and whether an attempt with the outputs A, of uid:9, after 100 seconds is accepted.
func TestFormatDecisionsThatCount(t *testing.T) {
	for _, c := range []struct {
		why, gate string
		given     []string
		met       bool
	}{
		{"one person", `{}`, []string{"person approved A 1"}, true},
		{"no person", `{}`, nil, false},
		{"other outputs", `{}`, []string{"person approved B 1"}, false},
		{"a decision that denies is no approval", `{}`, []string{"person denied A 1"}, false},
		{"sent back ends approvals", `{}`, []string{"person approved A 1", "person sent_back B 2"}, false},
		{"approved after it was sent back", `{}`, []string{"person sent_back A 1", "person approved A 2"}, true},
		{"others were approved after it was sent back", `{}`, []string{"person sent_back A 1", "person approved B 2"}, false},
		{"erased ends approvals", `{}`, []string{"person approved A 1", "erased"}, false},
		{"approved after an erased one", `{}`, []string{"erased", "person approved A 1"}, true},
		{"an approval without a decision", `{}`, []string{"plain approved A 1"}, true},
		{"an approval without a decision, and a rule", `{"expiresAfter":"1h"}`, []string{"plain approved A 1"}, false},
		{"two people", `{"count":2}`, []string{"uid:1 approved A 1", "uid:2 approved A 2"}, true},
		{"one person twice", `{"count":2}`, []string{"uid:1 approved A 1", "uid:1 approved A 2"}, false},
		{"two without principals", `{"count":2}`, []string{"person approved A 1", "person approved A 2"}, false},
		{"one without a principal", `{"count":2}`, []string{"uid:1 approved A 1", "person approved A 2"}, false},
		{"within the period", `{"expiresAfter":"10s"}`, []string{"person approved A 91"}, true},
		{"at the end of the period", `{"expiresAfter":"10s"}`, []string{"person approved A 90"}, false},
		{"again after the period", `{"expiresAfter":"10s"}`, []string{"person approved A 1", "person approved A 99"}, true},
		{"a holder of the role", `{"approvers":["lead","reviewer"]}`, []string{"uid:1 approved A 1 reviewer"}, true},
		{"a holder of another role", `{"approvers":["lead","reviewer"]}`, []string{"uid:1 approved A 1 guest"}, false},
		{"the performer", `{"notPerformer":true}`, []string{"uid:9 approved A 1"}, false},
		{"another person than the performer", `{"notPerformer":true}`, []string{"uid:1 approved A 1"}, true},
		{"the performer, where it is not excluded", `{}`, []string{"uid:9 approved A 1"}, true},
	} {
		var rule compile.Approval
		if err := json.Unmarshal([]byte(c.gate), &rule); err != nil {
			t.Fatal(err)
		}
		var all []decision.Given
		for _, text := range c.given {
			all = append(all, formatGiven(text))
		}
		if s := decision.Judge(rule, all, formatBound("A"), 100_000, []config.Account{"uid:9"}); s.Met() != c.met {
			t.Errorf("%s: accepted is %v", c.why, s.Met())
		}
	}
}

// TestFormatDecisionSegments: the events of a person's decision are those of the page about the order of events, each with
// the member decision where the page has it.
func TestFormatDecisionSegments(t *testing.T) {
	for word, want := range map[event.DecisionWord]string{
		event.Approved: "gap_recorded=info node_output_appended=wr.human_approval node_output_appended=wr.human_decision",
		event.SentBack: "gap_recorded=info gap_recorded=critical node_output_appended=wr.human_decision",
		event.Denied:   "gap_recorded=info node_output_appended=wr.human_decision run_closed=failed",
	} {
		s, f := waitingFacts(t)
		plan, err := advance.DecideStep(s.c.w, f, advance.Decision{Word: word, Reason: "Name the files.", Actor: s.human, AtMs: s.atMs})
		s.must(err)
		if got := describeSegment(t, plan.Events); got != want {
			t.Errorf("%s: %s\nwant %s", word, got, want)
		}
	}
}

// describeSegment returns the kinds of the events, each with the word that matters here; the artifacts, whose order is that
// of their digests, are sorted.
func describeSegment(t *testing.T, events []event.Event) string {
	t.Helper()
	var words []string
	for _, e := range events {
		word := ""
		switch p := e.Data.(type) {
		case event.GapRecorded:
			word = string(p.Severity)
			if p.Severity == event.Critical && p.Summary != "Sent back by sam: Name the files." {
				t.Errorf("the gap has the summary %q", p.Summary)
			}
		case event.NodeOutputAppended:
			word = p.Payload.ArtifactKind
			if p.Decision == nil || p.Decision.By != "sam" || p.Decision.Reason != "Name the files." {
				t.Errorf("%s has the decision %+v", word, p.Decision)
			}
		case event.RunClosed:
			word = string(p.Outcome)
			if p.Reason != "Denied by sam: Name the files." {
				t.Errorf("the run is closed with the reason %q", p.Reason)
			}
		}
		words = append(words, e.Data.Kind()+"="+word)
	}
	if len(words) == 3 && words[1] > words[2] && strings.HasPrefix(words[2], "node_output") {
		words[1], words[2] = words[2], words[1]
	}
	return strings.Join(words, " ")
}

// waitingFacts returns the facts about the step of the example store that waits for an approval, before it was given.
func waitingFacts(t *testing.T) (*formatStore, advance.Facts) {
	t.Helper()
	s := newFormatStore(t)
	run := s.c.fold.Runs[s.c.run]
	f := s.facts(s.c, run.Order[len(run.Order)-2])
	f.Outputs = slices.DeleteFunc(f.Outputs, func(o advance.Output) bool { return advance.IsDecision(o) })
	f.Approvals, f.HasChild, f.Next = 0, false, s.c.fold.Next
	s.must(waiting(s, &f))
	return s, f
}

// waiting adds the gap of an attempt that was refused for the missing approval.
func waiting(s *formatStore, f *advance.Facts) error {
	for _, seg := range s.c.segs {
		for _, e := range seg.Events {
			if g, ok := e.Data.(event.GapRecorded); ok && g.Resolution.Kind == event.Unresolved && e.Scope.NodeID == f.Node {
				f.OpenGaps = append(f.OpenGaps, advance.OpenGap{ID: g.GapID, Reason: g.Reason, Pointer: g.Pointer, Severity: g.Severity})
				return nil
			}
		}
	}
	return fmt.Errorf("node %s was never refused", f.Node)
}

// TestFormatDecisionsRefused: a person whom a gate excludes, and one who was shown other outputs, decide nothing.
func TestFormatDecisionsRefused(t *testing.T) {
	s, f := waitingFacts(t)
	flow := strings.Replace(formatSweep, `{"kind":"human_approval"}`,
		`{"kind":"human_approval","approvers":["reviewer"],"notPerformer":true}`, 1)
	w := formatCompile(t, "sweep.json", flow)
	f.Performers = []config.Account{"uid:9"}
	for _, word := range []event.DecisionWord{event.Approved, event.SentBack, event.Denied} {
		for why, who := range map[string]advance.Person{
			"another role":  {Account: "uid:1"},
			"the performer": {Account: "uid:9", Roles: []string{"reviewer"}},
		} {
			d := advance.Decision{Word: word, Reason: "r", Actor: s.human, AtMs: s.atMs, Who: who}
			if plan, err := advance.DecideStep(w, f, d); !fault.Is(err, fault.DecisionRefused) || len(plan.Events) > 0 {
				t.Errorf("%s, %s: %v", word, why, err)
			}
		}
		d := advance.Decision{Word: word, Reason: "r", Actor: s.human, AtMs: s.atMs, Seen: canon.Sum([]byte("other")),
			Who: advance.Person{Account: "uid:1", Roles: []string{"reviewer"}}}
		if plan, err := advance.DecideStep(w, f, d); !fault.Is(err, fault.DecisionRefused) || len(plan.Events) > 0 {
			t.Errorf("%s of what was not shown: %v", word, err)
		}
		d.Seen = advance.ApprovalDigest(f)
		if plan, err := advance.DecideStep(w, f, d); err != nil || len(plan.Events) == 0 {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// TestFormatDecisionOfAnotherEvent: a decision that its event states differently counts as one that was erased.
func TestFormatDecisionOfAnotherEvent(t *testing.T) {
	s, f := waitingFacts(t)
	plan, err := advance.DecideStep(s.c.w, f, advance.Decision{Word: event.SentBack, Reason: "r", Actor: s.human, AtMs: s.atMs})
	s.must(err)
	stated := plan.Events[2].Data.(event.NodeOutputAppended)
	object := plan.Objects[slices.IndexFunc(plan.Objects, func(o manifest.Object) bool { return o.Ref() == stated.Payload.SHA256 })]
	content, err := canon.Parse(object.Bytes)
	s.must(err)
	for _, word := range []event.DecisionWord{event.SentBack, event.Approved} {
		other := *stated.Decision
		other.Decision = word
		f := f
		f.Outputs = append(slices.Clone(f.Outputs), advance.Output{ID: stated.OutputID, Payload: stated.Payload, JSON: content, Decision: &other})
		states := advance.Decisions(s.c.w, f, s.atMs)
		if states[0].Unchanged != (word == event.SentBack) || states[0].Met() {
			t.Errorf("%s: %+v", word, states[0])
		}
	}
}
