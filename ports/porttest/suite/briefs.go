package suite

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// CataloguedStore is a store that keeps briefs.
type CataloguedStore interface {
	Store
	ports.Briefs
}

// catalogued is the Run of a case of a store that keeps briefs.
func catalogued(run func(testing.TB, func() CataloguedStore)) func(testing.TB, Bench) {
	return func(t testing.TB, b Bench) {
		if _, ok := b.Open(0).(CataloguedStore); !ok {
			t.Skip("this store keeps no briefs")
		}
		run(t, func() CataloguedStore { return b.Open(time.Second).(CataloguedStore) })
	}
}

// briefAt returns the brief of a fixture with one run whose last event has an index.
func briefAt(r *SessionFixture, last int64, states ...string) *manifest.Brief {
	return &manifest.Brief{Runs: []manifest.BriefRun{{ID: r.RunID, LastAtMs: atMs + last, LastIndex: last, States: states,
		Workflow: "test.flow", Data: fmt.Sprint("row at ", last)}}}
}

// with returns a plan with a brief.
func with(p manifest.Plan, b *manifest.Brief) manifest.Plan {
	p.Brief = b
	return p
}

// briefs returns what a query selects.
func briefs(t testing.TB, s ports.Briefs, q ports.BriefQuery) []ports.BriefSession {
	t.Helper()
	out, err := s.Briefs(context.Background(), q)
	must(t, err)
	return out
}

// onlyBrief returns the brief of the only session.
func onlyBrief(t testing.TB, s ports.Briefs) ports.BriefSession {
	t.Helper()
	all := briefs(t, s, ports.BriefQuery{})
	if len(all) != 1 {
		t.Fatalf("%d sessions", len(all))
	}
	return all[0]
}

// briefOfCommit: every handle has the brief of an append once it has returned, at its head; the one of an append that
// failed is not.
func briefOfCommit(t testing.TB, open func() CataloguedStore) {
	s, r := open(), NewSessionFixture(1)
	if all := briefs(t, s, ports.BriefQuery{}); len(all) != 0 {
		t.Errorf("an absent store has %+v", all)
	}
	pending := briefAt(r, 5, "in_progress")
	pending.Runs[0].Pending = manifest.Pending{Kind: manifest.WaitPending, AtMs: 7, Tags: []string{"a", "b"}, Workflow: canon.Sum(nil),
		Imported: true}
	for i, p := range []manifest.Plan{with(r.Start(), briefAt(r, 2)), with(r.Advance(3), pending)} {
		head, err := Gate(s, p)
		must(t, err)
		got := onlyBrief(t, open())
		if got.Session != r.Session || got.Head != head || got.Changed || !reflect.DeepEqual(got.Runs, p.Brief.Runs) {
			t.Errorf("commit %d: %+v", i, got)
		}
	}
	before := onlyBrief(t, s)
	if _, err := Gate(s, with(r.Advance(99), briefAt(r, 99))); err == nil {
		t.Fatal("an append at another index")
	}
	if got := onlyBrief(t, open()); got.Head != before.Head || got.Changed || got.Runs[0].Data != before.Runs[0].Data {
		t.Errorf("after a failed append: %+v", got)
	}
	must(t, s.UpdateSessionControl(context.Background(), r.Session, ports.KeepFile, func(ports.Control) (ports.Control, error) {
		return control(t, 1), nil
	}))
	if got := onlyBrief(t, open()); !got.Marked || got.Changed {
		t.Errorf("with a mark: %+v", got)
	}
}

// changedBriefs: a session whose events or annotations were appended without a brief, and one that was imported, are Changed, until
// the brief of their present logs is kept. One of other logs is not.
func changedBriefs(t testing.TB, open func() CataloguedStore) {
	ctx, s, r := context.Background(), open(), NewSessionFixture(1)
	first, err := Gate(s, with(r.Start(), briefAt(r, 2)))
	must(t, err)
	head, err := Gate(s, r.Advance(3))
	must(t, err)
	changed := func(what string, want bool) {
		t.Helper()
		if got := onlyBrief(t, open()); got.Changed != want || want && len(got.Runs) > 0 {
			t.Errorf("%s: %+v", what, got)
		}
		// Every query returns a changed session.
		if got := briefs(t, open(), ports.BriefQuery{Workflow: "none", Limit: 1}); len(got) == 1 != want {
			t.Errorf("%s, selected: %+v", what, got)
		}
	}
	changed("without a brief", true)
	must(t, s.KeepBrief(ctx, r.Session, first, *briefAt(r, 2)))
	changed("the brief of an earlier head", true)
	must(t, s.KeepBrief(ctx, r.Session, head, *briefAt(r, 5)))
	changed("a brief that was kept", false)
	notes := SessionNotes(r.Session)
	notes.Root = feedback.LogOf(r.Session).Root
	noted, err := Gate(s, Notes(notes, 0, "one"))
	must(t, err)
	changed("annotated", true)
	must(t, s.KeepBrief(ctx, r.Session, head, *briefAt(r, 5)))
	changed("a brief without the annotation", true)
	b := briefAt(r, 5)
	b.Notes = noted
	must(t, s.KeepBrief(ctx, r.Session, head, *b))
	changed("a brief with the annotation", false)
	imported := NewImportFixture(t, 2, 1)
	if _, err := imported.Import(s, control(t, 1)); err != nil {
		t.Fatal(err)
	}
	if all := briefs(t, s, ports.BriefQuery{}); len(all) != 2 || !all[0].Changed && !all[1].Changed {
		t.Errorf("imported: %+v", all)
	}
}

