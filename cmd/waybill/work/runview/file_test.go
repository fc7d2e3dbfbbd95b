//go:build linux

package runview

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

func TestAskBriefChoices(t *testing.T) {
	levels := ports.Question{Text: "How risky?", Key: "risk", Choices: []string{"low", "lower", "High"}, Inline: true}
	for typed, want := range map[string]string{"low\n": "low", "LOWER\n": "lower", "h\n": "High", "3\n": "High",
		"2\n": "lower"} {
		d := sit(t, 60)
		d.answers(typed)
		if got, err := d.Ask(context.Background(), levels); got != want || err != nil {
			t.Errorf("%q: %q, %v", typed, got, err)
		}
		if screen := d.screen(); !strings.Contains(screen, "? How risky? (risk)\n  [low/lower/High] › ") {
			t.Errorf("shown:\n%s", screen)
		}
	}
	d := sit(t, 60)
	d.answers("lo\n", "\n", "4\n", "medium\n", "low\n") // ambiguous prefix; then three invalid answers
	if got, err := d.Ask(context.Background(), levels); got != "low" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if screen := d.screen(); strings.Count(screen, "Type low, lower or High.") != 4 {
		t.Errorf("shown:\n%s", screen)
	}
	levels.Optional = true
	d = sit(t, 60)
	d.answers("\n")
	if got, err := d.Ask(context.Background(), levels); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if screen := d.screen(); !strings.Contains(screen, "or Enter for none") {
		t.Errorf("shown:\n%s", screen)
	}
}

func TestFile(t *testing.T) {
	question := ports.FileQuestion{Text: "This step wants a result.",
		Command: "waybill continue --run abc --artifact FILE",
		Example: canon.OfMembers(canon.Member{Name: "kind", Value: canon.OfString("k\x1b")})}
	for typed, want := range map[string]string{"out.json\n": "out.json", "  'my file.json' \n": "my file.json",
		"\"q.json\"\n": "q.json",
		"~/x.json\n":   "/home/you/x.json", "'\n": "'"} {
		d := sit(t, 60)
		read := ""
		d.opts.Getenv = func(string) string { return "/home/you" }
		d.opts.Read = func(name string) (advance.Artifact, error) {
			read = name
			return advance.Artifact{Bytes: []byte("x")}, nil
		}
		d.answers(typed)
		if got, err := d.File(context.Background(), question); string(got.Bytes) != "x" || err != nil || read != want {
			t.Errorf("%q: read %q, %v", typed, read, err)
		}
		if screen := d.screen(); !strings.Contains(screen, "\"kind\": \"k\\u001b\"") ||
			strings.Contains(screen, "\x1b") || !strings.Contains(screen, "'"+question.Command+"'") {
			t.Errorf("shown:\n%s", screen)
		}
	}
	d := sit(t, 60)
	d.opts.Read = func(string) (advance.Artifact, error) {
		return advance.Artifact{}, fault.New(fault.ValidationError, "--artifact no.json cannot be read")
	}
	d.answers("no.json\n", "\n")
	if _, err := d.File(context.Background(), question); err != ports.ErrPersonStopped {
		t.Error(err)
	}
	if screen := d.screen(); !strings.Contains(screen, "✗ no.json cannot be read\n") {
		t.Errorf("shown:\n%s", screen)
	}
	question.Optional, question.Wrong = true, []string{"/x: expected text"}
	d = sit(t, 60)
	d.answers("\n")
	if got, err := d.File(context.Background(), question); len(got.Bytes) > 0 || err != nil {
		t.Error(got, err)
	}
	if screen := d.screen(); !strings.Contains(screen, "The artifact is not valid:\n  ! /x: expected text\n") ||
		strings.Contains(screen, "Example:") {
		t.Errorf("shown:\n%s", screen)
	}
}

// TestApproveShowsOutput: notes and artifacts are shown, each line of them behind a bar; content that
// is not text is named.
func TestApproveShowsOutput(t *testing.T) {
	list, _ := canon.Parse([]byte(`{"items":["\u202e","` + strings.Repeat("x", 70) + `"]}`))
	for typed, want := range map[string]ports.ApprovalAnswer{"y\n": ports.ApprovalGiven, "YES\n": ports.ApprovalGiven,
		"\n": ports.ApprovalRefused, "n\n": ports.ApprovalRefused, "sure\n": ports.ApprovalRefused,
		"e\n": ports.ApprovalEdit, "Edit\n": ports.ApprovalEdit, "ey\n": ports.ApprovalRefused} {
		d := sit(t, 60)
		d.StepBegan(perform.StepView{Title: "Ship it"})
		d.answers(typed)
		got, err := d.Approve(context.Background(), ports.ApproveQuestion{Notes: "the \x1b[2Jplan",
			Results: []ports.Result{{Name: "list", ContentType: "application/json", JSON: list},
				{Name: "text/plain", ContentType: "text/plain", Bytes: 9, Text: "one\n│ two"},
				{Name: "image/png", ContentType: "image/png", Bytes: 12,
					Digest: canon.Sum(nil), Path: "artifacts/ab"}}})
		if got != want || err != nil {
			t.Errorf("%q: %v, %v", typed, got, err)
		}
		screen := d.screen()
		for _, line := range []string{"\nShip it\n", "  Submitted\n", "  │ the ␛[2Jplan\n", "  list\n",
			"    type application/json\n", "  │     \"\\u202e\",\n", "  │     \"" + strings.Repeat("x", 50) + "\n  │ xxx",
			"  │ one\n  │ │ two\n", "    12 bytes,\n        sha256:", "It is not text. Look at it with:\n",
			"\nod -c '/the store/artifacts/ab' | less\n", "\nApprove? [y/N] "} {
			if !strings.Contains("\n"+screen, line) {
				t.Errorf("no %q on the screen:\n%s", line, screen)
			}
		}
	}
	d := sit(t, 60)
	d.answers("\x04")
	if got, err := d.Approve(context.Background(), ports.ApproveQuestion{}); got != ports.ApprovalRefused || err != ports.ErrPersonStopped {
		t.Error(got, err)
	}
	if screen := d.screen(); !strings.Contains(screen, "Nothing was submitted for this step.") {
		t.Errorf("shown:\n%s", screen)
	}
}
