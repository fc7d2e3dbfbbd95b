//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/candidates"
	"github.com/waybill/waybill/durable/engine/compare"
	engineviews "github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/runs"
)

// TestViewsHaveTheSameFacts: 'runs show' in text and as JSON, 'runs list', 'runs timeline', 'runs graph', 'runs diff' and
// 'resume' say the same about each run of the golden stores: its status, pending step, open gaps and next command; and of each
// step the outcome, the digests of notes and artifacts, and who approved it.
func TestViewsHaveTheSameFacts(t *testing.T) {
	for _, store := range []string{"v1", "v1-form2", "v1-conditions", "v1-learning"} {
		dir := t.TempDir()
		copyStore(t, testdataOf(t, "stores/"+store+"/store"), filepath.Join(dir, "home/local"), 0o700, 0o600)
		f := facts{&viewed{T: t, dir: dir, clock: viewedAt}, store}
		t.Chdir(dir)
		var list struct {
			Data struct{ Runs []engineviews.RunSummary }
		}
		f.json(&list, "runs", "list")
		for _, r := range list.Data.Runs {
			f.compare(r, list.Data.Runs)
		}
		if len(list.Data.Runs) < 4 {
			t.Errorf("%s has %d runs", store, len(list.Data.Runs))
		}
	}
}

// facts compares the views of one store.
type facts struct {
	*viewed
	store string
}

// json decodes the document of a command.
func (f facts) json(into any, args ...string) {
	f.Helper()
	decodeJSON(f.T, f.view(0, false, append(args, "--json")...), into)
}

// compare compares all views of a run with its document.
func (f facts) compare(row engineviews.RunSummary, others []engineviews.RunSummary) {
	f.Helper()
	id := row.RunID.String()
	var doc struct{ Data engineviews.RunDetails }
	f.json(&doc, "runs", "show", id)
	run := doc.Data
	fail := func(view string, args ...any) { f.Helper(); f.Errorf("%s, %s %q: %v", f.store, view, run.Title, args) }
	word := strings.ReplaceAll(string(run.Status), "_", " ")
	pending := ""
	for _, s := range run.Steps {
		if s.State == engineviews.StepPending {
			pending = s.Title
		}
	}
	if row.Status != run.Status || row.OpenCriticalGaps != run.OpenCriticalGaps || row.Progress != run.Progress {
		fail("list", row)
	}
	text := f.view(0, false, "runs", "show", id)
	head, _, _ := strings.Cut(text, "\n")
	if _, name, _ := strings.Cut(head, " "); name != run.Title+"  "+word {
		fail("text", head, word)
	}
	for _, g := range run.Gaps {
		if !strings.Contains(text, "  "+string(g.Severity)+"  ") {
			fail("text", g)
		}
	}
	isOpen := run.Status == runs.InProgress || run.Status == runs.Blocked
	next := ""
	if m := nextLine().FindStringSubmatch(text); m != nil {
		next = m[1]
	}
	if isOpen != (next != "") {
		fail("text", "next", next)
	}
	f.resumed(run, pending, next, fail)
	f.timed(run, fail)
	f.drawn(run, fail)
	for _, other := range others {
		if other.RunID != row.RunID && other.WorkflowID == row.WorkflowID {
			f.differs(run, other.RunID.String(), fail)
		}
	}
}

var nextLine = expression(`(?m)^Next: (waybill .*)$`)

// resumed compares 'resume'.
func (f facts) resumed(run engineviews.RunDetails, pending, next string, fail func(string, ...any)) {
	var list struct{ Data candidates.List }
	f.json(&list, "resume", "--run", run.RunID.String())
	if len(list.Data.Candidates) == 0 || list.Data.Candidates[0].RunID != run.RunID {
		fail("resume", "not found")
		return
	}
	c := list.Data.Candidates[0]
	if c.Status != run.Status || c.StepTitle != pending || c.Title != run.Title {
		fail("resume", c.Status, c.StepTitle, pending)
	}
	text := f.view(0, false, "resume", "--run", run.RunID.String())
	if !strings.Contains(strings.SplitN(text, "\n", 2)[0], run.Title+"  "+strings.ReplaceAll(string(run.Status), "_", " ")) {
		fail("resume", text)
	}
	if next != "" && !strings.Contains(text, "  "+next+"\n") {
		fail("resume", next, text)
	}
}

