package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/candidates"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/resume"
)

// best is the first candidate for some words.
func (w *fixture) best(words string) candidates.Candidate {
	w.Helper()
	return w.resume(resume.Query{Text: words}).Candidates[0]
}

// TestResumeSearchesAllNotes: those of each step, of another branch and of a checkpoint, the whole text of long ones,
// the title and the goal; but no notes that others replaced. What is shown is where the words were found.
func TestResumeSearchesAllNotes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.seeds++
	root, err := w.g.Start(context.Background(), w.by(), id.Seed{w.seeds}, engine.Start{Workflow: w.compiled(longOne),
		SourceKind: event.SourceProject, SourceRef: "t.json", Title: "The badger", Goal: "Count the moles"})
	if err != nil {
		t.Fatal(err)
	}
	second := w.must(root, note("found the tunnel"))
	third := w.must(second, note(strings.Repeat("a long way down\n", 1000)+"then the lake\n"+strings.Repeat("and up\n", 1000)))
	a := third
	for range 4 {
		a = w.must(a, note("more"))
	}
	point := w.mustKeep(a, note("half of the bridge"))
	// Another branch from the second step: its notes beside those of the first one.
	back := w.must(w.look(second.StateToken), note("around the hill"))
	refused := w.start(twoSteps)
	refused = w.must(refused, note("only a draft"))
	w.must(w.look(refused.StateToken), note("done at last"))
	w.start(twoSteps) // the latest
	for _, row := range []struct{ words, in, node, step, snippet string }{
		{"tunnel", "notes", root.NodeID.String(), "s0", "found the tunnel"},
		{"hill", "notes", second.NodeID.String(), "s1", "around the hill"},
		{"lake", "notes", second.NodeID.String(), "s1", "… then the lake\nand up\n"},
		{"bridge", "checkpoint", "", "s6", "half of the bridge"},
		{"badger", "title", "", "", "around the hill"},
		{"moles", "goal", "", "", "around the hill"},
		{"tunnel lake bridge moles", "checkpoint", "", "s6", "half of the bridge"},
	} {
		c := w.best(row.words)
		if c.RunID != root.Session.RunID || fmt.Sprint(c.WhyMatched) != "[matched_notes]" || c.Where == nil {
			t.Errorf("%s: %+v", row.words, c)
			continue
		}
		node := ""
		if row.in == "checkpoint" && c.Where.NodeID == point.NodeID {
			t.Errorf("%s: found at the node of the checkpoint's step", row.words)
		} else if !c.Where.NodeID.IsZero() && row.in != "checkpoint" {
			node = c.Where.NodeID.String()
		}
		if string(c.Where.In) != row.in || node != row.node || c.Where.StepID != row.step ||
			!strings.HasPrefix(c.Snippet, row.snippet) || len(c.Snippet) > limits.ResumeSnippetBytesMax {
			t.Errorf("%s: found in %+v, want %+v; %.60q", row.words, c.Where, row, c.Snippet)
		}
	}
	if c := w.best("last"); c.RunID != refused.Session.RunID || c.Snippet != "done at last" {
		t.Errorf("offered %+v", c)
	}
	for _, words := range []string{"draft", "truncated", "lakes"} {
		if c := w.best(words); c.Where != nil || fmt.Sprint(c.WhyMatched) != "[recency_fallback]" {
			t.Errorf("%s matches %+v", words, c)
		}
	}
	if c := w.best("long"); c.RunID != root.Session.RunID || back.NodeID != c.NodeID {
		t.Errorf("offered node %s, want the preferred tip %s", c.NodeID, back.NodeID)
	}
}

