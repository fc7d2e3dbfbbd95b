package perform_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

const lookAgain = "look again"

var backScenarios = []scenario{
	{name: "at notes the person goes back, and the run continues on the branch",
		source:   steps(lookStep + strings.ReplaceAll(lookStep, "look", "check") + noteStep),
		answers:  []string{"one", "two", "^B", "1", "one again", "two again", "three"},
		attempts: "advanced advanced advanced advanced advanced",
		script: `hold
			run Release, 0 of 3 done
			[1/3] Look: "Look at it."
			notes? required=false draft="" "one"
			ok
			[2/3] Look: "Look at it."
			notes? required=false draft="" "two"
			ok
			[3/3] Note: "Write it down."
			notes? required=true draft="" "^B"
			ask? Go back: the number of the step to do again "Look" | "Look", visit 2 "1"
			[1/3] Look: "Look at it."
			warning: AGAIN
			notes? required=false draft="one" "one again"
			ok
			[2/3] Look: "Look at it."
			notes? required=false draft="" "two again"
			ok
			[3/3] Note: "Write it down."
			notes? required=true draft="" "three"
			ok
			release`},
	{name: "the person stays: the same question is asked again, and a command does not run again",
		source: steps(lookStep + reportStep), answers: []string{"one", "^B", "", "found"},
		attempts: "advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Look: "Look at it."
			notes? required=false draft="" "one"
			ok
			[2/2] Report: "---"
			$ report (1 of 1)
			status 0, last true, again in 0 ms
			notes? required=true draft="" "^B"
			ask? Go back: the number of the step to do again "Look" ""
			notes? required=true draft="" "found"
			ok
			release`},
	{name: "what was chosen is asked for again",
		source:   assessments + steps(assessedSteps+noteStep),
		answers:  []string{"seen", "low", "", "^B", "1", "seen again", "high", "good", "end"},
		attempts: "advanced advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Look: "Look at it."
			notes? required=false draft="" "seen"
			ask? How risky [low/high] "low"
			ask? How covered [thin/good] ""
			ok
			[2/2] Note: "Write it down."
			notes? required=true draft="" "^B"
			ask? Go back: the number of the step to do again "Look" "1"
			[1/2] Look: "Look at it."
			warning: AGAIN
			notes? required=false draft="seen" "seen again"
			ask? How risky [low/high] "high"
			ask? How covered [thin/good] "good"
			ok
			[2/2] Note: "Write it down."
			notes? required=true draft="" "end"
			ok
			release`},
	{name: "a command runs again, as another attempt", source: steps(buildStep + noteStep),
		answers: []string{"^B", "1", "end"}, attempts: "advanced advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Build: ""
			$ make all (1 of 1)
			status 0, last true, again in 0 ms
			ok
			[2/2] Note: "Write it down."
			notes? required=true draft="" "^B"
			ask? Go back: the number of the step to do again "Build" "1"
			[1/2] Build: ""
			warning: AGAIN
			$ make all (1 of 1)
			status 0, last true, again in 0 ms
			ok
			[2/2] Note: "Write it down."
			notes? required=true draft="" "end"
			ok
			release`},
	{name: "a confirmation goes back", source: steps(lookStep + goStep),
		answers: []string{"one", "^B", "1", "again", "y", ""}, attempts: "advanced advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Look: "Look at it."
			notes? required=false draft="" "one"
			ok
			[2/2] Go: "Ready for it"
			confirm? Continue with this step? "^B"
			ask? Go back: the number of the step to do again "Look" "1"
			[1/2] Look: "Look at it."
			warning: AGAIN
			notes? required=false draft="one" "again"
			ok
			[2/2] Go: "Ready for it"
			confirm? Continue with this step? "y"
			notes? required=false draft="" ""
			ok
			release`},
	{name: "other notes of an approved step need an approval of their own",
		source: steps(notedShip + noteStep), answers: []string{"one", "y", "^B", "1", "two", "y", "end"},
		attempts: "blocked advanced blocked advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Ship: "Ship it."
			notes? required=true draft="" "one"
			approve? "one" "y"
			ok
			[2/2] Note: "Write it down."
			notes? required=true draft="" "^B"
			ask? Go back: the number of the step to do again "Ship" "1"
			[1/2] Ship: "Ship it."
			warning: AGAIN
			notes? required=true draft="one" "two"
			approve? "two" "y"
			ok
			[2/2] Note: "Write it down."
			notes? required=true draft="" "end"
			ok
			release`},
	{name: "the advice after leaving at an earlier step names the step",
		source: steps(lookStep + noteStep), answers: []string{"one", "^B", "1", "^D"}, attempts: "advanced",
		code: fault.RunWaiting, want: "step 1 of 2, \"Look\" Continue with 'waybill run --run R --at node_",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Look: "Look at it."
			notes? required=false draft="" "one"
			ok
			[2/2] Note: "Write it down."
			notes? required=true draft="" "^B"
			ask? Go back: the number of the step to do again "Look" "1"
			[1/2] Look: "Look at it."
			warning: AGAIN
			notes? required=false draft="one" "^D"
			release`},
}