// timed compares 'runs timeline': status, accepted attempts, gaps that are open and notes.
func (f facts) timed(run engineviews.RunDetails, fail func(string, ...any)) {
	var doc struct{ Data engineviews.History }
	f.json(&doc, "runs", "timeline", run.RunID.String())
	if doc.Data.Status != run.Status || doc.Data.Title != run.Title {
		fail("timeline", doc.Data.Status)
	}
	text := f.view(0, false, "runs", "timeline", run.RunID.String())
	opened, resolved := 0, 0
	for _, m := range doc.Data.Moments {
		if !strings.Contains(text, strings.SplitN(m.Text, "iteration", 2)[0]) {
			fail("timeline", "the text lacks", m.Text)
		}
		if strings.HasPrefix(m.Text, "Gap opened") {
			opened++
		}
		if strings.HasPrefix(m.Text, "Gap resolved") {
			resolved++
		}
	}
	if len(run.Tips) == 1 && opened-resolved != len(run.Gaps) {
		fail("timeline", "gaps", opened, resolved, len(run.Gaps))
	}
	for _, s := range run.Steps {
		done := slices.ContainsFunc(doc.Data.Moments, func(m runs.TimelineEntry) bool {
			return m.Kind == "advance_recorded" && m.NodeID != nil && s.NodeID != nil && *m.NodeID == *s.NodeID &&
				strings.HasPrefix(m.Text, "“"+s.Title+"” was done")
		})
		if s.NodeID != nil && done != (s.State == engineviews.StepDone) {
			fail("timeline", s.StepInstanceKey, s.State, done)
		}
		first, _, _ := strings.Cut(s.Notes, "\n")
		if s.Notes != "" && !strings.Contains(text, "Notes on “"+s.Title+"”: "+first[:min(len(first), 80)]) {
			fail("timeline", "notes of", s.StepInstanceKey)
		}
		for _, a := range s.Artifacts {
			if !strings.Contains(text, fmt.Sprintf("%d bytes", a.Bytes)) && a.ArtifactKind != event.DecisionKind && a.ArtifactKind != "wr.wait_over" {
				fail("timeline", "artifact of", s.StepInstanceKey, a.ArtifactKind)
			}
		}
	}
}

// drawn compares 'runs graph'.
func (f facts) drawn(run engineviews.RunDetails, fail func(string, ...any)) {
	var doc struct{ Data engineviews.Graph }
	f.json(&doc, "runs", "graph", run.RunID.String())
	gaps := 0
	for _, n := range doc.Data.Nodes {
		for _, s := range run.Steps {
			if s.NodeID != nil && *s.NodeID == n.NodeID && (n.StepInstanceKey != s.StepInstanceKey || n.Title != s.Title || n.Attempts != s.Attempts) {
				fail("graph", n, s.StepInstanceKey)
			}
		}
		gaps += n.OpenGaps
	}
	if doc.Data.Status != run.Status || len(run.Tips) == 1 && gaps != len(run.Gaps) {
		fail("graph", doc.Data.Status, gaps)
	}
}

// differs compares the side of a run in 'runs diff', computed here from the document of 'runs show'.
func (f facts) differs(run engineviews.RunDetails, other string, fail func(string, ...any)) {
	var doc struct{ Data compare.RunDiff }
	f.json(&doc, "runs", "diff", run.RunID.String(), other)
	if doc.Data.A.Status != run.Status || doc.Data.A.Title != run.Title {
		fail("diff", doc.Data.A)
	}
	for _, d := range doc.Data.Steps {
		i := slices.IndexFunc(run.Steps, func(s engineviews.StepRow) bool { return s.NodeID != nil && s.StepInstanceKey == d.StepInstanceKey })
		if d.A == nil || d.StepInstanceKey == "" {
			if d.A == nil && i >= 0 {
				fail("diff", "no side for", d.StepInstanceKey)
			}
			continue
		}
		s := run.Steps[i]
		isDone := d.A.Outcome == "done" || d.A.Outcome == "done_with_gaps"
		if isDone != (s.State == engineviews.StepDone) || d.A.Attempts != s.Attempts || d.A.NodeID != *s.NodeID {
			fail("diff", d.StepInstanceKey, d.A.Outcome, s.State)
		}
		notes := s.FullNotes
		if notes.IsZero() && s.Notes != "" {
			notes = canon.Sum([]byte(s.Notes))
		}
		if d.A.NotesDigest != notes {
			fail("diff", "notes of", d.StepInstanceKey)
		}
		var current, compared, approvers []string
		for _, a := range s.Artifacts {
			isNotes := event.OutputPayload{ArtifactKind: a.ArtifactKind, ContentType: a.ContentType}.IsFullNotes()
			if a.Current && !isNotes && a.ArtifactKind != runs.ApprovalKind && a.ArtifactKind != event.DecisionKind {
				current = append(current, a.SHA256.String())
			}
		}
		for _, o := range d.A.Outputs {
			compared = append(compared, o.SHA256.String())
		}
		for _, x := range s.Decisions {
			if x.Decision == event.Approved {
				approvers = append(approvers, x.By)
			}
		}
		if !slices.Equal(current, compared) || !slices.Equal(approvers, d.A.ApprovedBy) {
			fail("diff", d.StepInstanceKey, current, compared, approvers, d.A.ApprovedBy)
		}
		if s.Approval != nil && !slices.Contains(d.A.ApprovedBy, s.Approval.By) {
			fail("diff", "approver of", d.StepInstanceKey)
		}
	}
}
