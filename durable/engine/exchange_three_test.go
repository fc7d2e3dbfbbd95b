package engine_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// originOf is the store of a fixture as the origin of a session.
func originOf(w *fixture) travel.Origin {
	w.Helper()
	store, err := w.g.Store.StoreID(context.Background(), ports.ReadOnly)
	if err != nil {
		w.Fatal(err)
	}
	return travel.Origin{StoreID: store, Path: w.dir}
}

// sent imports a session of one store into another one, directly.
func sent(from, to *fixture, ref string, accept travel.Acceptance) (travel.Import, error) {
	from.Helper()
	from.seeds++
	src, err := from.g.Source(context.Background(), id.Seed{from.seeds}, ref)
	if err != nil {
		return travel.Import{}, err
	}
	return to.g.Import(context.Background(), to.person("ada"), src, travel.ImportRequest{Accept: accept, From: originOf(from)})
}

// chainOf are the heads of a session's log; none for an unknown session.
func (w *fixture) chainOf(s id.Session) (out []manifest.Head) {
	w.Helper()
	_, err := w.g.Store.Read(context.Background(), ports.ReadRequest{Log: manifest.SessionEvents(s)},
		ports.Each(func(_ manifest.Segment, head manifest.Head) error {
			out = append(out, head)
			return nil
		}))
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// logFiles are the files of a session's own log, or of all of its logs, with their bytes.
func (w *fixture) logFiles(s id.Session, all bool) map[string]string {
	w.Helper()
	out, root := map[string]string{}, filepath.Join(w.dir, "sessions", s.String())
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		if ext := filepath.Ext(rel); ext != ".jsonl" || !all && strings.HasPrefix(rel, "annotations") {
			return nil
		}
		b, err := os.ReadFile(name)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		w.Fatal(err)
	}
	return out
}

// threeStores is a random history of three stores that exchange sessions.
type threeStores struct {
	*testing.T
	stores [3]*fixture
	rnd    *rand.Rand
	runs   []engine.Position
	n      int
	seen   map[string]int // relations
}

// has reports that a store has a session.
func (x *threeStores) has(i int, s id.Session) bool { return len(x.stores[i].chainOf(s)) > 0 }

// work starts, continues or annotates in one store.
func (x *threeStores) work(i int) {
	w := x.stores[i]
	x.n++
	text := fmt.Sprintf("t%d", x.n)
	if len(x.runs) == 0 || len(x.runs) < 3 && x.rnd.IntN(8) == 0 {
		a := w.start(longOne)
		x.runs = append(x.runs, engine.Position{Session: a.Session.SessionID, Run: a.Session.RunID})
		return
	}
	at := x.runs[x.rnd.IntN(len(x.runs))]
	if !x.has(i, at.Session) {
		return
	}
	a := w.at(at.Run)
	if a.Pending == nil || x.rnd.IntN(3) == 0 {
		w.say(a, text)
	} else {
		w.must(a, note(text))
	}
}

// labelsOf are the annotations of a run in a store, as a set.
func (x *threeStores) labelsOf(i int, at engine.Position) map[string]bool {
	out := map[string]bool{}
	if x.has(i, at.Session) {
		for _, label := range strings.Fields(strings.ReplaceAll(x.stores[i].labels(at.Run), "!", "")) {
			out[label] = true
		}
	}
	return out
}

// sharedEvents is the number of events that two chains have in common.
func sharedEvents(a, b []manifest.Head) (n int64) {
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		n = a[i].Next
	}
	return n
}

