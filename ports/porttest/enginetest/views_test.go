package enginetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/compare"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/projections/runs"
)

// view is a call that changes nothing.
type view struct {
	name string
	call func(g *enginetest.Engine, run, other string) (any, error)
}

// viewsOf are the views of a run, and of all runs.
func viewsOf(ctx context.Context) []view {
	return []view{
		{"show", func(g *enginetest.Engine, run, _ string) (any, error) { return g.Run(ctx, run) }},
		{"show a step", func(g *enginetest.Engine, run, _ string) (any, error) { return g.RunStep(ctx, run, "one") }},
		{"timeline", func(g *enginetest.Engine, run, _ string) (any, error) {
			var all []runs.TimelineEntry
			h, err := views.EachMoment(ctx, g.Views, run, func(m runs.TimelineEntry) error { all = append(all, m); return nil })
			h.Moments = all
			return h, err
		}},
		{"graph", func(g *enginetest.Engine, run, _ string) (any, error) {
			read, err := views.ReadGraph(ctx, g.Views, run)
			if err != nil {
				return nil, err
			}
			out := []any{read.Head()}
			err = read.Nodes(func(n views.GraphNode) error { out = append(out, n); return nil })
			return out, err
		}},
		{"diff", func(g *enginetest.Engine, run, other string) (any, error) {
			return compare.Runs(ctx, g.Views, run, other)
		}},
		{"report", func(g *enginetest.Engine, run, _ string) (any, error) {
			return report.New(g.Store, g.Answers, g.Views, g.Learning, g.Verifier).Report(ctx, run, report.Options{})
		}},
		{"follow", func(g *enginetest.Engine, run, _ string) (any, error) {
			f, err := g.Follow(ctx, run, true)
			if err != nil {
				return nil, err
			}
			var out []views.Fact
			_, err = f.Next(ctx, func(all []views.Fact) error { out = append(out, all...); return nil })
			return out, err
		}},
		{"artifacts", func(g *enginetest.Engine, run, _ string) (any, error) {
			return g.Artifacts(ctx, views.ArtifactQuery{Run: run})
		}},
		{"artifact", func(g *enginetest.Engine, _, _ string) (any, error) {
			return g.Artifact(ctx, canon.Sum(reported).String())
		}},
		{"logs", func(g *enginetest.Engine, run, _ string) (any, error) {
			return g.CommandLogs(ctx, views.LogQuery{Run: run})
		}},
		{"a node", func(g *enginetest.Engine, run, _ string) (any, error) { return g.LocateNode(ctx, run, "one") }},
		{"list", func(g *enginetest.Engine, _, _ string) (any, error) { return g.Runs(ctx) }},
		{"search", func(g *enginetest.Engine, _, _ string) (any, error) {
			return lists.Search(ctx, g.Lists, lists.SearchQuery{Text: "whale"})
		}},
		{"resume", func(g *enginetest.Engine, _, _ string) (any, error) {
			return g.Offers.Resume(ctx, resume.Query{Text: "whale"})
		}},
		{"inbox", func(g *enginetest.Engine, _, _ string) (any, error) {
			return inbox.New(g.Reader, g.Store, g.Views, g.Learning).List(ctx, inbox.Query{})
		}},
		{"verify", func(g *enginetest.Engine, _, _ string) (any, error) { return g.Verify(ctx) }},
		{"verify a session", func(g *enginetest.Engine, run, _ string) (any, error) { return g.VerifySession(ctx, run) }},
		{"annotations", func(g *enginetest.Engine, run, _ string) (any, error) {
			return g.Annotations(ctx, run, learning.AnnotationQuery{})
		}},
		{"annotations of all", func(g *enginetest.Engine, _, _ string) (any, error) {
			return g.SummarizeAnnotations(ctx, learning.SummaryQuery{})
		}},
		{"audit log", func(g *enginetest.Engine, _, _ string) (any, error) { return g.AuditList(ctx, verify.AuditQuery{}) }},
		{"verify the audit log", func(g *enginetest.Engine, _, _ string) (any, error) { return g.AuditVerify(ctx) }},
		{"due", func(g *enginetest.Engine, _, _ string) (any, error) { return g.Due(ctx, 1<<40) }},
		{"disk usage", func(g *enginetest.Engine, _, _ string) (any, error) { return g.DU(ctx) }},
		{"garbage", func(g *enginetest.Engine, _, _ string) (any, error) { return g.GC(ctx, person, upkeep.GCRequest{}) }},
		{"trash", func(g *enginetest.Engine, _, _ string) (any, error) { return g.Trashed(ctx) }},
		{"uses of an artifact", func(g *enginetest.Engine, _, _ string) (any, error) { return g.ArtifactUses(ctx, canon.Sum(reported)) }},
		{"run events", func(g *enginetest.Engine, run, _ string) (any, error) { return g.Wire.Events(ctx, run, 0, 100) }},
		{"snapshot", func(g *enginetest.Engine, run, _ string) (any, error) {
			s, _, err := g.Wire.Snapshot(ctx, run)
			return s, err
		}},
		{"debug bundle", func(g *enginetest.Engine, run, _ string) (any, error) { return g.Wire.Bundle(ctx, run, "", nil) }},
		{"sessions", func(g *enginetest.Engine, _, _ string) (any, error) { return g.SessionList(ctx) }},
	}
}