// selectedBriefs: each member of a query excludes what does not meet it, and the sessions are in the order of their ids.
func selectedBriefs(t testing.TB, open func() CataloguedStore) {
	s := open()
	var all []*SessionFixture
	for i := range 4 {
		r := NewSessionFixture(i)
		b := briefAt(r, int64(10*i), []string{"in_progress", "blocked", "complete", "failed"}[i])
		run := &b.Runs[0]
		if i == 1 {
			run.Open, run.States = true, append(run.States, "failed")
		}
		if i == 2 {
			run.Workflow, run.Branches, run.Pending.Kind = "other", []string{"main", "topic"}, manifest.CommandPending
		}
		_, err := Gate(s, with(r.Start(), b))
		must(t, err)
		all = append(all, r)
	}
	for name, c := range map[string]struct {
		q    ports.BriefQuery
		want []int
	}{
		"all":           {ports.BriefQuery{}, []int{0, 1, 2, 3}},
		"a state":       {ports.BriefQuery{States: []string{"complete"}}, []int{2}},
		"states":        {ports.BriefQuery{States: []string{"in_progress", "failed"}}, []int{0, 1, 3}},
		"a workflow":    {ports.BriefQuery{Workflow: "other"}, []int{2}},
		"a branch":      {ports.BriefQuery{Branch: "topic"}, []int{2}},
		"since":         {ports.BriefQuery{SinceMs: atMs + 20}, []int{2, 3}},
		"open":          {ports.BriefQuery{Open: true}, []int{1}},
		"pending":       {ports.BriefQuery{Pending: true}, []int{2}},
		"a run":         {ports.BriefQuery{Run: all[3].RunID.String()}, []int{3}},
		"a prefix":      {ports.BriefQuery{Run: "run_"}, []int{0, 1, 2, 3}},
		"none":          {ports.BriefQuery{Run: "run_none"}, nil},
		"the latest":    {ports.BriefQuery{Limit: 1}, []int{3}},
		"two of them":   {ports.BriefQuery{Limit: 2}, []int{2, 3}},
		"both":          {ports.BriefQuery{States: []string{"failed"}, SinceMs: atMs + 20}, []int{3}},
		"after a place": {ports.BriefQuery{After: ports.BriefPlace{LastAtMs: atMs + 20, LastIndex: 20, Run: all[2].RunID.String()}}, []int{0, 1}},
	} {
		var want, got []id.Session
		for _, i := range c.want {
			want = append(want, all[i].Session)
		}
		for _, b := range briefs(t, s, c.q) {
			got = append(got, b.Session)
		}
		if !slices.IsSortedFunc(got, compareText) {
			t.Errorf("%s: the order is %v", name, got)
		}
		slices.SortFunc(want, compareText)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// pagesOfBriefs: runs with equal times have an order too, so that pages have each run once.
func pagesOfBriefs(t testing.TB, open func() CataloguedStore) {
	s := open()
	for i := range 7 {
		r := NewSessionFixture(i)
		_, err := Gate(s, with(r.Start(), briefAt(r, int64(i/3))))
		must(t, err)
	}
	seen := map[id.Run]bool{}
	q := ports.BriefQuery{Limit: 2}
	for range 10 {
		page := briefs(t, s, q)
		var last manifest.BriefRun
		for _, b := range page {
			for _, r := range b.Runs {
				if seen[r.ID] {
					t.Errorf("run %s is on two pages", r.ID)
				}
				seen[r.ID] = true
				if last.ID.IsZero() || r.LastAtMs < last.LastAtMs || r.LastAtMs == last.LastAtMs && r.ID.String() > last.ID.String() {
					last = r
				}
			}
		}
		if len(page) == 0 {
			break
		}
		q.After = ports.BriefPlace{LastAtMs: last.LastAtMs, LastIndex: last.LastIndex, Run: last.ID.String()}
	}
	if len(seen) != 7 {
		t.Errorf("%d of 7 runs are on pages", len(seen))
	}
}

func compareText(a, b id.Session) int { return a.Compare(b) }