func TestGoingBack(t *testing.T) {
	for _, s := range backScenarios {
		s.script = strings.ReplaceAll(s.script, "AGAIN", "This step was done before. What was recorded stays, and the "+
			"run continues from here on a new branch.")
		t.Run(s.name, s.check)
	}
}

// from performs the run from a node.
func (w *fixture) from(node id.Node, answers ...string) error {
	w.answers = answers
	_, err := w.perform(context.Background(), perform.Options{At: node})
	return err
}

// edges are the causes of the run's edges of acknowledged steps, in order.
func (w *fixture) edges() string {
	var out []string
	for _, e := range w.events() {
		if p, ok := e.Data.(event.EdgeCreated); ok {
			out = append(out, string(p.Cause.Kind))
		}
	}
	return strings.Join(out, " ")
}

// TestPerformFromEarlierNode: a complete run is continued from an earlier node on a branch, and what
// was recorded before remains as it was.
func TestPerformFromEarlierNode(t *testing.T) {
	w := newFixture(t, steps(lookStep+noteStep))
	if err := w.from(id.Node{}, "one", "two"); err != nil {
		t.Fatal(err)
	}
	before := w.events()
	err := w.from(w.at.Node, lookAgain, "^D")
	if f := fault.Of(err); f == nil || f.Suggestion.String() != "Continue with 'waybill run --run R'." {
		t.Fatal(err)
	}
	if got := w.events()[:len(before)]; !slices.EqualFunc(got, before, func(a, b event.Event) bool { return a.ID == b.ID }) {
		t.Error("earlier events changed")
	}
	if got := w.edges(); got != "intentional_fork intentional_fork non_tip_advance" {
		t.Error(got)
	}
	// The branch is the preferred one from then on.
	w.transcript()
	if err := w.from(id.Node{}, "end"); err != nil {
		t.Fatal(err)
	}
	if got := w.transcript(); !strings.Contains(got, "run Release, 1 of 2 done\n[2/2] Note") {
		t.Error(got)
	}
	other := newFixture(t, steps(lookStep))
	if err := w.from(id.RootNode(id.NewRun(id.Seed{7}))); !fault.Is(err, fault.TokenUnknownNode) {
		t.Errorf("a node of another run %s: %v", other.at.Node, err)
	}
}

const commitStep = "  - {id: build, title: Build, outputs: {commit: 'json:/commit'}, action: {kind: command, argv: [make, all]}}\n"

// printing is a successful try whose output file holds a commit.
func printing(commit string) ports.CommandOutcome {
	return ports.CommandOutcome{DurationMs: 5, Written: []byte(`{"commit":"` + commit + `"}`)}
}

