package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/candidates"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

func anchors(branch, head string) []event.ObservationRecorded {
	return []event.ObservationRecorded{
		{Key: "git_branch", Confidence: "high", Value: event.ObservationValue{Type: "short_string", Value: branch}},
		{Key: "git_head_sha", Confidence: "high",
			Value: event.ObservationValue{Type: "git_sha1", Value: strings.Repeat(head, 40)}}}
}

// startAt begins a run in a workspace.
func (w *fixture) startAt(source, branch, head string) engine.Answer {
	w.Helper()
	w.seeds++
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{w.seeds}, engine.Start{Workflow: w.compiled(source),
		SourceKind: event.SourceProject, SourceRef: "test.json", Observations: anchors(branch, head)})
	if err != nil {
		w.Fatal(err)
	}
	return a
}

func (w *fixture) resume(q resume.Query) candidates.List {
	w.Helper()
	out, err := w.process().Resume(context.Background(), q)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

func TestResumeOffersTheWantedRun(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	first := w.startAt(twoSteps, "main", "a")
	second := w.must(first, note("done: the parser is repaired"))
	other := w.startAt(longOne, "feature", "b")
	got := w.resume(resume.Query{Text: "PARSER repaired"})
	if got.Considered != 2 || got.Skipped != 0 || len(got.Candidates) != 2 {
		t.Fatalf("%+v", got)
	}
	c := got.Candidates[0]
	if c.RunID != first.Session.RunID || c.NodeID != second.NodeID || c.StepID != "second" || c.StepTitle != "Second" ||
		c.Status != "in_progress" ||
		c.Snippet != "done: the parser is repaired" || c.Title != "Two steps" || c.WorkflowName != "Two steps" ||
		c.WorkflowID != "test.two" ||
		fmt.Sprint(c.WhyMatched) != "[matched_notes]" || c.LastActivityEventIndex < 5 || c.LastAtMs == 0 {
		t.Errorf("offered %+v", c)
	}
	if got.Candidates[1].RunID != other.Session.RunID ||
		fmt.Sprint(got.Candidates[1].WhyMatched) != "[recency_fallback]" {
		t.Errorf("then %+v", got.Candidates[1])
	}
	// A run that is offered can be continued.
	a, err := w.g.Continue(context.Background(), w.by(), engine.Continue{StateToken: c.StateToken})
	if err != nil || a.NodeID != second.NodeID ||
		fmt.Sprint(c.Next.Command) != fmt.Sprint([]string{"waybill", "continue", "--state", c.StateToken}) ||
		c.Next.Tool != "continue_workflow" || c.Next.Params["stateToken"] != c.StateToken {
		t.Errorf("%v, %+v", err, c.Next)
	}
	for _, row := range []struct {
		q    resume.Query
		want engine.Answer
		why  string
	}{
		{candidates.WithWorkspace(resume.Query{}, anchors("main", "a")), first, "[matched_head_sha matched_branch]"},
		{candidates.WithWorkspace(resume.Query{}, anchors("feat", "c")), other, "[matched_branch]"},
		{resume.Query{Run: first.Session.RunID}, first, "[matched_run_id]"},
		{resume.Query{Session: first.Session.SessionID}, first, "[matched_session_id]"},
		{resume.Query{Text: "long"}, other, "[matched_workflow_id]"},
		{resume.Query{}, other, "[recency_fallback]"},
	} {
		c := w.resume(row.q).Candidates[0]
		if c.RunID != row.want.Session.RunID || fmt.Sprint(c.WhyMatched) != row.why {
			t.Errorf("%+v: offered %s for %v, want %s", row.q, c.RunID, c.WhyMatched, row.why)
		}
	}
	before := w.events(first)
	if a, b := asJSON(t, w.resume(resume.Query{})), asJSON(t, w.resume(resume.Query{})); a != b ||
		w.events(first) != before {
		t.Errorf("asked twice:\n%s\n%s", a, b)
	}
}

func asJSON(t testing.TB, x any) string {
	t.Helper()
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestResumeOffersOnlyRunsThatCanContinue: damaged sessions, and those with lost objects, are
// counted and left out; an ended run is marked as such.
func TestResumeOffersOnlyRunsThatCanContinue(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	good, ended := w.start(twoSteps), w.start(twoSteps)
	if _, err := w.cancel(&performerStub{}, ended.Position(), engine.CancelRequest{}); err != nil {
		t.Fatal(err)
	}
	damaged, lost := w.start(twoSteps), w.must(w.start(longOne), note("x"))
	manifest := filepath.Join(w.dir, "sessions", damaged.Session.SessionID.String(), "manifest.jsonl")
	if err := os.WriteFile(manifest, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The newest snapshots are those of the long workflow's second step.
	run, err := w.g.Run(context.Background(), lost.Session.RunID.String())
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	events, _, err := w.g.Events(context.Background(), lost.Session.RunID.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if n, ok := e.Data.(event.NodeCreated); ok && e.Scope.NodeID == run.Tips[0].NodeID {
			gone++
			if err := os.Remove(filepath.Join(w.dir, "snapshots", n.SnapshotRef.FileName()+".json")); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := w.resume(resume.Query{Text: "two"})
	if gone != 1 || got.Considered != 3 || got.Skipped != 2 || len(got.Candidates) != 2 {
		t.Fatalf("%d, %s", gone, asJSON(t, got))
	}
	status := map[id.Run]string{}
	for _, c := range got.Candidates {
		status[c.RunID] = string(c.Status)
	}
	if status[good.Session.RunID] != "in_progress" || status[ended.Session.RunID] != "cancelled" {
		t.Errorf("offered %v", status)
	}
}

func TestResumeWithoutAStore(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	got := w.resume(resume.Query{Text: "x"})
	if asJSON(t, got) != `{"candidates":[],"considered":0,"skipped":0}` {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(w.dir); err == nil {
		t.Error("asking made a store")
	}
	ctx, stop := context.WithCancel(context.Background())
	w.start(twoSteps)
	stop()
	if _, err := w.process().Resume(ctx, resume.Query{}); err == nil || fault.CodeOf(err) == "" {
		t.Errorf("a cancelled call: %v", err)
	}
}

// TestResumeSearchesEverySession: the wanted one is the oldest of more than a thousand, and only
// its notes identify it.
func TestResumeSearchesEverySession(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := memstore.NewDisk(id.Seed{3}).Open(time.Second)
	g := enginetest.InMemory(s)
	ctx, c := context.Background(), w.compiled(twoSteps)
	var meant engine.Answer
	const sessions = 1200
	for n := range sessions {
		a, err := g.Start(ctx, caller(int64(1000+n)), id.Seed{byte(n), byte(n >> 8)},
			engine.Start{Workflow: c, SourceKind: event.SourceProject, SourceRef: "t.json",
				Title: "Run " + fmt.Sprint(n)})
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			if meant, err = g.Advance(ctx, caller(1), a.Position(), a.AttemptID,
				note("done: "+strings.Repeat("needle ", limits.NotesBytesMax))); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := g.Resume(ctx, resume.Query{Text: "needle"})
	if err != nil || got.Considered != sessions || len(got.Candidates) != limits.ResumeCandidatesMax {
		t.Fatalf("%v, %+v", err, got)
	}
	best := got.Candidates[0]
	if best.RunID != meant.Session.RunID || len(best.Snippet) > limits.ResumeSnippetBytesMax ||
		!strings.HasSuffix(best.Snippet, limits.TruncationMarker) {
		t.Errorf("offered %+v", best)
	}
	for i, c := range got.Candidates[1:] {
		if want := fmt.Sprintf("Run %d", sessions-1-i); c.Title != want {
			t.Errorf("then %s, want %s", c.Title, want)
		}
	}
	if got, err := g.Resume(ctx, resume.Query{Text: "needles"}); err != nil ||
		got.Candidates[0].Title != fmt.Sprintf("Run %d", sessions-1) {
		t.Errorf("half a word matched: %v, %+v", err, got)
	}
}
