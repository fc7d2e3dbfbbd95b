//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sixSteps = `id: test.six
name: Six
description: d
version: 1.0.0
steps:
- {id: survey, title: Survey, prompt: p}
- {id: two, title: Two, prompt: p}
- {id: three, title: Three, prompt: p}
- {id: four, title: Four, prompt: p}
- {id: five, title: Five, prompt: p}
- {id: six, title: Six, prompt: p}
- {id: seven, title: Seven, prompt: p}
`

// TestAnAgentFindsARunByItsFirstStep: after five more steps, among many runs of the same commit, another server process
// finds it by words of the notes of its first step; and by the branch on which a step was made, from another directory.
func TestAnAgentFindsARunByItsFirstStep(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t)
	for _, dir := range []string{".waybill/workflows", ".git/refs/heads"} {
		if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.writeFile(".waybill/workflows/six.yaml", sixSteps)
	p.writeFile(".git/HEAD", "ref: refs/heads/main\n")
	p.writeFile(".git/refs/heads/main", strings.Repeat("1", 40)+"\n")
	p.writeFile(".git/refs/heads/tunnel", strings.Repeat("2", 40)+"\n")
	c := p.agent()
	a := c.tool("start_workflow", `{"workflowId":"test.six"}`)
	run := a.Data.Session.RunID
	for i, notes := range []string{"Surveyed the badger tunnel.\nIt is 40 m long.", "b", "c", "d", "e", "f"} {
		if i == 3 {
			p.writeFile(".git/HEAD", "ref: refs/heads/tunnel\n")
		}
		a = c.tool("continue_workflow", map[string]any{"stateToken": a.Data.StateToken, "ackToken": a.Data.AckToken,
			"output": map[string]any{"notesMarkdown": notes}})
	}
	p.writeFile(".git/HEAD", "ref: refs/heads/main\n")
	for range 8 {
		c.tool("start_workflow", `{"workflowId":"test.six"}`)
	}
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()

	c = p.agent()
	first := func(query string) (found foundRun) {
		t.Helper()
		var doc struct{ Data struct{ Candidates []foundRun } }
		answer := c.tool("resume_session", map[string]any{"query": query})
		if err := json.Unmarshal([]byte(answer.raw), &doc); err != nil || len(doc.Data.Candidates) != 5 {
			t.Fatalf("%v: %s", err, answer.raw)
		}
		return doc.Data.Candidates[0]
	}
	got := first("Badger Tunnel surveyed")
	if got.RunID != run || !strings.Contains(strings.Join(got.WhyMatched, " "), "matched_notes") ||
		got.Where.In != "notes" || got.Where.StepID != "survey" || !strings.HasPrefix(got.Snippet, "Surveyed the badger tunnel.") {
		t.Errorf("found %+v, want run %s", got, run)
	}
	// The tokens continue it where it is.
	now := c.tool("continue_workflow", map[string]any{"stateToken": got.StateToken})
	if now.Data.Session.RunID != run || now.Data.Pending.StepID != "seven" {
		t.Errorf("continued %s", now.raw)
	}
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	if err := os.Rename(filepath.Join(p.dir, ".git"), filepath.Join(p.dir, "git")); err != nil {
		t.Fatal(err)
	}
	c = p.agent()
	for query, why := range map[string]string{"tunnel": "matched_branch matched_notes", "the run at 2222222": "matched_head_sha"} {
		if got := first(query); got.RunID != run || strings.Join(got.WhyMatched, " ") != why {
			t.Errorf("%s: %v, run %s", query, got.WhyMatched, got.RunID)
		}
	}
}

// foundRun is a candidate of resume_session.
type foundRun struct {
	RunID, Snippet, StateToken string
	WhyMatched                 []string
	Where                      struct{ In, StepID string }
}
