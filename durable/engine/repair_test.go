package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// repairer is a process that can repair.
func (w *fixture) repairer() *enginetest.Engine {
	w.Helper()
	s, err := openUnsynced(w, w.dir, filestore.Options{LockWait: 5 * time.Second})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Close() })
	return over(s)
}

func (w *fixture) repair(call upkeep.RepairCall) upkeep.RepairReport {
	w.Helper()
	out, err := w.repairer().Repair(context.Background(), w.by(), call)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// flip changes one bit of a file of the store.
func (w *fixture) flip(name string, at int) {
	w.Helper()
	at2 := filepath.Join(w.dir, filepath.FromSlash(name))
	b, err := os.ReadFile(at2)
	if err != nil {
		w.Fatal(err)
	}
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 1
	if err := os.WriteFile(at2, b, 0o600); err != nil {
		w.Fatal(err)
	}
}

func sessionDir(a engine.Answer) string { return "sessions/" + a.Session.SessionID.String() }

// segments lists the segments of a session, oldest first.
func (w *fixture) segmentsOf(a engine.Answer) []string {
	w.Helper()
	entries, err := os.ReadDir(filepath.Join(w.dir, sessionDir(a), "events"))
	if err != nil {
		w.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, sessionDir(a)+"/events/"+e.Name())
	}
	return out
}

// TestRepairContinuesFromThePrefix: events behind the damage are reported and removed, the prefix
// continues, and tokens of removed nodes are refused with that reason.
func TestRepairContinuesFromThePrefix(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	started := w.start(longOne)
	second := w.must(started, note("one"))
	third := w.must(second, note("two"))
	fourth := w.must(third, note("three"))
	segments := w.segmentsOf(started)
	w.flip(segments[2], 100)
	ref := started.Session.RunID.String()

	planned := w.repair(upkeep.RepairCall{Ref: ref})
	if !planned.Pending() || planned.Unrepairable() || planned.Applied || len(planned.Findings) == 0 ||
		planned.Findings[0].Outlook != upkeep.Repairable {
		t.Errorf("planned %+v", planned)
	}
	if len(planned.Lost.Logs) != 1 || planned.Lost.Events < 4 || len(planned.Lost.Logs[0].Runs) != 1 ||
		planned.Lost.Logs[0].Runs[0].RunID != started.Session.RunID {
		t.Errorf("lost %+v", planned.Lost)
	}
	w.g = w.process()
	if _, err := w.next(fourth, note("four")); !fault.Is(err, fault.SessionUnhealthy) {
		t.Errorf("a dry run repaired: %v", err)
	}
	done := w.repair(upkeep.RepairCall{Ref: ref, Apply: true})
	if !done.Applied || done.Pending() || done.Unrepairable() || len(done.Findings) > 0 ||
		len(done.Steps) != len(planned.Steps) || done.Lost.Events != planned.Lost.Events {
		t.Errorf("planned %+v\ndid %+v", planned, done)
	}
	v, err := w.repairer().Verify(context.Background())
	if err != nil || !v.OK || v.Sessions[0].Health != manifest.Healthy {
		t.Errorf("verified %+v, %v", v, err)
	}
	for _, late := range []engine.Answer{third, fourth} {
		if _, err := w.repairer().
			Continue(context.Background(), w.by(), engine.Continue{StateToken: late.StateToken, AckToken: late.AckToken,
				Request: note("late")}); !fault.Is(err, fault.TokenUnknownNode) {
			t.Errorf("a token of what is lost: %v; want TOKEN_UNKNOWN_NODE", err)
		}
	}
	w.g = w.process()
	again := w.must(second, note("two, again"))
	if again.NodeID.IsZero() || again.Pending == nil {
		t.Errorf("continuing gave %+v", again)
	}
	if more := w.repair(upkeep.RepairCall{Apply: true}); len(more.Steps) > 0 {
		t.Errorf("repaired once more: %+v", more)
	}
}