// TestGoingBackToCommand: a command that is done again runs again, although an earlier branch recorded a result
// or was given its value, and its values are those of the branch; within the branch it runs once.
func TestGoingBackToCommand(t *testing.T) {
	w := newFixture(t, steps(commitStep+noteStep))
	build := w.at.Node
	commit := func() string {
		t.Helper()
		a, err := w.g.Rehydrate(context.Background(), w.at)
		if err != nil {
			t.Fatal(err)
		}
		v, _ := a.Context().Get("commit")
		return v.Text()
	}
	// Not written, then given by the caller: the first branch, with a result that lacks the value.
	w.outcomes = []ports.CommandOutcome{{DurationMs: 5}}
	_, err := w.perform(context.Background(), perform.Options{})
	if !fault.Is(err, fault.RunBlocked) {
		t.Fatal(err)
	}
	given := perform.Options{Context: parse(t, `{"commit":"given"}`)}
	if _, err := w.perform(context.Background(), given); !fault.Is(err, fault.RunWaiting) || len(w.tries) != 1 {
		t.Fatalf("%v, %d tries", err, len(w.tries))
	}
	// The branch: its command runs although a value is given, and is refused for want of another one.
	w.outcomes = []ports.CommandOutcome{{DurationMs: 5}}
	if _, err := w.perform(context.Background(), perform.Options{At: build}); !fault.Is(err, fault.RunBlocked) ||
		len(w.tries) != 2 {
		t.Fatalf("%v, %d tries", err, len(w.tries))
	}
	// In the branch the result is known from then on, also to another process.
	given = perform.Options{At: build, Context: parse(t, `{"commit":"branch"}`)}
	if _, err := w.perform(context.Background(), given); !fault.Is(err, fault.RunWaiting) || len(w.tries) != 2 {
		t.Fatalf("%v, %d tries", err, len(w.tries))
	}
	// Another branch: the command runs, although the value is given with the call, and its value counts.
	w.outcomes = []ports.CommandOutcome{printing("written")}
	given = perform.Options{At: build, Context: parse(t, `{"commit":"typed"}`)}
	if _, err := w.perform(context.Background(), given); !fault.Is(err, fault.RunWaiting) ||
		len(w.tries) != 3 {
		t.Fatalf("%v, %d tries", err, len(w.tries))
	}
	var got []string
	for _, e := range w.events() {
		if p, ok := e.Data.(event.AdvanceRecorded); ok && p.Outcome.ToNodeID != nil {
			w.at.Node = *p.Outcome.ToNodeID
			got = append(got, commit())
		}
	}
	if want := "given branch written"; strings.Join(got, " ") != want {
		t.Errorf("commits %q, want %q", got, want)
	}
	if got := w.attempts(); got != "blocked advanced blocked advanced advanced" {
		t.Error(got)
	}
}

