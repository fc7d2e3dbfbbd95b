package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/guard"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore"
)

// guardNote is a record of a hook, as 'runs events' prints it.
type guardNote struct {
	event.GuardNoted
	node string
}

// guardNotes are the records of hooks in the events of a run.
func (g *guarded) guardNotes(run string) (notes []guardNote) {
	g.Helper()
	var doc struct {
		Data struct {
			Events []struct {
				Actor     event.Actor
				Data      json.RawMessage
				Ignorable bool
				Kind      string
				Scope     struct{ NodeID string }
			}
		}
	}
	if err := json.Unmarshal([]byte(g.call(0, "", "runs", "events", run, "--json")), &doc); err != nil {
		g.Fatal(err)
	}
	for _, e := range doc.Data.Events {
		if e.Kind != "guard_noted" {
			continue
		}
		n := guardNote{node: e.Scope.NodeID}
		if err := json.Unmarshal(e.Data, &n.GuardNoted); err != nil || !e.Ignorable || n.node == "" ||
			e.Actor != (event.Actor{Kind: event.Engine}) {
			g.Errorf("%v, %+v", err, e)
		}
		notes = append(notes, n)
	}
	return notes
}

// verdicts are the records of hooks about a run as "CLIENT VERDICT REFUSALS".
func (g *guarded) verdicts(run string) string {
	g.Helper()
	var all []string
	for _, n := range g.guardNotes(run) {
		all = append(all, fmt.Sprintf("%s %s %d", n.Client, n.Verdict, n.Refusals))
	}
	return strings.Join(all, ", ")
}

// store is the directory of the store.
func (g *guarded) store() string { return filepath.Join(g.home, "stores", "local") }

// TestHooksRefuseTwiceTogether: hooks that run at the same time do not refuse one chat more often, and each refusal is
// on record.
func TestHooksRefuseTwiceTogether(t *testing.T) {
	g := newGuarded(t, map[string]string{"two.json": guardFlow})
	g.call(0, "", "start", "two.json")
	var mu sync.Mutex
	var all sync.WaitGroup
	refused := map[string]int{}
	for i := range 12 {
		chat := fmt.Sprint("chat", i%2)
		all.Go(func() {
			answer := g.hook("Stop", chat)
			mu.Lock()
			defer mu.Unlock()
			if g.decision(answer) == "block" {
				refused[chat]++
			}
		})
	}
	all.Wait()
	recorded := map[string]int{}
	for _, n := range g.guardNotes("@last") {
		if n.Verdict == event.GuardRefused {
			recorded[n.Chat.String()]++
		}
	}
	// A hook that found the session busy refused nothing and recorded nothing; one that was too slow may have recorded
	// what it did not answer.
	for chat, n := range refused {
		if on := recorded[canon.Sum([]byte(chat)).String()]; n > on || on > limits.GuardRefusalsMax {
			t.Errorf("%s: %d refusals, %d on record", chat, n, on)
		}
	}
	if len(recorded) == 0 || len(recorded) > 2 {
		t.Errorf("on record %v", recorded)
	}
	g.call(0, "", "verify")
}