// TestResumeSearchesALongSession: of thousands of nodes all are searched, of which the fold keeps a window.
func TestResumeSearchesALongSession(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(`{"id":"test.loop","name":"Loop","description":"d","version":"1.0.0","steps":[{"id":"l","title":"L","type":"loop",
 "loop":{"type":"for","count":1100,"maxIterations":1100},"body":[{"id":"x","title":"X","prompt":"p"}]}]}`)
	root := a
	for i := range 1090 {
		a = w.must(a, note(fmt.Sprint("step number", i)))
	}
	c := w.best("number0")
	if c.RunID != root.Session.RunID || c.Where == nil || c.Where.NodeID != root.NodeID || c.Snippet != "step number0" ||
		c.Where.StepID != "x" {
		t.Errorf("offered %+v, %+v", c, c.Where)
	}
}

// TestResumeReadsABoundedAmountOfLongNotes: over the budget their beginning is searched, and the answer says for how
// many runs.
func TestResumeReadsABoundedAmountOfLongNotes(t *testing.T) {
	if testing.Short() {
		t.Skip("it stores 64 MiB")
	}
	t.Parallel()
	w := newFixture(t)
	const runs = limits.ResumeWholeNotesBytesMax/limits.WholeNotesBytesMax + 2
	for i := range runs {
		a := w.start(longOne)
		w.must(a, note(fmt.Sprint(strings.Repeat("x ", limits.WholeNotesBytesMax/2-20), "end", i)))
	}
	got := w.resume(resume.Query{Text: "nowhere"})
	if got.BeginningOnly != 2 || got.Considered != runs {
		t.Errorf("%d of %d", got.BeginningOnly, got.Considered)
	}
	if got := w.resume(resume.Query{Text: "x"}); got.BeginningOnly != 0 {
		t.Errorf("words of the beginning: %d", got.BeginningOnly)
	}
}

// TestResumeByBranchAndCommitInWords: in any directory, of any that an attempt observed.
func TestResumeByBranchAndCommitInWords(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.advanceOn(w.startAt(longOne, "main", "a"), "x", "feat/Login", "b")
	w.advanceOn(a, "y", "fix/2", "c")
	w.start(longOne)
	for words, why := range map[string]string{"feat/login": "[matched_branch]", "fix/2": "[matched_branch]",
		"main": "[matched_branch]", "bbbbbbb": "[matched_head_sha]", strings.Repeat("a", 40): "[matched_head_sha]",
		"bbbbbb": "[recency_fallback]", "feat": "[recency_fallback]", "abbbbbb": "[recency_fallback]"} {
		c := w.best(words)
		if fmt.Sprint(c.WhyMatched) != why || why != "[recency_fallback]" && c.RunID != a.Session.RunID {
			t.Errorf("%s: %v, %s", words, c.WhyMatched, c.RunID)
		}
	}
	// What is checked out here matches each observation too.
	q := candidates.WithWorkspace(resume.Query{}, anchors("feat", "b"))
	if c := w.resume(q).Candidates[0]; fmt.Sprint(c.WhyMatched) != "[matched_head_sha matched_branch]" {
		t.Errorf("here: %v", c.WhyMatched)
	}
}

// TestWordsAreFoundAmongManyRunsOfACommit: the runs of the checked-out commit come first, but not all of those that are
// shown are runs which the words do not match.
func TestWordsAreFoundAmongManyRunsOfACommit(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := w.startAt(longOne, "old", "b")
	w.must(other, note("the needle"))
	here := w.startAt(longOne, "main", "a")
	w.must(here, note("a needle as well"))
	for range 2 * limits.ResumeCandidatesMax {
		w.startAt(longOne, "main", "a")
	}
	q := candidates.WithWorkspace(resume.Query{Text: "needle"}, anchors("main", "a"))
	got := w.resume(q)
	if c := got.Candidates[0]; c.RunID != here.Session.RunID ||
		fmt.Sprint(c.WhyMatched) != "[matched_head_sha matched_branch matched_notes]" {
		t.Errorf("first %+v", c)
	}
	q.Text = "the needle"
	got = w.resume(q)
	if c := got.Candidates[limits.ResumeCandidatesMax-1]; c.RunID != other.Session.RunID ||
		fmt.Sprint(c.WhyMatched) != "[matched_notes]" || len(got.Candidates) != limits.ResumeCandidatesMax {
		t.Errorf("last %+v", c)
	}
}