// TestApprovedBranchOfCommand: the approval of a command that ran on a branch lets the branch continue
// in a later call; the command does not run once more and void it.
func TestApprovedBranchOfCommand(t *testing.T) {
	w := newFixture(t, steps(commandShip+noteStep))
	ship, ctx := w.at.Node, context.Background()
	approve := func() {
		t.Helper()
		at := w.at
		at.Node = ship
		shown, err := w.g.Approvable(ctx, w.performer().By, at)
		if err == nil {
			_, err = w.g.Decide(ctx, w.performer().By, shown, event.Approved, "")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for branch := 1; branch <= 2; branch++ {
		for _, approved := range []bool{false, true} {
			if approved {
				approve()
			}
			opts := perform.Options{At: ship}
			if branch == 1 {
				opts = perform.Options{}
			}
			w.outcomes = []ports.CommandOutcome{{DurationMs: int64(len(w.tries) + 1)}}
			if _, err := w.perform(ctx, opts); !fault.Is(err, fault.RunWaiting) {
				t.Fatal(err)
			}
			if len(w.tries) != branch {
				t.Fatalf("branch %d, approved %v: %d tries", branch, approved, len(w.tries))
			}
		}
	}
	if got := w.attempts(); got != "blocked advanced blocked advanced" {
		t.Error(got)
	}
}

// TestAnotherCallerDuringBranch: an agent advances while a person does an earlier step again. On the
// other branch, both are recorded and the performer follows its own. At the same node the attempt that
// was recorded first counts, with a warning, and the performer continues behind it.
func TestAnotherCallerDuringBranch(t *testing.T) {
	for name, c := range map[string]struct {
		sameNode bool
		steps    string // that the performer shows
		edges    string
		attempts string
	}{
		"on the other branch": {false, "Look Check Note", "intentional_fork intentional_fork non_tip_advance intentional_fork " +
			"intentional_fork", "advanced advanced advanced advanced advanced"},
		"at the same node": {true, "Look Check Note", "intentional_fork non_tip_advance intentional_fork intentional_fork",
			"advanced advanced advanced advanced"},
	} {
		t.Run(name, func(t *testing.T) {
			check := strings.NewReplacer("look", "check", "Look", "Check").Replace(lookStep)
			w := newFixture(t, steps(lookStep+check+noteStep))
			look := w.at
			if err := w.from(id.Node{}, "one", "^D"); !fault.Is(err, fault.RunWaiting) {
				t.Fatal(err)
			}
			w.transcript()
			sent := w.sent
			w.onSend = func(n int) error {
				if n != sent+1 {
					return nil
				}
				at := look
				if !c.sameNode {
					list, err := w.g.Run(context.Background(), w.at.Run.String())
					if err != nil {
						return err
					}
					at.Node = list.Tips[0].NodeID
				}
				a, err := w.g.Rehydrate(context.Background(), at)
				if err == nil {
					_, err = w.g.Advance(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 5},
						a.Position(), a.AttemptID, advance.Request{Notes: "of the agent"})
				}
				return err
			}
			if err := w.from(look.Node, lookAgain, "", "end"); err != nil {
				t.Fatal(err)
			}
			var shown []string
			transcript := w.transcript()
			for line := range strings.Lines(transcript) {
				if _, title, ok := strings.Cut(line, "/3] "); ok {
					title, _, _ = strings.Cut(title, ":")
					shown = append(shown, title)
				}
			}
			if strings.Join(shown, " ") != c.steps || w.edges() != c.edges || w.attempts() != c.attempts {
				t.Errorf("%q\n%q\n%q\n%s", shown, w.edges(), w.attempts(), transcript)
			}
			var kept int
			for _, e := range w.events() {
				if o, ok := e.Data.(event.NodeOutputAppended); ok && o.Payload.NotesMarkdown == lookAgain {
					kept++
				}
			}
			if (kept == 1) == c.sameNode {
				t.Errorf("the person's notes were recorded %d times", kept)
			}
		})
	}
}

// TestAnotherPerformerDuringBranch: a second 'run' does not perform steps beside the first.
func TestAnotherPerformerDuringBranch(t *testing.T) {
	w := newFixture(t, steps(commitStep+noteStep))
	build := w.at.Node
	w.outcomes = []ports.CommandOutcome{printing("one"), printing("two")}
	if _, err := w.perform(context.Background(), perform.Options{}); !fault.Is(err, fault.RunWaiting) {
		t.Fatal(err)
	}
	var second error
	w.onTry = func(int, ports.Command) error {
		_, second = w.perform(context.Background(), perform.Options{At: build})
		return nil
	}
	if _, err := w.perform(context.Background(), perform.Options{At: build}); !fault.Is(err, fault.RunWaiting) {
		t.Fatal(err)
	}
	if !fault.Is(second, fault.RunBusy) || len(w.tries) != 2 || w.attempts() != "advanced advanced" {
		t.Errorf("%v, %d tries, %s", second, len(w.tries), w.attempts())
	}
}
