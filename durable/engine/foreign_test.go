package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/projections/runs"
)

// seen is what a run of another program is expected to read as.
type seen struct {
	run    string // the beginning of its id
	status runs.Status
	title  string
	done   views.Progress
	steps  []string // "title state attempts notes"
	lacks  string
	tells  []string // parts of its timeline
}

// madeHere are the runs of testdata/foreign.
var madeHere = []seen{
	{foreignRun(foreignComplete).String(), runs.CompleteStatus, "Make tea", views.Progress{Completed: 4},
		[]string{"Boil the water done 1 it boils", "Add leaves done 1 two spoons", "Taste it done 3 good",
			"Serve it done 1 served"}, "",
		[]string{"“Taste it” was not accepted: No leaves were shown.", "Recorded a blocked attempt at “Taste it”",
			"Stayed at “Taste it”", "“Taste it” was done",
			"Artifact for “Taste it”: tea.leaves, 30 bytes", "The run ended after 1.5 s, with 1 commit",
			"Reached the end"}},
	{foreignRun(foreignBlocked).String(), runs.Blocked, "Make toast", views.Progress{Completed: 1, Total: 3},
		[]string{"Slice the bread done 1 sliced", "Toast it pending 1 ", "Butter it to_come 0 "},
		"Nobody said how brown.", nil},
	{foreignRun(foreignBranch).String(), runs.InProgress, "Make toast", views.Progress{Completed: 2, Total: 3},
		[]string{"Slice the bread done 1 sliced", "Toast it done 2 browner", "Butter it pending 0 "}, "",
		[]string{"Created a checkpoint at “Toast it”",
			"Advanced from “Toast it” to “Butter it” again on a new branch"}},
	{foreignRun(foreignGap).String(), runs.Blocked, "Make toast", views.Progress{Total: 3},
		[]string{"Slice the bread pending 0 ", "Toast it to_come 0 ", "Butter it to_come 0 "}, "", nil},
}

// besideCheckout are the runs of three stores that may exist beside the checkout.
var besideCheckout = map[string]seen{
	"tiny": {"run_nrc63m74", runs.CompleteStatus, "Probe One", views.Progress{Completed: 2, Total: 2},
		[]string{"WorkRail Protocol Instructions done 1 ", "Only done 1 ## One\nDone the only thing."}, "",
		[]string{"The run ended after 0.1 s"}},
	"fork-blocked-checkpoint": {"run_5sfdivjy", runs.InProgress, "Probe Three",
		views.Progress{Completed: 2, Total: 4},
		[]string{"WorkRail Protocol Instructions done 1 ", "A done 3 forked from non-tip A", "B pending 0 ",
			"C to_come 0 "}, "",
		[]string{"“B” was not accepted: Invalid output for contractRef=wr.validationCriteria.",
			"Recorded a blocked attempt at “B”", "“B” was done", "Created a checkpoint at “A”"}},
	"loop-artifact": {"run_mxmqm42s", runs.CompleteStatus, "Probe Loop", views.Progress{Completed: 7},
		[]string{"WorkRail Protocol Instructions done 1 ", "Prep done 1 prep", "Work done 1 w0",
			"Decide done 3 continue", "Work done 1 w1", "Decide done 1 stop", "Finish done 1 fin"}, "",
		[]string{"Artifact for “Decide”: wr.loop_control, 92 bytes"}},
}

func TestStoresOfAnotherProgramAreRead(t *testing.T) {
	t.Parallel()
	t.Run("of the project", func(t *testing.T) {
		g := overForeign(t, foreignDir, nil)
		for _, want := range madeHere {
			checkSeen(t, g, want)
		}
		list, err := g.Runs(context.Background())
		if err != nil || len(list.Runs) != len(madeHere) || len(list.Unreadable) != 1 ||
			list.Unreadable[0].Name != "workstream-7" {
			t.Errorf("%+v, %v", list, err)
		}
	})
	for name, want := range besideCheckout {
		t.Run(name, func(t *testing.T) { checkSeen(t, overForeign(t, beside(t, name), nil), want) })
	}
}

// beside is a store of another program beside the checkout.
func beside(t *testing.T, name string) string {
	dir := "../../../shared/data/workrail/stores/" + name
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no stores of another program beside the checkout")
	}
	return dir
}