// exchange sends a session from one store to another one, and compares the result with what the two logs were before.
func (x *threeStores) exchange(from, to int, at engine.Position) {
	x.Helper()
	ours, theirs := x.stores[to].chainOf(at.Session), x.stores[from].chainOf(at.Session)
	labels, more := x.labelsOf(to, at), x.labelsOf(from, at)
	source, before := x.stores[from].logFiles(at.Session, true), x.stores[to].logFiles(at.Session, true)
	got, err := sent(x.stores[from], x.stores[to], at.Run.String(), accepts)
	common := sharedEvents(ours, theirs)
	var want []travel.Relation
	switch {
	case len(theirs) == 0:
		if !fault.Is(err, fault.RunNotFound) {
			x.Errorf("a run that the source does not have: %v", err)
		}
		return
	case len(ours) == 0:
		want = []travel.Relation{travel.NewSession}
	case slices.Equal(ours, theirs):
		want = []travel.Relation{travel.Same, travel.FastForward}
	case common == ours[len(ours)-1].Next:
		want = []travel.Relation{travel.FastForward}
	case common == theirs[len(theirs)-1].Next:
		want = []travel.Relation{travel.Ahead}
	default:
		x.seen["diverged"]++
		if f := fault.Of(err); !fault.Is(err, fault.SessionDiverged) || f.Details["sharedEvents"] != common {
			x.Errorf("the logs share %d events: %v, %+v", common, err, f)
		}
		x.unchanged(to, at, before)
		return
	}
	if err != nil || !slices.Contains(want, got.Relation) {
		x.Fatalf("%s, %v, want one of %v", got.Relation, err, want)
	}
	x.seen[string(got.Relation)]++
	if !maps.Equal(x.stores[from].logFiles(at.Session, true), source) {
		x.Error("the source changed")
	}
	if got.Relation == travel.Ahead {
		x.unchanged(to, at, before)
		return
	}
	if !maps.Equal(x.stores[to].logFiles(at.Session, false), x.stores[from].logFiles(at.Session, false)) {
		x.Errorf("%s: the bytes of the logs differ", got.Relation)
	}
	maps.Copy(labels, more)
	if have := x.labelsOf(to, at); !maps.Equal(have, labels) {
		x.Errorf("%s: the annotations are %v, want %v", got.Relation, have, labels)
	}
}

// unchanged reports a session that was written to.
func (x *threeStores) unchanged(i int, at engine.Position, before map[string]string) {
	x.Helper()
	if !maps.Equal(x.stores[i].logFiles(at.Session, true), before) {
		x.Error("the target changed")
	}
}

// converge sends every session from the store with the longest log to the others, and back, until nothing is written.
// Sessions that diverged stay so.
func (x *threeStores) converge(at engine.Position) {
	longest := 0
	for i := range x.stores {
		if len(x.stores[i].chainOf(at.Session)) > len(x.stores[longest].chainOf(at.Session)) {
			longest = i
		}
	}
	theirs := x.stores[longest].chainOf(at.Session)
	for i := range x.stores {
		if ours := x.stores[i].chainOf(at.Session); len(ours) > 0 && sharedEvents(ours, theirs) != ours[len(ours)-1].Next {
			return
		}
	}
	for range 2 {
		for i := range x.stores {
			if i != longest {
				x.exchange(longest, i, at)
				x.exchange(i, longest, at)
			}
		}
	}
	for i, w := range x.stores {
		if !maps.Equal(w.logFiles(at.Session, false), x.stores[longest].logFiles(at.Session, false)) ||
			!maps.Equal(x.labelsOf(i, at), x.labelsOf(longest, at)) {
			x.Errorf("store %d did not converge", i)
		}
		w.replays(at)
	}
	x.seen["converged"]++
}

// history works in the stores and exchanges sessions between them, and then sends all that can be sent everywhere.
func (x *threeStores) history() {
	for range 12 + x.rnd.IntN(12) {
		i := x.rnd.IntN(3)
		if len(x.runs) == 0 || x.rnd.IntN(2) == 0 {
			x.work(i)
			continue
		}
		to := (i + 1 + x.rnd.IntN(2)) % 3
		x.exchange(i, to, x.runs[x.rnd.IntN(len(x.runs))])
		x.stores[i].sound()
		x.stores[to].sound()
	}
	for _, at := range x.runs {
		x.converge(at)
	}
	for _, w := range x.stores {
		w.sound()
	}
}

// TestThreeStoresExchangeSessions: after any exchange of sessions between three stores, the logs of the two are equal, or
// one is a prefix of the other and the relation names it, or the divergence is named with the number of events that both
// share; annotations of both are present where the session was written; and every store verifies.
func TestThreeStoresExchangeSessions(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range sample.OneIn(t, 50).Of(200) {
		t.Run(fmt.Sprint(n), func(t *testing.T) { // ends with its stores closed
			x := &threeStores{T: t, rnd: rand.New(rand.NewPCG(uint64(n), 25)), seen: seen}
			for i := range x.stores {
				x.stores[i] = newFixture(t)
				x.stores[i].seeds = byte(80 * i)
			}
			x.history()
		})
	}
	for _, what := range []string{"new", "same", "fast_forward", "ahead", "diverged", "converged"} {
		if sample.Exhaustive() && seen[what] == 0 {
			t.Errorf("no exchange was %s: %v", what, seen)
		}
	}
	t.Log(seen)
}
