package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// endTurn ends a turn of a chat at the preferred tip of a run, in a process of its own, and returns the refusals.
func (w *fixture) endTurn(a engine.Answer, chat string) int64 {
	w.Helper()
	n, err := w.tryTurn(w.process(), a, chat)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

func (w *fixture) tryTurn(g *enginetest.Engine, a engine.Answer, chat string) (int64, error) {
	w.Helper()
	return turnAt(g, a.Position(), chat, w.by().AtMs)
}

// turnAt ends a turn at the preferred tip of the run of a position.
func turnAt(g *enginetest.Engine, at engine.Position, chat string, atMs int64) (int64, error) {
	h := g.NewHistory(at.Session)
	p, err := h.OpenRun(context.Background(), at)
	if err != nil {
		return 0, err
	}
	return turnEnds(g, at, p.Run, chat, atMs)
}

// notes are the records of hooks about a run, as "NODE CHAT VERDICT REFUSALS"; NODE and CHAT are numbers.
func (w *fixture) notes(a engine.Answer) string {
	w.Helper()
	all, _, err := w.process().Events(context.Background(), a.Session.RunID.String())
	if err != nil {
		w.Fatal(err)
	}
	var nodes []id.Node
	var chats []canon.Digest
	number := func(at int, have func() int) int {
		if at < 0 {
			return have()
		}
		return at
	}
	var out []string
	for _, e := range all {
		p, ok := e.Data.(event.GuardNoted)
		if !ok {
			continue
		}
		n := number(slices.Index(nodes, e.Scope.NodeID), func() int {
			nodes = append(nodes, e.Scope.NodeID)
			return len(nodes) - 1
		})
		c := number(slices.Index(chats, p.Chat), func() int { chats = append(chats, p.Chat); return len(chats) - 1 })
		out = append(out, fmt.Sprintf("%d %d %s %d", n, c, p.Verdict, p.Refusals))
	}
	return strings.Join(out, ", ")
}

// TestEndTurnCountsInTheLog: the count is in the log alone, for a node and a chat, and every process reads it there.
func TestEndTurnCountsInTheLog(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	var got []int64
	for _, chat := range []string{"a", "a", "b", "a", "a", "b", "b", "b"} {
		got = append(got, w.endTurn(a, chat))
	}
	if want := []int64{1, 2, 1, 0, 0, 2, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("refusals %v, want %v", got, want)
	}
	b := w.must(a, note("done"))
	w.endTurn(b, "a")
	const want = "0 0 refused 1, 0 0 refused 2, 0 1 refused 1, 0 0 let_go 2, 0 1 refused 2, 0 1 let_go 2, 1 0 refused 1"
	if got := w.notes(a); got != want {
		t.Errorf("on record: %s\nwant %s", got, want)
	}
	w.sound()
	if r := w.replays(a.Position()); r.Segments != 9 || len(r.Undecided) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestEndTurnOfAChangedRun: what changed after the run was read, or takes no attempts, refuses nothing.
func TestEndTurnOfAChangedRun(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fixture, engine.Answer) error{
		"a refused attempt": func(w *fixture, a engine.Answer) error { _, err := w.next(a, note("no")); return err },
		"an advance":        func(w *fixture, a engine.Answer) error { _, err := w.next(a, note("done")); return err },
		"a checkpoint":      func(w *fixture, a engine.Answer) error { _, err := w.keep(a, note("so far")); return err },
		"the end": func(w *fixture, a engine.Answer) error {
			_, err := w.cancel(&performerStub{}, a.Position(), engine.CancelRequest{})
			return err
		},
		"a request to end": func(w *fixture, a engine.Answer) error {
			_, err := w.cancel(&performerStub{held: true}, a.Position(), engine.CancelRequest{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			a := w.start(twoSteps)
			h := w.g.NewHistory(a.Session.SessionID)
			p, err := h.OpenRun(context.Background(), a.Position())
			must(t, err)
			must(t, change(w, a))
			turn := advance.Turn{Client: "codex", Chat: canon.Sum(nil), AtMs: 1}
			n, err := engine.NewTurns(w.g.Engine).End(context.Background(), a.Position(), p.Run.LastIndex, turn)
			if n != 0 || err != nil {
				t.Errorf("%d refusals, %v", n, err)
			}
			if got := w.notes(a); got != "" {
				t.Errorf("on record: %s", got)
			}
		})
	}
	w := newFixture(t)
	a := w.start(twoSteps)
	_, err := w.cancel(&performerStub{}, a.Position(), engine.CancelRequest{})
	must(t, err)
	if n := w.endTurn(a, "a"); n != 0 || w.notes(a) != "" {
		t.Errorf("a closed run refuses: %d, %s", n, w.notes(a))
	}
	at := a.Position()
	at.Node = id.RootNode(id.NewRun(id.Seed{99}))
	n, err := engine.NewTurns(w.g.Engine).End(context.Background(), at, 0, advance.Turn{})
	if n != 0 || !fault.Is(err, fault.TokenUnknownNode) {
		t.Errorf("an unknown node: %d, %v", n, err)
	}
}

// TestTurnsEndTogether: of hooks that all have read the log before one of them records, two refuse and one records that
// it lets go.
func TestTurnsEndTogether(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	unlock, err := w.g.Store.Lock(context.Background(), manifest.SessionEvents(a.Session.SessionID))
	must(t, err)
	var refused atomic.Int64
	var all sync.WaitGroup
	for i := range 12 {
		g := w.process()
		all.Go(func() {
			n, err := turnAt(g, a.Position(), "chat", int64(1+i))
			if err != nil {
				t.Error(err)
			}
			if n > 0 {
				refused.Add(1)
			}
		})
	}
	time.Sleep(100 * time.Millisecond) // they read without the lock, then wait for it
	must(t, unlock())
	all.Wait()
	if got := w.notes(a); refused.Load() != 2 || got != "0 0 refused 1, 0 0 refused 2, 0 0 let_go 2" {
		t.Errorf("%d refusals, on record: %s", refused.Load(), got)
	}
}

// TestChatsOfANodeAreBounded: a run that was left open does not grow with every chat in its repository.
func TestChatsOfANodeAreBounded(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	for i := range limits.GuardChatsMax + 3 {
		want := int64(1)
		if i >= limits.GuardChatsMax {
			want = 0
		}
		if n, err := w.tryTurn(w.g, a, fmt.Sprint(i)); n != want || err != nil {
			t.Fatalf("chat %d: %d refusals, %v", i, n, err)
		}
	}
	if n := w.endTurn(a, "0"); n != 2 {
		t.Errorf("a chat with a record: %d refusals", n)
	}
	if n := strings.Count(w.notes(a), "refused"); n != limits.GuardChatsMax+1 {
		t.Errorf("%d records", n)
	}
}

// TestTokensFromBeforeANote: an attempt and a checkpoint with tokens of an answer before the note are accepted, and
// answered as they would be without it.
func TestTokensFromBeforeANote(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	w.endTurn(a, "chat")
	w.mustKeep(a, note("so far"))
	w.endTurn(a, "chat")
	b := w.must(a, note("done"))
	if b.Pending == nil || b.Pending.StepID != "second" {
		t.Fatalf("%s, %+v", b.Kind(), b.Pending)
	}
	w.endTurn(b, "chat")
	// Sent again by a process that remembers nothing, the answer is the recorded one.
	again, err := w.process().Continue(context.Background(), w.by(), engine.Continue{StateToken: a.StateToken,
		AckToken: a.AckToken, Request: note("done")})
	if err != nil || text(t, again) != text(t, b) {
		t.Errorf("%v\n%s\n%s", err, text(t, again), text(t, b))
	}
	w.replays(a.Position())
}

// TestANoteMovesNoRun: it changes neither the order of lists and candidates nor what @last names, and is no activity
// for the retention.
func TestANoteMovesNoRun(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	older := w.startAt(twoSteps, "main", "a")
	w.must(older, note("done"))
	newer := w.startAt(longOne, "main", "a")
	order := func() string {
		list, err := w.process().Runs(context.Background())
		must(t, err)
		last, err := w.process().Locate(context.Background(), engine.Last)
		must(t, err)
		sessions, err := w.process().SessionList(context.Background())
		must(t, err)
		return asJSON(t, []any{list.Runs, w.resume(resume.Query{}), last.Run, sessions.Sessions[0].SessionID,
			sessions.Sessions[0].LastAtMs, sessions.Sessions[1].LastAtMs})
	}
	before := order()
	if c := w.resume(resume.Query{}).Candidates; len(c) != 2 || c[0].RunID != newer.Session.RunID {
		t.Fatalf("%+v", c)
	}
	w.clock += 91 * dayMs // more than the retention time
	for range 3 {
		w.endTurn(older, "chat")
	}
	if after := order(); tokens.ReplaceAllString(before, "") != tokens.ReplaceAllString(after, "") {
		t.Errorf("the order changed:\n%s\n%s", before, after)
	}
	if r := w.gc(0, upkeep.GCRequest{}); len(r.Sessions) != 2 {
		t.Errorf("%+v", r.Sessions)
	}
}

// TestABundleHasTheNotes: they travel with the session, and are counted where it is imported.
func TestABundleHasTheNotes(t *testing.T) {
	t.Parallel()
	w, other := newFixture(t), newFixture(t)
	a := w.start(twoSteps)
	w.endTurn(a, "chat")
	b := w.must(a, note("done"))
	w.endTurn(b, "chat")
	data := export(t, w.g, a.Session.SessionID, 1)
	take(t, other.g, data, false)
	got, want := other.notes(a), w.notes(a)
	if got != want || want != "0 0 refused 1, 1 0 refused 1" {
		t.Errorf("on record: %s, want %s", got, want)
	}
	if n := other.endTurn(b, "chat"); n != 2 {
		t.Errorf("after the import: %d refusals", n)
	}
	fresh := take(t, other.g, data, true)
	other.sound()
	for _, run := range fresh.Runs {
		r, err := other.g.Replay(context.Background(), engine.Position{Session: run.SessionID, Run: run.RunID})
		if err != nil || !r.OK {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// praised is a kind of a later version that may be skipped.
type praised struct {
	Praise string `json:"praise"`
}

func (praised) Kind() string { return "praised" }
func (praised) DedupeKey(owner string, s event.Scope) string {
	return "praised:" + owner + ":" + s.NodeID.String()
}
func (praised) Check(event.Scope) error { return nil }

// appendLater appends an event of a kind that this version does not know.
func (w *fixture) appendLater(a engine.Answer, ignorable bool) {
	w.Helper()
	table := event.NewTable("events", "sessionId", event.Row[praised](event.NodeScope))
	w.appendAs(a, table, func(next int64) event.Event {
		e := event.New(a.Session.SessionID.String(), next, event.Scope{RunID: a.Session.RunID, NodeID: a.NodeID},
			event.Actor{Kind: event.Engine}, w.by().AtMs, praised{"good"})
		e.Ignorable = ignorable
		return e
	})
}

// TestIgnorableEventsOfALaterVersion: the run is continued, forked, replayed and verified, as an older version does
// with notes.
func TestIgnorableEventsOfALaterVersion(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	before := text(t, w.look(a.StateToken))
	w.appendLater(a, true)
	if after := text(t, w.look(a.StateToken)); after != before {
		t.Errorf("the answer changed:\n%s\n%s", after, before)
	}
	w.endTurn(a, "chat")
	b := w.must(a, note("done"))
	w.mustFork(a.Position(), "again")
	w.sound()
	if r := w.replays(b.Position()); r.Segments != 3 {
		t.Errorf("%+v", r)
	}
	if c := w.resume(resume.Query{}).Candidates; len(c) != 2 || c[0].ReadOnly || c[1].ReadOnly {
		t.Errorf("%+v", c)
	}
	// One that may not be skipped is another version's.
	w.appendLater(b, false)
	if n, err := w.tryTurn(w.process(), b, "chat"); n != 0 || !fault.Is(err, fault.SessionUnhealthy) {
		t.Errorf("%d refusals, %v", n, err)
	}
}