// TestRepairWithoutAPrefix: the session is removed from the store, and nothing else is.
func TestRepairWithoutAPrefix(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	gone, stays := w.start(twoSteps), w.start(longOne)
	w.flip(sessionDir(gone)+"/manifest.jsonl", 30)
	done := w.repair(upkeep.RepairCall{Ref: gone.Session.SessionID.String(), Apply: true})
	if len(done.Steps) == 0 || done.Lost.Logs[0].FirstEvent != 0 || len(done.Findings) > 0 {
		t.Errorf("%+v", done)
	}
	if _, err := os.Stat(filepath.Join(w.dir, sessionDir(gone))); err == nil {
		t.Error("the folder is still there")
	}
	for _, step := range done.Steps {
		if _, err := os.Stat(filepath.Join(w.dir, step.To)); err != nil {
			t.Errorf("%+v: %v", step, err)
		}
	}
	list, err := w.repairer().Runs(context.Background())
	if err != nil || len(list.Runs) != 1 || len(list.Unreadable) != 0 || list.Runs[0].RunID != stays.Session.RunID {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestRepairReportsWhatItCannotDo: objects are not made again, keys have a command of their own,
// and leftovers require nothing.
func TestRepairReportsWhatItCannotDo(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	b := w.must(a, note("done"))
	_ = b
	snapshots, err := os.ReadDir(filepath.Join(w.dir, "snapshots"))
	if err != nil {
		t.Fatal(err)
	}
	w.flip("snapshots/"+snapshots[0].Name(), 5)
	w.flip("keys/keyring.json", 20)
	if err := os.WriteFile(filepath.Join(w.dir, "config.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	last := w.segmentsOf(a)[1]
	m := filepath.Join(w.dir, sessionDir(a), "manifest.jsonl")
	all, err := os.ReadFile(m)
	if err != nil {
		t.Fatal(err)
	}
	cut := bytes.Index(all, []byte("\n{\"bytes\"")) + 1
	if err := os.WriteFile(m, all[:cut], 0o600); err != nil {
		t.Fatal(err)
	}
	planned := w.repair(upkeep.RepairCall{})
	want := map[string]upkeep.Outlook{"snapshots/": upkeep.Impossible, "keys/": upkeep.Elsewhere,
		"config.json": upkeep.Repairable, last: upkeep.NotNeeded}
	for at, outlook := range want {
		if !slices.ContainsFunc(planned.Findings, func(f upkeep.RepairFinding) bool {
			return strings.HasPrefix(f.Path, at) && f.Outlook == outlook && f.Advice != ""
		}) {
			t.Errorf("%s should be %s: %+v", at, outlook, planned.Findings)
		}
	}
	if !planned.Pending() || !planned.Unrepairable() || len(planned.Steps) != 1 {
		t.Errorf("%+v", planned)
	}
	done := w.repair(upkeep.RepairCall{Apply: true})
	if !done.Unrepairable() || slices.ContainsFunc(done.Findings,
		func(f upkeep.RepairFinding) bool { return f.Path == "config.json" }) {
		t.Errorf("%+v", done.Findings)
	}
	if _, err := os.Stat(filepath.Join(w.dir, done.Steps[0].To)); err != nil {
		t.Error(err)
	}
}

// TestRepairUsesTheHeadCache: a log that lost what a sealed cache names continues from its end, and
// the cache does not name the lost head after the repair.
func TestRepairUsesTheHeadCache(t *testing.T) {
	t.Parallel()
	l := newLongRun(t, newFixture(t), 9)
	for i := range 40 {
		l.attempt(l.tip(), fmt.Sprintf("ok %d", i))
	}
	l.process()
	files := l.disk.Files()
	root := "sessions/" + l.session.String()
	// The manifest and the segments lose their last three plans; the cache does not.
	groups := bytes.Split(files[root+"/manifest.jsonl"], []byte("{\"bytes\""))
	short := bytes.Join(groups[:len(groups)-3], []byte("{\"bytes\""))
	f, err := l.disk.Open(root+"/manifest.jsonl", 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(int64(len(short))); err != nil {
		t.Fatal(err)
	}
	var segs []string
	for name := range files {
		if strings.HasPrefix(name, root+"/events/") {
			segs = append(segs, name)
		}
	}
	slices.Sort(segs)
	for _, name := range segs[len(segs)-3:] {
		if err := l.disk.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	s := storeOn(t, l.disk)
	g := over(s)
	if v, err := g.VerifySession(context.Background(), l.session.String()); err != nil || v.OK {
		t.Fatalf("the loss is not seen: %+v, %v", v, err)
	}
	done, err := g.Repair(context.Background(), caller(9), upkeep.RepairCall{Apply: true})
	if err != nil || len(done.Steps) == 0 || done.Unrepairable() || done.Lost.Events == 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if v, err := g.VerifySession(context.Background(), l.session.String()); err != nil || !v.OK {
		t.Errorf("afterwards %+v, %v", v, err)
	}
	l.process()
	l.attempt(l.tip(), "ok")
}

// TestRepairOfAnImportedSession: the mark states no more imported events than are left.
func TestRepairOfAnImportedSession(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	for range 3 {
		a = w.must(a, note("x"))
	}
	ctx, g := context.Background(), w.repairer()
	v, err := g.VerifySession(ctx, a.Session.SessionID.String())
	if err != nil {
		t.Fatal(err)
	}
	mark := imported.Mark{AtMs: 1, BundleID: id.NewBundle(id.Seed{1}).String(), Events: v.Sessions[0].Head.Next,
		Head: v.Sessions[0].Head.Digest}
	if err := g.Store.UpdateSessionControl(ctx, a.Session.SessionID, ports.ImportedFile,
		func(ports.Control) (ports.Control, error) {
			return ports.Control{V: imported.Version, Data: mark.Value()}, nil
		}); err != nil {
		t.Fatal(err)
	}
	read := func() imported.Mark {
		c, err := g.Store.SessionControl(ctx, a.Session.SessionID, ports.ImportedFile)
		if err != nil {
			t.Fatal(err)
		}
		m, err := imported.Read(c.Data)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	w.repair(upkeep.RepairCall{Apply: true})
	if !reflect.DeepEqual(read(), mark) {
		t.Errorf("a whole session's mark became %+v", read())
	}
	w.flip(w.segmentsOf(a)[2], 100)
	done := w.repair(upkeep.RepairCall{Apply: true})
	want := mark
	want.Events = done.Lost.Logs[0].FirstEvent
	if got := read(); !reflect.DeepEqual(got, want) || want.Events == mark.Events {
		t.Errorf("the mark is %+v, want %+v", got, want)
	}
}

// TestRepairOfAnEmptyStore: an empty store, and one that does not exist.
func TestRepairOfAnEmptyStore(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	done := w.repair(upkeep.RepairCall{Apply: true})
	if len(done.Steps) > 0 || len(done.Findings) > 0 || done.Pending() || done.Unrepairable() {
		t.Errorf("%+v", done)
	}
	if _, err := os.Stat(w.dir); err == nil {
		t.Error("a repair made the store")
	}
	if _, err := w.repairer().Repair(context.Background(), w.by(), upkeep.RepairCall{Ref: "nothing"}); !fault.Is(err,
		fault.RunNotFound) {
		t.Errorf("of no session: %v", err)
	}
}
