package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestForm1RunsKeepTheirRules: a run that an earlier version began in form 1 continues by strict
// conditions, by a walk that goes forward only, and enters a list that is too long.
func TestForm1RunsKeepTheirRules(t *testing.T) {
	golden, err := filepath.Abs("../../testdata/stores/v1-conditions/store")
	if err != nil {
		t.Fatal(err)
	}
	g := goldenStore{t, t.TempDir()}
	t.Chdir(g.dir)
	copyStore(t, golden, filepath.Join(g.dir, "home/local"), 0o700, 0o600)
	var list struct {
		Runs []struct{ RunID, Title string }
	}
	g.data(&list, "runs", "list")
	at := slices.IndexFunc(list.Runs, func(r struct{ RunID, Title string }) bool { return r.Title == "Strict" })
	if at < 0 {
		t.Fatal("no run has the title Strict")
	}
	run := list.Runs[at].RunID
	var path []string
	for _, more := range [][]string{{"--set", "again=true"}, nil, nil} {
		var answer struct {
			Pending struct {
				StepInstanceKey, Prompt string
				RequireConfirmation     bool
			}
			Warnings []struct{ Code string }
		}
		g.data(&answer, append([]string{"continue", "--run", run, "--notes", "on"}, more...)...)
		path = append(path, answer.Pending.StepInstanceKey)
		if answer.Pending.RequireConfirmation || strings.Contains(answer.Pending.Prompt, "Slowly") || len(answer.Warnings) > 0 {
			t.Errorf("%+v", answer)
		}
	}
	if want := []string{"wait", "each@0::do", "each@1::do"}; !slices.Equal(path, want) {
		t.Errorf("the run goes through %q, want %q", path, want)
	}
	out := g.waybill(3, "continue", "--run", run, "--notes", "on", "--json")
	if !strings.Contains(out, `"code":"INVARIANT_VIOLATION"`) || !strings.Contains(out, "maxIterations is 2") {
		t.Errorf("the end of the list: %s", out)
	}
	g.data(&struct{}{}, "replay", run)
	if events := g.waybill(0, "runs", "events", run); strings.Contains(events, `"warnings"`) {
		t.Errorf("warnings are recorded: %s", events)
	}
	g.waybill(0, "verify")
}