// TestHookThatCannotRecordLetsGo: a refusal that cannot be recorded is none. The hook ends in time, and refuses again
// when it can record.
func TestHookThatCannotRecordLetsGo(t *testing.T) {
	for name, disturb := range map[string]func(g *guarded, session string) (undo func()){
		"the session is locked": func(g *guarded, session string) func() {
			store, err := filestore.OpenDir(g.store(), filestore.Options{Now: time.Now})
			if err != nil {
				g.Fatal(err)
			}
			s, err := id.ParseSession(session)
			if err != nil {
				g.Fatal(err)
			}
			unlock, err := store.Lock(context.Background(), manifest.SessionEvents(s))
			if err != nil {
				g.Fatal(err)
			}
			return func() { _, _ = unlock(), store.Close() }
		},
		"the lock is no file": func(g *guarded, session string) func() {
			lock := filepath.Join(g.store(), "sessions", session, ".lock")
			_ = os.Remove(lock)
			if err := os.Mkdir(lock, 0o700); err != nil {
				g.Fatal(err)
			}
			return func() { _ = os.Remove(lock) }
		},
		"a later version alone may write": func(g *guarded, _ string) func() {
			file := filepath.Join(g.store(), "store.json")
			text, err := os.ReadFile(file)
			if err != nil {
				g.Fatal(err)
			}
			store, err := controlfile.Decode(text, "store")
			if err != nil {
				g.Fatal(err)
			}
			features, _ := store.Data.Get("features")
			later, err := controlfile.New("store", 1, store.Data.With("features",
				features.With("roCompat", canon.OfList(canon.OfString("index")))))
			if err != nil {
				g.Fatal(err)
			}
			changed, err := controlfile.Encode(later)
			if err != nil {
				g.Fatal(err)
			}
			g.write(file, string(changed))
			return func() { g.write(file, string(text)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, map[string]string{"two.json": guardFlow})
			g.call(0, "", "start", "two.json")
			g.call(0, "", "config", "set", "lockWaitMs", "60000")
			sessions, err := os.ReadDir(filepath.Join(g.store(), "sessions"))
			if err != nil || len(sessions) != 1 {
				t.Fatal(err)
			}
			before := g.call(0, "", "runs", "events", "--json")
			undo := disturb(g, sessions[0].Name())
			took := time.Duration(limits.GuardDeadlineMs) * time.Millisecond
			for range 3 { // the machine may be busy
				from := time.Now()
				if got := g.hook("Stop", "s"); got != "" {
					t.Errorf("answered %s", got)
				}
				took = min(took, time.Since(from))
			}
			if took >= limits.GuardDeadlineMs*time.Millisecond {
				t.Error("the hook waited until its deadline")
			}
			if got := g.hook("SessionStart", "s"); !strings.Contains(got, "First") {
				t.Errorf("the context: %s", got)
			}
			undo()
			if after := g.call(0, "", "runs", "events", "--json"); after != before {
				t.Errorf("recorded:\n%s\nbefore\n%s", after, before)
			}
			if got := g.hook("Stop", "s"); !strings.Contains(got, "refusal 1 of 2") {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

// TestHookRecordIsNoActivity: it moves no run to the front, and makes no hook read a session again.
func TestHookRecordIsNoActivity(t *testing.T) {
	g := newGuarded(t, map[string]string{"two.json": guardFlow,
		"one.json": `{"id":"test.one","name":"One","description":"d","version":"1.0.0","steps":[
			{"id":"a","title":"A","prompt":"p","requireConfirmation":true}]}`})
	g.call(0, "", "start", "two.json", "--title", "Older")
	time.Sleep(2 * time.Millisecond) // the runs are ordered by the millisecond
	g.call(0, "", "start", "one.json", "--title", "Newer")
	orders := func() string {
		var b strings.Builder
		for _, args := range [][]string{{"runs", "list"}, {"resume"}, {"runs", "show"}, {"sessions", "list"}} {
			out := g.call(0, "", append(args, "--json")...)
			at := strings.Index(out, "Older") < strings.Index(out, "Newer")
			fmt.Fprintln(&b, args, strings.Contains(out, "Older"), at)
		}
		return b.String()
	}
	for range 2 { // what changed within two seconds is read again
		g.age(filepath.Join(g.store(), "cache"))
		g.hook("SessionStart", "s")
	}
	before := orders()
	cache := map[string]string{}
	for _, name := range cacheFiles {
		data, _ := os.ReadFile(filepath.Join(g.store(), "cache", name))
		cache[name] = string(data)
	}
	time.Sleep(2 * time.Millisecond)
	for i, want := range []string{"block", "block", "", ""} {
		if got := g.decision(g.hook("Stop", "s")); got != want {
			t.Errorf("stop %d: %q", i+1, got)
		}
	}
	for _, name := range cacheFiles {
		if data, _ := os.ReadFile(filepath.Join(g.store(), "cache", name)); string(data) != cache[name] {
			t.Errorf("%s changed:\n%s\n%s", name, cache[name], data)
		}
	}
	if after := orders(); after != before {
		t.Errorf("the order changed:\n%s\n%s", before, after)
	}
	if got := g.hook("SessionStart", "s"); !strings.Contains(got, "Newer") {
		t.Errorf("the latest run: %s", got)
	}
}

// TestHookRecordIsShown: the timeline has each record, and the step one line for all.
func TestHookRecordIsShown(t *testing.T) {
	g := newGuarded(t, map[string]string{"two.json": guardFlow})
	g.call(0, "", "start", "two.json")
	shows := func(want string, args ...string) {
		t.Helper()
		if got := g.call(0, "", args...); !strings.Contains(got, want) {
			t.Errorf("%v: %s\nwant %s", args, got, want)
		}
	}
	for i, want := range []string{"refused once", "refused twice", "refused twice, then allowed",
		"refused 3 times in 2 chats, then allowed in 1"} {
		g.hook("Stop", map[bool]string{true: "other", false: "s"}[i == 3])
		shows("guard: the end of a turn was "+want+"\n", "runs", "show")
	}
	hook := "A hook of " + guard.Clients[0].Name
	shows(hook+" refused the end of a turn at “First” (refusal 2)", "runs", "timeline")
	shows(hook+" allowed the end of a turn at “First” after 2 refusals", "runs", "timeline", "--brief")
	shows(`"kind":"guard_noted"`, "runs", "timeline", "--json")
	shows("refused once by "+guard.Clients[0].Name+", chat sha256:", "runs", "show", "--step", "a")
	shows(`"guarded":[{"atMs":`, "runs", "show", "--json")
	g.call(0, "", "continue", "--run", "@last", "--done")
	shows("guard: the end of a turn was refused", "runs", "show")
	g.call(0, "", "replay", "@last")
	g.call(0, "", "verify")
}