// reported is an artifact of the runs that the views show.
var reported = []byte(`{"kind":"report"}`)

// TestViewsOfAStoreThatGoesAway: a store that goes away at any call of a port is never shown as one from which something was erased, or in
// which something is missing: the view says that the store cannot be reached, or it is that of a store that did not go away.
func TestViewsOfAStoreThatGoesAway(t *testing.T) {
	t.Parallel()
	ctx, disk := t.Context(), memstore.NewDisk(id.Seed{9})
	g := enginetest.InMemory(disk.Open(0))
	var all []engine.Answer
	for _, key := range []string{"", "another"} {
		a, err := begin(t, g, key)
		if err != nil {
			t.Fatal(err)
		}
		value, err := canon.Parse(reported)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = g.Advance(ctx, person, a.Position(), a.AttemptID, advance.Request{Notes: "a whale", Artifacts: []advance.Artifact{
			advance.JSONArtifact(value)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Annotate(ctx, person, id.Seed{byte(len(all) + 1)}, a.Position(), feedback.Request{Create: feedback.Create{
			Signal: feedback.Flag()}}); err != nil {
			t.Fatal(err)
		}
		all = append(all, done(t, g, a))
	}
	third, err := begin(t, g, "third")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.DeleteSessions(ctx, person, upkeep.DeleteRequest{Refs: []string{third.Session.SessionID.String()}}); err != nil {
		t.Fatal(err)
	}
	g.Ledger().WritePending(ctx)
	for _, v := range viewsOf(ctx) {
		show := func(calls int) (text string, made int, err error) {
			s := disk.Open(0)
			far := enginetest.InMemory(s)
			s.CutOff(memstore.Cut{Calls: calls})
			out, err := v.call(far, all[0].Session.RunID.String(), all[1].Session.RunID.String())
			if err != nil {
				return "", s.Calls(), err
			}
			data, err := json.Marshal(out)
			return string(data), s.Calls(), err
		}
		whole, calls, err := show(1 << 20)
		if err != nil || calls == 0 {
			t.Fatalf("%s: %v, after %d calls", v.name, err, calls)
		}
		for n := range calls {
			got, _, err := show(n)
			switch {
			case err == nil && got != whole:
				t.Errorf("%s, cut off after %d of %d calls: %s", v.name, n, calls, firstDifference(got, whole))
			case err != nil && !fault.Is(err, fault.StoreUnreachable):
				t.Errorf("%s, cut off after %d of %d calls: %v", v.name, n, calls, err)
			}
		}
	}
}

// firstDifference describes where two documents differ.
func firstDifference(got, want string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%q instead of %q", got[max(0, i-60):min(len(got), i+60)], want[max(0, i-60):min(len(want), i+60)])
		}
	}
	return fmt.Sprintf("%d bytes instead of %d, equal: %v", len(got), len(want), reflect.DeepEqual(got, want))
}

// TestFollowContinuesAfterAnOutage: who follows a run over a store that goes away, and comes back, gets each event once, described as in one
// that did not go away.
func TestFollowContinuesAfterAnOutage(t *testing.T) {
	t.Parallel()
	ctx, disk := t.Context(), memstore.NewDisk(id.Seed{9})
	g := enginetest.InMemory(disk.Open(0))
	a, err := begin(t, g, "")
	if err != nil {
		t.Fatal(err)
	}
	a = done(t, g, a)
	follow := func(calls int) (texts []string, made int, err error) {
		s := disk.Open(0)
		f, err := enginetest.InMemory(s).Follow(ctx, a.Session.RunID.String(), true)
		if err != nil {
			t.Fatal(err)
		}
		add := func(all []views.Fact) error {
			for _, fact := range all {
				texts = append(texts, fmt.Sprint(fact.Event.ID, fact.Moment.Text))
			}
			return nil
		}
		before := s.Calls()
		s.CutOff(memstore.Cut{Calls: calls})
		_, err = f.Next(ctx, add)
		made = s.Calls() - before
		s.Reconnect()
		if _, err := f.Next(ctx, add); err != nil {
			t.Fatal(err)
		}
		return texts, made, err
	}
	whole, calls, err := follow(1 << 20)
	if err != nil || len(whole) == 0 || calls < 3 {
		t.Fatalf("%v after %d calls: %q", err, calls, whole)
	}
	for n := range calls {
		if got, _, err := follow(n); !fault.Is(err, fault.StoreUnreachable) || !slices.Equal(got, whole) {
			t.Errorf("cut off after %d of %d calls: %v, %q instead of %q", n, calls, err, got, whole)
		}
	}
}
