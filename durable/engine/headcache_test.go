package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/projections/runs"
)

// steps is a workflow of n steps; every third one requires "ok" in its notes.
func steps(n int) string {
	var all []string
	for i := range n {
		check := ""
		if i%3 == 2 {
			check = `,"validationCriteria":[{"type":"contains","value":"ok","message":"say ok"}]`
		}
		all = append(all, fmt.Sprintf(`{"id":"s%d","title":"Step %d","prompt":"Do {{what}} %d"%s}`, i, i, i, check))
	}
	return `{"id":"test.steps","name":"Steps","description":"d","version":"1.0.0","steps":[` + strings.Join(all, ",") +
		`]}`
}

// longRun is a run on a disk in memory that several processes have worked on, with the head caches
// that they left, oldest first.
type longRun struct {
	t        testing.TB
	disk     *crashfs.FS
	g        *enginetest.Engine
	session  id.Session
	run      id.Run
	answers  []engine.Answer // nodes that were reached
	attempts []recordedAttempt
	caches   [][]byte
	clock    int64
}

type recordedAttempt struct {
	at      engine.Position
	attempt id.Attempt
	notes   string
}

func newLongRun(t testing.TB, w *fixture, seed byte) *longRun { return newLongRunOf(t, w, seed, 130) }

func newLongRunOf(t testing.TB, w *fixture, seed byte, n int) *longRun {
	l := &longRun{t: t, disk: crashfs.New()}
	l.process()
	a, err := l.g.Start(context.Background(), caller(1), id.Seed{seed}, engine.Start{Workflow: w.compiled(steps(n)),
		SourceKind: "project", SourceRef: "test.json", Context: set("what", "it")})
	if err != nil {
		t.Fatal(err)
	}
	l.session, l.run, l.answers = a.Session.SessionID, a.Session.RunID, []engine.Answer{a}
	return l
}

// process ends the current process, and begins another one.
func (l *longRun) process() {
	if l.g != nil {
		l.g.Flush(context.Background())
		if b := l.cache(); len(l.caches) == 0 || !bytes.Equal(b, l.caches[len(l.caches)-1]) {
			l.caches = append(l.caches, b)
		}
	}
	g, err := on(l.disk, 1)
	if err != nil {
		l.t.Fatal(err)
	}
	l.g = g
}

func (l *longRun) cache() []byte {
	b, err := storeOn(l.t, l.disk).
		CachedHead(context.Background(), manifest.SessionEvents(l.session), runs.SavedFormat,
			limits.HeadCacheBytesMax)
	if err != nil {
		l.t.Fatal(err)
	}
	return b
}

var stores atomic.Uint32 // opened so far: each has temporary names of its own

func openOn(f *crashfs.FS) (*filestore.Store, error) { return openOver(f, f) }

// openOver opens the store on a disk through another layer.
func openOver(f *crashfs.FS, through osfs.FS) (*filestore.Store, error) {
	n := stores.Add(1)
	return filestore.Open(through, filestore.Options{Locks: lock.NewMemory().On(f), Boot: "boot",
		Random: rand.NewChaCha8([32]byte{77, byte(n), byte(n >> 8), byte(n >> 16)}),
		Now:    func() time.Time { return time.UnixMilli(1_760_000_000_000) }})
}