// overForeign opens a copy, so that a write would show; dir is its directory.
func overForeign(t *testing.T, from string, dir *string) *enginetest.Engine {
	t.Helper()
	to := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	s, err := openUnsynced(t, to, filestore.Options{LockWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if dir != nil {
		*dir = to
	}
	return over(s)
}

func checkSeen(t *testing.T, g *enginetest.Engine, want seen) {
	t.Helper()
	ctx := context.Background()
	r, err := g.Run(ctx, want.run)
	if err != nil {
		t.Fatal(want.run, err)
	}
	if r.Status != want.status || r.Title != want.title || r.Progress != want.done ||
		r.Health != manifest.UnknownVersion || r.Workflow.Name != want.title {
		t.Errorf("%s reads as %s %q %+v %s", want.run, r.Status, r.Title, r.Progress, r.Health)
	}
	var steps []string
	for _, s := range r.Steps {
		steps = append(steps, fmt.Sprintf("%s %s %d %s", s.Title, s.State, s.Attempts, s.Notes))
	}
	if !slices.Equal(steps, want.steps) {
		t.Errorf("%s has the steps\n%q, want\n%q", want.run, steps, want.steps)
	}
	lacks := ""
	for _, l := range r.Blockers {
		lacks += l.Message
	}
	if lacks != want.lacks {
		t.Errorf("%s lacks %q, want %q", want.run, lacks, want.lacks)
	}
	h, err := timelineOf(g, want.run)
	if err != nil || h.Title != want.title || h.Health != manifest.UnknownVersion {
		t.Errorf("%q %s, %v", h.Title, h.Health, err)
	}
	var texts []string
	for _, m := range h.Moments {
		if texts = append(texts, m.Text); strings.Contains(m.Text, "does not know") ||
			strings.Contains(m.Text, "cannot be read") {
			t.Errorf("%s: event %d is described as %q", want.run, m.Index, m.Text)
		}
	}
	for _, text := range want.tells {
		if !slices.Contains(texts, text) {
			t.Errorf("%q is not in\n%s", text, strings.Join(texts, "\n"))
		}
	}
	graph, err := g.Graph(ctx, want.run)
	if err != nil || graph.Title != want.title || graph.Health != manifest.UnknownVersion ||
		len(graph.Nodes) < len(r.Steps)-2 {
		t.Errorf("%+v, %v", graph, err)
	}
	f, err := g.Follow(ctx, want.run, true)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := nextFacts(f)
	over, overErr := f.Ended(ctx)
	if err != nil || overErr != nil || len(facts) != len(h.Moments) ||
		over != (want.status == runs.CompleteStatus) {
		t.Errorf("followed to %d facts of %d, over %v, %v %v", len(facts), len(h.Moments), over, err, overErr)
	}
}

// An open gap that only the other program's words name is reported under them, and one that was
// resolved under such a name is gone.
func TestGapsOfAnotherProgramKeepTheirNames(t *testing.T) {
	t.Parallel()
	r, err := overForeign(t, foreignDir, nil).Run(context.Background(), foreignRun(foreignGap).String())
	if err != nil || len(r.Gaps) != 1 || r.Gaps[0].Foreign != "gap_second_0" || !r.Gaps[0].ID.IsZero() {
		t.Errorf("%+v, %v", r.Gaps, err)
	}
}

// TestStoresOfAnotherProgramAreNeverWritten: every call that would continue a run is refused, no
// session is made, and not a byte has changed afterwards (docs/design.md#foreign-stores).
func TestStoresOfAnotherProgramAreNeverWritten(t *testing.T) {
	t.Parallel()
	stores := map[string]string{"of the project": foreignDir}
	for name := range besideCheckout {
		stores[name] = "../../../shared/data/workrail/stores/" + name
	}
	for name, from := range stores {
		t.Run(name, func(t *testing.T) {
			if name != "of the project" {
				from = beside(t, name)
			}
			var dir string
			g := overForeign(t, from, &dir)
			before := snapshotOf(t, dir)
			refuseWrites(t, g)
			if after := snapshotOf(t, dir); !bytes.Equal(before, after) {
				t.Errorf("the store was changed:\n%s\nwas\n%s", after, before)
			}
		})
	}
}

func refuseWrites(t *testing.T, g *enginetest.Engine) {
	t.Helper()
	ctx := context.Background()
	w := newFixture(t)
	list, err := g.Runs(ctx)
	if err != nil || len(list.Runs) == 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, r := range list.Runs {
		at, err := g.Locate(ctx, r.RunID.String())
		if err != nil {
			t.Fatal(err)
		}
		n := id.NextAttempt(at.Node, id.OpAck, 0)
		for name, try := range map[string]func() error{
			"rehydrate":  func() error { _, err := g.Rehydrate(ctx, at); return err },
			"advance":    func() error { _, err := g.Advance(ctx, w.by(), at, n, note("x")); return err },
			"checkpoint": func() error { _, err := g.CheckpointAt(ctx, w.by(), at, n, note("x")); return err },
			"cancel": func() error {
				_, err := g.Cancel(ctx, w.by(), &performerStub{}, at, engine.CancelRequest{Reason: "x"})
				return err
			},
			"approve": func() error { _, err := g.Approve(ctx, w.by(), at, "x"); return err },
			"fork": func() error {
				_,
					err := g.ForkAt(ctx, w.by(), id.Seed{9}, at, engine.ForkRequest{})
				return err
			},
		} {
			if err := try(); !fault.Is(err, fault.SessionUnhealthy) {
				t.Errorf("%s of %s: %v", name, r.RunID, err)
			}
		}
	}
	if _, err := g.Start(ctx, w.by(), id.Seed{1}, engine.Start{Workflow: w.compiled(longOne), SourceKind: "project",
		SourceRef: "x"}); !fault.Is(err, fault.StoreForeign) {
		t.Error("started:", err)
	}
	offered, err := g.Resume(ctx, resume.Query{})
	if err != nil || len(offered.Candidates) == 0 || offered.Skipped != 0 {
		t.Errorf("offered: %+v, %v", offered, err)
	}
	for _, c := range offered.Candidates {
		if !c.ReadOnly || c.StateToken != "" || c.Next != nil || len(c.Show) == 0 || c.Status == "" {
			t.Errorf("offered for more than reading: %+v", c)
		}
	}
	g.Flush(ctx)
}

// snapshotOf lists the files of a directory, with their contents.
func snapshotOf(t *testing.T, dir string) []byte {
	t.Helper()
	var out bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			fmt.Fprintln(&out, path)
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %x\n", path, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestVerifyOfAnotherProgramsStoreOnlyWarns(t *testing.T) {
	t.Parallel()
	v, err := overForeign(t, foreignDir, nil).Verify(context.Background())
	if err != nil || !v.OK || len(v.Sessions) != 4 {
		t.Fatalf("%+v, %v", v, err)
	}
	for _, s := range v.Sessions {
		summaries := map[string]int{}
		for _, f := range s.Findings {
			if summaries[f.Path]++; f.Code != manifest.UnknownEvents || summaries[f.Path] > 1 ||
				strings.Contains(f.Message, "STORE_") || strings.Contains(f.Message, "/enginePayload") {
				t.Errorf("%+v", f)
			}
		}
	}
	if len(v.Findings) != 1 || v.Findings[0].Code != manifest.UnknownFile ||
		v.Findings[0].Path != "sessions/workstream-7" {
		t.Errorf("%+v", v.Findings)
	}
	for name, events := range map[string]int64{"tiny": 20, "fork-blocked-checkpoint": 49, "loop-artifact": 56} {
		t.Run(name, func(t *testing.T) {
			v, err := overForeign(t, beside(t, name), nil).Verify(context.Background())
			if err != nil || !v.OK || len(v.Sessions) != 1 || v.Sessions[0].Health != manifest.UnknownVersion ||
				v.Sessions[0].Events != events {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

// A healthy log with a snapshot of another version: the run is shown as far as it is known, with
// its version; nothing continues it.
func TestASnapshotOfAnotherVersionIsShownAndNotContinued(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newFixture(t)
	a := w.start(twoSteps)
	o := manifest.Object{Kind: manifest.Snapshot, Bytes: jcs(t, object{"kind": "execution_snapshot", "v": 1,
		"enginePayload": object{"v": 1, "engineState": refused(running("second", nil, "first"), "X", "No cup.")}})}
	node := id.RootNode(id.NewRun(id.Seed{9}))
	w.appendUnchecked(a, event.Scope{RunID: a.Session.RunID, NodeID: node},
		event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &a.NodeID, SnapshotRef: o.Ref(),
			WorkflowHash: a.Workflow.WorkflowHash}, o)
	g := w.process()
	list, err := g.Runs(ctx)
	if err != nil || len(list.Runs) != 1 || list.Runs[0].Health != manifest.UnknownVersion ||
		list.Runs[0].Status != runs.Blocked {
		t.Errorf("%+v, %v", list, err)
	}
	r, err := g.Run(ctx, a.Session.RunID.String())
	if err != nil || r.Health != manifest.UnknownVersion || len(r.Blockers) != 1 || r.Blockers[0].Message != "No cup." {
		t.Errorf("%+v, %v", r, err)
	}
	at := engine.Position{Session: a.Session.SessionID, Run: a.Session.RunID, Node: node}
	if _, err := g.Advance(ctx, w.by(), at, id.NextAttempt(node, id.OpAck, 0), note("x")); !fault.Is(err,
		fault.SessionUnhealthy) {
		t.Errorf("advanced: %v", err)
	}
}
