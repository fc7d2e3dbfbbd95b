package guard_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/guard"
	"github.com/waybill/waybill/durable/limits"
)

func TestExamplesAreRead(t *testing.T) {
	for _, c := range guard.Clients {
		for _, e := range c.Events {
			in, err := guard.ParseInput(e.Input(`C:\a "b"`))
			if err != nil || in.Event != e.Name || in.Dir != `C:\a "b"` || in.SessionID == "" {
				t.Errorf("%s, %s: %+v, %v", c.Name, e.Name, in, err)
			}
		}
	}
}

func TestInputsThatAreRefused(t *testing.T) {
	for _, text := range []string{"", "x", "[]", `"x"`, `{"cwd":`, strings.Repeat(" ", limits.GuardInputBytesMax) + "{}"} {
		if in, err := guard.ParseInput([]byte(text)); err == nil {
			t.Errorf("%.20q: %+v", text, in)
		}
	}
	// Members of another type are absent.
	if in, err := guard.ParseInput([]byte(`{"cwd":7,"session_id":null}`)); err != nil || in != (guard.Input{}) {
		t.Errorf("%+v, %v", in, err)
	}
}

func TestAnswers(t *testing.T) {
	step := guard.Step{Run: "run_1", RunTitle: "T <&>", StepID: "a", Title: "A", Text: "Do it.", Continue: "waybill continue", Show: "waybill show"}
	claude, gemini := client(t, "claude"), client(t, "gemini")
	start, _ := claude.Event("SessionStart")
	const want = `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"Waybill: the run run_1 (T <&>) of this repository is open. ` +
		`Its pending step is a: A.\n\nDo it.\n\nRead the step and its tokens with: waybill show\nHand it in with: waybill continue\n"}}` + "\n"
	if got := string(guard.Context(start, step)); got != want {
		t.Errorf("context:\n%s\nwant\n%s", got, want)
	}
	for c, decision := range map[string]string{"claude": "block", "codex": "block", "gemini": "deny"} {
		var out map[string]string
		if err := json.Unmarshal(guard.Refuse(client(t, c), step, 1), &out); err != nil || len(out) != 2 ||
			out["decision"] != decision || !strings.Contains(out["reason"], "waybill continue") || !strings.Contains(out["reason"], "refusal 1 of 2") {
			t.Errorf("%s: %v, %v", c, out, err)
		}
	}
	for _, waits := range []guard.Waits{guard.ForPerson, guard.ForMoment, guard.ForCommand, guard.ForHost} {
		waiting := step
		waiting.Waits = waits
		if got := string(guard.Context(start, waiting)); strings.Contains(got, "Do it.") || strings.Contains(got, "Hand it in") {
			t.Errorf("%s: %s", waits, got)
		}
	}
	step.Text, step.RunTitle = strings.Repeat("é", limits.GuardTextBytesMax), strings.Repeat("é", limits.GuardTextBytesMax)
	for _, doc := range [][]byte{guard.Context(start, step), guard.Refuse(gemini, step, 1)} {
		var out struct {
			Reason string `json:"reason"`
			Of     struct {
				Text string `json:"additionalContext"`
			} `json:"hookSpecificOutput"`
		}
		if err := json.Unmarshal(doc, &out); err != nil {
			t.Fatal(err)
		}
		if text := out.Reason + out.Of.Text; len(text) > limits.GuardTextBytesMax || !utf8.ValidString(text) || !strings.Contains(text, "waybill continue") {
			t.Errorf("%d bytes: %.300s", len(text), text)
		}
	}
}
