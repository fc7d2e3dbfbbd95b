package perform_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/ports"
)

// failing is the outcome of a command that exits with status 1 after it wrote to stderr.
func failing(stderr string) ports.CommandOutcome {
	return ports.CommandOutcome{ExitStatus: 1, Stderr: command.Stream{Bytes: int64(len(stderr)), Head: stderr}}
}

// TestBlockedAnswersNameChecks: a refused attempt names its checks with the end of their output, the same
// in each repetition of the call; nothing of the output is in the log.
func TestBlockedAnswersNameChecks(t *testing.T) {
	w := newChecked(t, checkedText, `{"name":"Ada"}`)
	h := newHandIns(w)
	first, err := h.e.Rehydrate(t.Context(), w.at)
	if err != nil || first.Checks != nil {
		t.Fatalf("%+v, %v", first.Checks, err)
	}
	long := strings.Repeat("line\n", limits.CheckTailBytesMax)
	w.outcomes = []ports.CommandOutcome{failing(long + "CANARY one\n"), failing("\x1b[31mCANARY two\n")}
	refused, err := h.send(t.Context(), first)
	if err != nil || len(refused.Blockers) != 2 || refused.Checks != nil {
		t.Fatalf("%+v, %v", refused.Blockers, err)
	}
	named, unit := refused.Blockers[0].Check, refused.Blockers[1].Check
	if named.ID != "named" || *named.Exit != 1 || *named.OutputTail != "\x1b[31mCANARY two" || named.Tests != nil {
		t.Errorf("%+v", named)
	}
	if unit.ID != "unit" || *unit.Exit != 1 || !strings.HasSuffix(*unit.OutputTail, "line\nCANARY one") ||
		len(*unit.OutputTail) > limits.CheckTailBytesMax || len(*unit.OutputTail) < limits.CheckTailBytesMax/2 {
		t.Errorf("%+v", unit)
	}
	again, err := h.send(t.Context(), first)
	if err != nil || !reflect.DeepEqual(again.Blockers, refused.Blockers) {
		t.Errorf("repeated: %+v, %v", again.Blockers, err)
	}
	w.outcomes = []ports.CommandOutcome{report(1), {}}
	second, err := h.send(t.Context(), refused)
	if err != nil || len(second.Blockers) != 1 || second.Blockers[0].Check.Tests == nil || second.Blockers[0].Check.Tests.Passed != 1 ||
		*second.Blockers[0].Check.OutputTail != "TAP version 13\nok\n1..1" {
		t.Fatalf("%+v, %v", second.Blockers, err)
	}
	// The first attempt is answered as it was, over the log that it ended.
	if again, err = h.send(t.Context(), first); err != nil || !reflect.DeepEqual(again.Blockers, refused.Blockers) {
		t.Errorf("repeated later: %+v, %v", again.Blockers, err)
	}
	later, err := h.e.Rehydrate(t.Context(), w.at)
	if err != nil || len(later.Checks) != 2 || later.Checks[0].ID != "unit" || later.Checks[0].Passed || later.Checks[0].StdoutTail == "" ||
		!later.Checks[1].Passed || later.Checks[1].StdoutTail+later.Checks[1].Why != "" || strings.Contains(later.Recap, "wr.check_result") {
		t.Errorf("%+v, %v", later.Checks, err)
	}
	for _, e := range w.events() {
		raw, err := json.Marshal(e.Data)
		if err != nil || bytes.Contains(raw, []byte("CANARY")) || bytes.Contains(raw, []byte("outputTail")) {
			t.Errorf("%s: %s, %v", e.Data.Kind(), raw, err)
		}
	}
	w.outcomes = []ports.CommandOutcome{report(2), {}}
	done, err := h.send(t.Context(), second)
	if err != nil || done.Checks != nil || strings.Contains(done.Pending.Prompt, "wr.check_result") {
		t.Errorf("%+v, %v", done.Checks, err)
	}
	if left, err := h.e.Rehydrate(t.Context(), w.at); err != nil || left.Checks != nil {
		t.Errorf("the step that was left has %+v, %v", left.Checks, err)
	}
}

// TestRunsShowChecks: a run shows the checks of the last attempt at a pending step, and of the one that
// completed it; the logs have what all of them printed.
func TestRunsShowChecks(t *testing.T) {
	w := newChecked(t, checkedText, `{"name":"Ada"}`)
	h := newHandIns(w)
	first, err := h.e.Rehydrate(t.Context(), w.at)
	if err != nil {
		t.Fatal(err)
	}
	run := w.at.Run.String()
	shown := func() views.StepRow {
		t.Helper()
		r, err := w.g.Run(t.Context(), run)
		if err != nil || len(r.Steps) != 2 || r.Steps[1].Checks != nil {
			t.Fatalf("%+v, %v", r.Steps, err)
		}
		return r.Steps[0]
	}
	if row := shown(); row.Checks != nil {
		t.Errorf("%+v", row.Checks)
	}
	w.outcomes = []ports.CommandOutcome{failing("no\n"), {}}
	refused, err := h.send(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	row := shown()
	if len(row.Checks) != 2 || row.Checks[0].ID != "unit" || row.Checks[0].Passed || row.Checks[0].Exit != 1 || row.Checks[0].StderrTail != "no\n" ||
		row.Checks[0].Why != "exited with status 1, want 0" || !row.Checks[1].Passed || row.State != views.StepPending {
		t.Errorf("%+v", row.Checks)
	}
	w.outcomes = []ports.CommandOutcome{report(2), {}}
	if _, err := h.send(t.Context(), refused); err != nil {
		t.Fatal(err)
	}
	row = shown()
	if len(row.Checks) != 2 || !row.Checks[0].Passed || row.Checks[0].Tests.Passed != 2 || row.Checks[0].StdoutTail != "" || row.State != views.StepDone {
		t.Errorf("%+v", row.Checks)
	}
	if len(row.Artifacts) != 4 {
		t.Errorf("%d artifacts", len(row.Artifacts))
	}
	for stream, want := range map[views.StreamName]string{views.Stderr: "unit failed 'no\n'; ", views.Stdout: "unit passed 'TAP version 13\nok\nok\n1..2\n'; "} {
		logs, err := w.g.CommandLogs(t.Context(), views.LogQuery{Run: run, Step: "verify", Stream: stream})
		if err != nil || len(logs.Entries) != 4 {
			t.Fatalf("%+v, %v", logs.Entries, err)
		}
		got := ""
		for _, e := range logs.Entries {
			if e.Head != "" {
				got += e.CheckID + map[bool]string{true: " passed '", false: " failed '"}[e.ExitStatus == 0] + e.Head + "'; "
			}
			if e.CheckID == "" || e.Tries != 1 || e.Stream != stream || e.ResultNote != "" {
				t.Errorf("%+v", e)
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", stream, got, want)
		}
	}
}
