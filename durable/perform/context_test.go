package perform_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

func argv(words ...string) canon.Digest { return command.ArgvDigest(source.Action{Argv: words}) }

// deltas lists the recorded context deltas.
func (w *fixture) deltas() string {
	var out []string
	for _, e := range w.events() {
		if c, ok := e.Data.(event.ContextSet); ok {
			out = append(out, string(c.Context.JCS()))
		}
	}
	return strings.Join(out, " ")
}

func TestContextIsSentOnce(t *testing.T) {
	w := newFixture(t, steps(buildStep+strings.ReplaceAll(buildStep, "build", "again")))
	if _, err := w.perform(context.Background(), perform.Options{Context: members("k", "v")}); err != nil {
		t.Fatal(err)
	}
	if got := w.deltas(); got != `{"k":"v"}` {
		t.Errorf("recorded %s", got)
	}
}

func TestInputsOfRefusedAttemptAreKept(t *testing.T) {
	w := newFixture(t, steps(inputStep))
	w.answers, w.outcomes = []string{"b", "3"}, []ports.CommandOutcome{bad}
	if _, err := w.perform(context.Background(), perform.Options{}); codeOf(err) != fault.StepFailed {
		t.Fatal(err)
	}
	if _, err := w.perform(context.Background(), perform.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := w.deltas(); got != `{"count":3,"target":"b"}` {
		t.Errorf("recorded %s", got)
	}
}

// replaced is a log that was replaced by another one with the same events, as
// by a repair: it does not contain any head that was read before.
type replaced struct{ ports.Logs }

func (r replaced) Read(ctx context.Context, q ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	if q.From != (manifest.Head{}) {
		return manifest.Verdict{}, manifest.ErrNotOnChain
	}
	return r.Logs.Read(ctx, q, visit)
}

func TestReplacedLogIsReadFromBeginning(t *testing.T) {
	w := newFixture(t, steps(inputStep))
	w.answers = []string{"a", "1"}
	p := w.performer()
	p.Logs = replaced{w.store}
	if _, err := p.Perform(context.Background(), w.at.Session, w.at.Run, perform.Options{}); err != nil {
		t.Fatal(err)
	}
}

func TestTypedInputsParseLikeSetFlags(t *testing.T) {
	for typed, want := range map[string]string{"3": `3`, "[1, 2]": `[1,2]`, "true": `true`, "007": `"007"`,
		"null":                 `"null"`,
		"12345678901234567890": `"12345678901234567890"`, "plain text": `"plain text"`, `"quoted"`: `"quoted"`} {
		w := newFixture(t, steps(strings.Replace(inputStep,
			"      - {contextKey: target, reason: needs_user_choice, choiceKind: scope_boundary, choices: [a, b], "+
				"description: Where to}\n", "", 1)))
		w.answers = []string{typed}
		if _, err := w.perform(context.Background(), perform.Options{}); err != nil {
			t.Fatal(err)
		}
		if got := w.deltas(); got != `{"count":`+want+`}` {
			t.Errorf("%q was recorded as %s", typed, got)
		}
	}
	w := newFixture(t, steps(strings.ReplaceAll(inputStep, "[a, b]", `["1", "2"]`)))
	w.answers = []string{"1", "x"}
	if _, err := w.perform(context.Background(), perform.Options{}); err != nil ||
		w.deltas() != `{"count":"x","target":"1"}` {
		t.Errorf("a choice was recorded as %s, %v", w.deltas(), err)
	}
}

func TestRefusedStepIsResumedWithDraft(t *testing.T) {
	w := newFixture(t, steps(noteStep))
	w.answers = []string{"  ", "^D"}
	if _, err := w.perform(context.Background(), perform.Options{}); codeOf(err) != fault.RunWaiting {
		t.Fatal(err)
	}
	w.transcript()
	w.answers = []string{"at last"}
	if _, err := w.perform(context.Background(), perform.Options{}); err != nil {
		t.Fatal(err)
	}
	got := w.transcript()
	for _, line := range []string{`refused before: Step "note" requires notes and none were given.`,
		`notes? required=true draft="  " "at last"`} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
}

// pickStep takes its choices from what the command printed.
const pickStep = "  - {id: pick, title: Pick, prompt: p, inputs: [{contextKey: target, reason: needs_user_artifact, " +
	"description: Where to, choicesFrom: {step: build, pointer: \"\"}}]}\n"

// printed is the outcome of a command that printed a text.
func printed(text string) ports.CommandOutcome {
	return ports.CommandOutcome{DurationMs: 5, Stdout: command.Stream{Bytes: int64(len(text)), Head: text}}
}

// TestChoicesWithoutAPerson: a run without a person waits for the choice and names the choices, also
// when a value that is none of them was given, and records nothing.
func TestChoicesWithoutAPerson(t *testing.T) {
	w := newFixture(t, steps(buildStep+pickStep))
	w.outcomes = []ports.CommandOutcome{printed(`["north",3]`)}
	if _, err := w.perform(context.Background(), perform.Options{}); codeOf(err) != fault.RunWaiting {
		t.Fatal(err)
	}
	before := len(w.events())
	for given, want := range map[string]perform.Options{
		`target (Where to; one of "north", 3)`:                           {},
		`target (Where to; "south" is not accepted; one of "north", 3)`:  {Context: members("target", "south")},
		`target (Where to; "north " is not accepted; one of "north", 3)`: {Context: members("target", "north ")},
	} {
		notes := "n"
		want.Notes = &notes
		if _, err := w.perform(context.Background(), want); codeOf(err) != fault.RunWaiting || !strings.Contains(err.Error(), given) {
			t.Errorf("%s: %v", given, err)
		}
	}
	if got := len(w.events()); got != before {
		t.Errorf("%d events were recorded", got-before)
	}
	w.answers = []string{"3", ""}
	if _, err := w.perform(context.Background(), perform.Options{Context: members("target", "south")}); err != nil || w.deltas() != `{"target":3}` {
		t.Errorf("%v, %s", err, w.deltas())
	}
}

// TestNoChoicesWithAPerson: without a usable list no question is asked, and the step with the list is named;
// in never-stop the run continues.
func TestNoChoicesWithAPerson(t *testing.T) {
	w := newFixture(t, steps(buildStep+pickStep))
	w.outcomes = []ports.CommandOutcome{printed(`{}`)}
	w.answers = []string{}
	_, err := w.perform(context.Background(), perform.Options{})
	if codeOf(err) != fault.RunWaiting || !strings.Contains(err.Error(), "it is an object, not a list") || !strings.Contains(fault.Of(err).Suggestion.String(), "--at build") {
		t.Errorf("%v", err)
	}
	w.answers = []string{""}
	never := perform.Options{Preferences: []event.PreferenceChange{{Key: "autonomy", Value: string(event.FullAutoNeverStop)}}}
	if _, err := w.perform(context.Background(), never); err != nil {
		t.Error(err)
	}
}