func storeOn(t testing.TB, f *crashfs.FS) *filestore.Store {
	s, err := openOn(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func storeOver(t testing.TB, f *crashfs.FS, through osfs.FS) *filestore.Store {
	s, err := openOver(f, through)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// attempt tries the step at a place once more.
func (l *longRun) attempt(at engine.Position, notes string) {
	a, err := l.g.Rehydrate(context.Background(), at)
	if err != nil {
		l.t.Fatal(err)
	}
	if a.Pending == nil {
		return
	}
	l.clock++
	l.attempts = append(l.attempts, recordedAttempt{at, a.AttemptID, notes})
	if a, err = l.g.Advance(context.Background(), caller(l.clock), at, a.AttemptID, note(notes)); err != nil {
		l.t.Fatal(err)
	}
	l.answers = append(l.answers, a)
}

func (l *longRun) tip() engine.Position {
	at, err := l.g.Locate(context.Background(), l.run.String())
	if err != nil {
		l.t.Fatal(err)
	}
	return at
}

// random works on the run as people and agents do: mostly at the tip, at times blocked, at times
// from an earlier place, by one process after another.
func (l *longRun) random(t *rapid.T, attempts int) {
	for range attempts {
		at := l.tip()
		if rapid.IntRange(0, 9).Draw(t, "rewind") == 0 {
			at = rapid.SampledFrom(l.answers).Draw(t, "at").Position()
		}
		l.attempt(at, rapid.SampledFrom([]string{"ok", "ok", "ok", "no"}).Draw(t, "notes"))
		if rapid.IntRange(0, 3).Draw(t, "new process") == 0 {
			l.process()
		}
	}
	l.process()
}

// answersOver is every answer about the run that new processes give over a copy of the disk.
func (l *longRun) answersOver(disk *crashfs.FS) string {
	var out strings.Builder
	tell := func(what string, a engine.Answer, err error) {
		if err != nil {
			fmt.Fprintf(&out, "%s: %v\n", what, err)
			return
		}
		fmt.Fprintf(&out, "%s: %s\n", what, text(l.t, a))
	}
	process := func(disk *crashfs.FS) *enginetest.Engine {
		g, err := on(disk, 2)
		if err != nil {
			l.t.Fatal(err)
		}
		return g
	}
	ctx := context.Background()
	for _, ref := range []string{engine.Last, l.run.String(), l.run.String()[:9], "run_none"} {
		at, err := process(disk).Locate(ctx, ref)
		fmt.Fprintf(&out, "%s: %v %v\n", ref, at, err)
	}
	last := len(l.answers) - 1
	for _, i := range []int{0, last / 2, last - 3, last} {
		at := l.answers[max(0, i)].Position()
		a, err := process(disk.Reopen()).Rehydrate(ctx, at)
		tell("rehydrate", a, err)
		if err == nil && a.Pending != nil {
			a, err = process(disk.Reopen()).Advance(ctx, caller(5000), at, a.AttemptID, note("ok"))
			tell("advance", a, err)
		}
	}
	for i, m := range l.attempts {
		if i == 0 || i > len(l.attempts)-8 {
			a, err := process(disk.Reopen()).Advance(ctx, caller(5000), m.at, m.attempt, note(m.notes))
			tell("replay", a, err)
		}
	}
	unknown := engine.Position{Session: l.session, Run: l.run, Node: id.RootNode(id.NewRun(id.Seed{99}))}
	a, err := process(disk.Reopen()).Rehydrate(ctx, unknown)
	tell("an unknown node", a, err)
	if fault.CodeOf(err) != fault.TokenUnknownNode {
		l.t.Errorf("an unknown node: %v", err)
	}
	return out.String()
}

// with is a copy of the disk with another head cache; nil is none.
func (l *longRun) with(cache []byte) *crashfs.FS {
	disk := l.disk.Reopen()
	name := fmt.Sprintf("sessions/%s/cache/head-%d", l.session, runs.SavedFormat)
	if err := disk.Remove(name); err != nil {
		l.t.Fatal(err)
	}
	if cache != nil {
		f, err := disk.Open(name, osfs.New)
		if err == nil {
			_, err = f.Write(cache)
		}
		if err != nil {
			l.t.Fatal(err)
		}
	}
	return disk
}

// TestAnswersDoNotDependOnTheHeadCache: with any content in its place, answers are the same, byte
// for byte.
func TestAnswersDoNotDependOnTheHeadCache(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := newLongRun(t, w, 2)
	for range 12 {
		other.attempt(other.tip(), "ok")
	}
	other.process()
	rounds := 0
	rapid.Check(t, func(rt *rapid.T) {
		if rounds++; rounds > 4 {
			return // each costs as much as a hundred rounds of another law
		}
		l := newLongRun(t, w, 1)
		// Some runs are longer than a window, and some of those have a window behind them.
		l.random(rt, rapid.SampledFrom([]int{5, 30, 90}).Draw(rt, "attempts"))
		want := l.answersOver(l.with(nil))
		fresh := l.cache()
		variants := map[string][]byte{"fresh": fresh, "of another session": other.cache(), "empty": {},
			"oldest": l.caches[0], "old": rapid.SampledFrom(l.caches).Draw(rt, "old")}
		cut := rapid.IntRange(0, len(fresh)-1).Draw(rt, "cut")
		variants["torn"] = fresh[:cut]
		flipped := slices.Clone(fresh)
		flipped[cut] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
		variants["flipped"] = flipped
		zeroed := slices.Clone(fresh)
		clear(zeroed[cut/512*512 : min(len(fresh), cut/512*512+512)])
		variants["a sector lost"] = zeroed
		mixed := slices.Clone(l.caches[0])
		copy(mixed, fresh[:min(len(fresh), bytes.IndexByte(fresh, '\n')+1)])
		variants["two mixed"] = mixed
		for name, cache := range variants {
			if got := l.answersOver(l.with(cache)); got != want {
				rt.Fatalf("with a cache that is %s (cut %d):\n%s\nwithout one:\n%s", name, cut, got, want)
			}
		}
	})
}

// TestRewindBeyondTheWindow: a step that is tried again from a node that is older than the window
// is folded from the beginning, also when another process tried it.
func TestRewindBeyondTheWindow(t *testing.T) {
	t.Parallel()
	l := newLongRun(t, newFixture(t), 1)
	for range 90 {
		l.attempt(l.tip(), "ok")
	}
	l.process()
	before := l.cache()
	l.attempt(l.answers[3].Position(), "ok")
	l.attempt(l.tip(), "ok")
	l.process()
	want := l.answersOver(l.with(nil))
	for _, cache := range [][]byte{before, l.cache()} {
		if got := l.answersOver(l.with(cache)); got != want {
			t.Errorf("with a cache:\n%s\nwithout:\n%s", got, want)
		}
	}
}

// TestHeadCacheIsCheckedCompletely: every truncation and every changed byte of the file is a miss.
func TestHeadCacheIsCheckedCompletely(t *testing.T) {
	t.Parallel()
	l := newLongRun(t, newFixture(t), 1)
	for range 12 {
		l.attempt(l.tip(), "ok")
	}
	l.process()
	fresh := l.cache()
	s := storeOn(t, l.disk)
	g := over(s)
	if fold, brief := g.Cached(l.session); !fold || !brief {
		t.Fatal("the cache that a process left is none")
	}
	first := bytes.IndexByte(fresh, '\n')
	try := func(what string, at int, cache []byte) {
		if err := s.StoreHead(context.Background(), manifest.SessionEvents(l.session), runs.SavedFormat,
			cache); err != nil {
			t.Fatal(err)
		}
		fold, brief := g.Cached(l.session)
		if fold && (at > first || what == "cut at") || brief && at < first {
			t.Fatalf("%s %d: the fold is believed: %v, the brief: %v", what, at, fold, brief)
		}
	}
	for i := range sample.OneIn(t, 20).Of(len(fresh)) {
		try("cut at", i, fresh[:i])
		bad := slices.Clone(fresh)
		bad[i] ^= 0x11
		try("changed at", i, bad)
	}
	try("cut at", len(fresh)-1, fresh[:len(fresh)-1])
	// A line is not accepted in the other's place.
	try("changed at", first-1, append(slices.Clone(fresh[first+1:]), fresh...))
	big := append(slices.Clone(fresh), make([]byte, limits.HeadCacheBytesMax)...)
	try("cut at", first+1, big)
}

// TestLostTailIsProvedByTheHeadCache: a cache that was written after a commit names a head that the
// log must have (docs/design.md#log-tail).
func TestLostTailIsProvedByTheHeadCache(t *testing.T) {
	t.Parallel()
	l := newLongRun(t, newFixture(t), 1)
	for range 10 {
		l.attempt(l.tip(), "ok")
	}
	l.process()
	before := l.disk.Reopen()
	l.attempt(l.tip(), "ok")
	l.attempt(l.tip(), "ok")
	l.process()
	later := l.cache()
	l.disk = before
	lost := l.with(later)
	g := over(storeOn(t, lost))
	v, err := g.VerifySession(context.Background(), l.session.String())
	if err != nil || v.OK || v.Sessions[0].Health != manifest.CorruptTail ||
		!slices.ContainsFunc(v.Sessions[0].Findings,
			func(f manifest.Finding) bool { return f.Code == manifest.LostTail }) {
		t.Errorf("verify: %v, %+v", err, v)
	}
	at := l.answers[5].Position()
	if _, err := over(storeOn(t, lost)).Rehydrate(context.Background(), at); !fault.Is(err, fault.SessionUnhealthy) {
		t.Errorf("rehydrate: %v", err)
	}
	if _, err := over(storeOn(t, l.with(nil))).Rehydrate(context.Background(), at); err != nil {
		t.Errorf("with the cache deleted: %v", err)
	}
	none := storeOn(t, lost)
	h := enginetest.Over(enginetest.WithoutHeads(none))
	if v, err := h.VerifySession(context.Background(), l.session.String()); err != nil || !v.OK {
		t.Errorf("without the cache nothing is wrong: %v, %+v", err, v)
	}
}

// TestHeadCacheNeverFailsACommit: after any fault of writing it, the call is answered as without
// the fault.
func TestHeadCacheNeverFailsACommit(t *testing.T) {
	t.Parallel()
	l := newLongRun(t, newFixture(t), 1)
	for range 10 {
		l.attempt(l.tip(), "ok")
	}
	l.process()
	at := l.tip()
	want := ""
	count := crashfs.InjectFaults(l.disk, sample.OneIn(t, 24), func(f *crashfs.FS) error {
		s, err := openOn(f)
		if err != nil {
			return err
		}
		g := over(s)
		a, err := g.Rehydrate(context.Background(), at)
		if err != nil {
			return err
		}
		if a, err = g.Advance(context.Background(), caller(9000), at, a.AttemptID, note("ok")); err != nil {
			return err
		}
		g.Flush(context.Background())
		if want == "" {
			want = text(t, a)
		}
		if got := text(t, a); got != want {
			t.Errorf("answer %s, want %s", got, want)
		}
		return nil
	}, func(flaw crashfs.Fault, op crashfs.Op, err error, left *crashfs.FS) bool {
		if err != nil && strings.Contains(op.Name, "/cache/") && flaw.Err != nil && flaw.For == 0 {
			t.Errorf("%s %s: %v", op, flaw, err)
		}
		g := over(storeOn(t, left))
		v, verr := g.VerifySession(context.Background(), l.session.String())
		if verr != nil || !v.OK {
			t.Errorf("%s %s: %v %+v", op, flaw, verr, v)
		}
		return true
	})
	t.Logf("%d operations, %d faults", count.Ops, count.Faults)
}

// TestCrashesAroundTheHeadCache: no state that a power cut leaves is taken for a lost tail, and
// what was acknowledged is recorded.
func TestCrashesAroundTheHeadCache(t *testing.T) {
	t.Parallel()
	l := newLongRun(t, newFixture(t), 1)
	for range 9 {
		l.attempt(l.tip(), "ok")
	}
	l.process()
	at := l.tip()
	var ack id.Attempt
	var want string
	call := func(f *crashfs.FS) string {
		g := over(storeOn(t, f))
		a, err := g.Rehydrate(context.Background(), at)
		if err != nil {
			t.Error(err)
			return ""
		}
		if ack.IsZero() {
			ack = a.AttemptID
		}
		if a, err = g.Advance(context.Background(), caller(9000), at, ack, note("ok")); err != nil {
			t.Error(err)
			return ""
		}
		g.Flush(context.Background())
		return text(t, a)
	}
	look := crashfs.ExploreOptions{Limit: 16, Cases: sample.OneIn(t, 24)}
	count := crashfs.Explore(l.disk, look, func(f *crashfs.FS) { want = call(f) },
		func(s crashfs.State, done bool) bool {
			g := over(storeOn(t, s.FS))
			v, err := g.VerifySession(context.Background(), l.session.String())
			if err != nil || !v.OK {
				t.Errorf("%s: %v %+v", s.Name, err, v)
				return false
			}
			now, err := g.Locate(context.Background(), engine.Last)
			if err != nil || done && now == at {
				t.Errorf("%s: an acknowledged call is lost, or: %v", s.Name, err)
				return false
			}
			if got := call(s.FS.Reopen()); want != "" && got != want {
				t.Errorf("%s: the same call again answers\n%s\nwant\n%s", s.Name, got, want)
				return false
			}
			return true
		})
	t.Logf("%d operations, %d crash states", count.Ops, count.States)
}

// TestHeadCachesOfOtherFormats: files of an earlier and of a later version beside the cache change no
// answer, are no finding, and are left as they are.
func TestHeadCachesOfOtherFormats(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), newFixture(t)
	l := newLongRun(t, w, 3)
	for range 20 {
		l.attempt(l.tip(), "ok")
	}
	l.process()
	log := manifest.SessionEvents(l.session)
	for name, content := range map[string][]byte{"no cache": []byte("x\n"), "a cache": l.cache()} {
		disk := l.disk.Reopen()
		for _, format := range []int{runs.SavedFormat - 1, runs.SavedFormat + 1} {
			if err := storeOn(t, disk).StoreHead(ctx, log, format, content); err != nil {
				t.Fatal(err)
			}
		}
		if l.answersOver(disk.Reopen()) != l.answersOver(l.disk.Reopen()) {
			t.Errorf("%s: other answers", name)
		}
		g, err := on(disk, 9)
		if err != nil {
			t.Fatal(err)
		}
		last := l.attempts[len(l.attempts)-1]
		if _, err := g.Advance(ctx, caller(9000), last.at, id.NextAttempt(last.at.Node, id.OpAck, 1), note("ok")); err != nil {
			t.Fatal(err)
		}
		g.Flush(ctx)
		for _, format := range []int{runs.SavedFormat - 1, runs.SavedFormat + 1} {
			if b, err := storeOn(t, disk).CachedHead(ctx, log, format, limits.HeadCacheBytesMax); err != nil ||
				!bytes.Equal(b, content) {
				t.Errorf("%s: format %d was changed: %v", name, format, err)
			}
		}
		if v, err := g.Verify(ctx); err != nil || !v.OK {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}
