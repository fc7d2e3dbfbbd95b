package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/idempotency"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	idempotencylog "github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

const day = int64(limits.IdempotencyWindowMs)

func bodyOf(text string) canon.Digest { return canon.Sum([]byte(text)) }

func answerOf(text string) idempotency.Recorded {
	return idempotency.Recorded{Status: 201, Body: set("annotationId", text)}
}

// replayed returns what a keeper answers: the text of the answer, "" for none, or the code of the error.
func replayed(k *idempotency.Keeper, key, body string, nowMs int64) string {
	out, err := k.Replay(context.Background(), key, "POST /x", bodyOf(body), nowMs)
	switch {
	case err != nil:
		return string(fault.CodeOf(err))
	case out == nil:
		return ""
	}
	v, _ := out.Body.Get("annotationId")
	return fmt.Sprint(out.Status, " ", v.Text())
}

func record(t *testing.T, k *idempotency.Keeper, key, body, answer string, nowMs int64) {
	t.Helper()
	must(t, k.Record(context.Background(), key, "POST /x", bodyOf(body), answerOf(answer), nowMs))
}

// TestAnswersAreRepeated: the same request gets the recorded answer for a day, in every process; another request under its
// key is refused, another route and another key are other requests.
func TestAnswersAreRepeated(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(twoSteps)
	k := idempotency.New(w.g.Store)
	if got := replayed(k, "k", "b", 1000); got != "" {
		t.Errorf("nothing was recorded: %q", got)
	}
	record(t, k, "k", "b", "first", 1000)
	record(t, k, "other", "b", "second", 1000)
	record(t, k, "k", "b", "the request was answered already", 2000)
	for name, k := range map[string]*idempotency.Keeper{"same process": k, "new process": idempotency.New(w.process().Store)} {
		for _, c := range []struct {
			key, body string
			at        int64
			want      string
		}{{"k", "b", 1000, "201 first"}, {"k", "b", 1000 + day, "201 first"}, {"k", "b", 1001 + day, ""}, {"k", "b", 0, "201 first"},
			{"other", "b", 1000, "201 second"}, {"k", "c", 1000, "IDEMPOTENCY_MISMATCH"}, {"k", "c", 1001 + day, ""},
			{"third", "b", 1000, ""}, {"", "b", 1000, "VALIDATION_ERROR"}, {strings.Repeat("k", 256), "b", 1000, "VALIDATION_ERROR"}} {
			if got := replayed(k, c.key, c.body, c.at); got != c.want {
				t.Errorf("%s: %.10s %s at %d: %q, want %q", name, c.key, c.body, c.at, got, c.want)
			}
		}
		if out, err := k.Replay(context.Background(), "k", "POST /y", bodyOf("b"), 1000); out != nil || err != nil {
			t.Errorf("%s: another route: %+v, %v", name, out, err)
		}
	}
	if err := k.Record(context.Background(), "k", "POST /x", bodyOf("c"), answerOf("x"), 3000); !fault.Is(err,
		fault.IdempotencyMismatch) {
		t.Error(err)
	}
	// After a day the key is that of another request.
	record(t, k, "k", "c", "third", 2000+day)
	for _, k := range []*idempotency.Keeper{k, idempotency.New(w.process().Store)} {
		if got := replayed(k, "k", "c", 2000+day); got != "201 third" {
			t.Error(got)
		}
	}
	if v, err := w.auditor().Verify(context.Background()); err != nil || !v.OK || len(v.Findings) > 0 {
		t.Errorf("%+v, %v", v.Findings, err)
	}
}

// TestAnswersThatAreNotKept: refusals that the next request need not get, errors of the server and long answers leave no
// record, and no store.
func TestAnswersThatAreNotKept(t *testing.T) {
	t.Parallel()
	disk := memstore.NewDisk(id.Seed{1})
	k := idempotency.New(disk.Open(time.Second))
	long := canon.OfString(strings.Repeat("x", limits.IdempotencyAnswerBytesMax-1))
	deep := canon.OfString("x")
	for range limits.ContextDepthMax + 1 {
		deep = canon.OfList(deep)
	}
	for i, out := range []idempotency.Recorded{{Status: 202}, {Status: 400}, {Status: 401}, {Status: 403}, {Status: 429}, {Status: 500}, {Status: 503},
		{Status: 100}, {Status: 0}, {Status: -1}, {Status: 200, Body: long}, {Status: 200, Body: deep}} {
		key := fmt.Sprint("k", i)
		must(t, k.Record(context.Background(), key, "POST /x", bodyOf("b"), out, 1))
		if got := replayed(k, key, "b", 1); got != "" {
			t.Errorf("%d: %s", out.Status, got)
		}
	}
	if s, err := disk.Open(time.Second).StoreID(context.Background(), ports.ReadOnly); err != nil || !s.IsZero() {
		t.Error("a store was made:", err)
	}
	for i, out := range []idempotency.Recorded{{Status: 200}, {Status: 201, Body: long.With("x", long)}, {Status: 204}, {Status: 404}, {Status: 409},
		{Status: 410}, {Status: 422}, {Status: 200, Body: canon.OfString(long.Text()[1:])}} {
		key := fmt.Sprint("kept", i)
		must(t, k.Record(context.Background(), key, "POST /x", bodyOf("b"), out, 1))
		got, err := k.Replay(context.Background(), key, "POST /x", bodyOf("b"), 1)
		if (err != nil || got == nil || got.Status != out.Status || !got.Body.Equal(out.Body)) && i != 1 {
			t.Errorf("%d: %+v, %v", out.Status, got, err)
		}
	}
}

// TestAnswersHoldNoSecretsAndNoKeys: the log has neither the key nor what redaction finds in an answer or a route.
func TestAnswersHoldNoSecretsAndNoKeys(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	k := idempotency.New(w.g.Store)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	must(t, k.Record(context.Background(), "key-"+secret, "POST /x/"+secret, bodyOf("b"),
		idempotency.Recorded{Status: 200, Body: set("note", "see "+secret)}, 1))
	out, err := k.Replay(context.Background(), "key-"+secret, "POST /x/"+secret, bodyOf("b"), 1)
	must(t, err)
	if note, _ := out.Body.Get("note"); note.Text() != "see [REDACTED:github_token]" {
		t.Error(note.Text())
	}
	must(t, filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			t.Errorf("%s has the secret", path)
		}
		return err
	}))
}

// TestAnswersOfTwoProcesses: each process finds what the other recorded, and of two that record at once the first stays.
func TestAnswersOfTwoProcesses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(twoSteps)
	a, b := idempotency.New(w.process().Store), idempotency.New(w.process().Store)
	for i := range 5 {
		key := fmt.Sprint("k", i)
		record(t, a, key, "b", "of a", int64(i))
		record(t, b, key, "b", "of b", int64(i))
		if err := b.Record(context.Background(), key, "POST /x", bodyOf("c"), answerOf("x"), 1); !fault.Is(err,
			fault.IdempotencyMismatch) {
			t.Error(err)
		}
		for _, k := range []*idempotency.Keeper{a, b} {
			if got := replayed(k, key, "b", 10); got != "201 of a" {
				t.Error(got)
			}
		}
		a, b = b, a
		record(t, a, key+"x", "b", "of a", int64(i))
		if got := replayed(b, key+"x", "b", 10); got != "201 of a" {
			t.Error(got)
		}
		a, b = b, a
	}
}

// countedAnswers counts the events of the log of answers that are read.
type countedAnswers struct {
	enginetest.Store
	events *int
}

func (s countedAnswers) Read(ctx context.Context, r ports.ReadRequest, to ports.NewVisitor) (manifest.Verdict, error) {
	if r.Log.Table.Name != idempotencylog.Table.Name {
		return s.Store.Read(ctx, r, to)
	}
	return s.Store.Read(ctx, r, func(at manifest.Head) ports.Visitor { return countingVisitor{to(at), s.events} })
}

// TestOldAnswersAreNotRead: a process that begins reads the answers of a day, and each request what was appended since; so a
// lookup costs as much after 2,000 answers as after 10. A forged or torn place costs a reading and no more.
func TestOldAnswersAreNotRead(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(twoSteps) // makes the keys of the seal
	k := idempotency.New(w.g.Store)
	hour := day / 24
	for i := range int64(300) {
		record(t, k, fmt.Sprint("k", i), "b", fmt.Sprint("answer ", i), i*hour)
	}
	ask := func(key, want string, most int) {
		t.Helper()
		events := 0
		s, err := openUnsynced(w, w.dir, filestore.Options{LockWait: 5 * time.Second})
		must(t, err)
		defer s.Close()
		k := idempotency.New(countedAnswers{enginetest.Over(s).Store, &events})
		if got := replayed(k, key, "b", 299*hour); got != want || events > most {
			t.Errorf("%s: %q after %d events, want %q after at most %d", key, got, events, want, most)
		}
		events = 0
		if got := replayed(k, key, "b", 299*hour); got != want || events > 1 {
			t.Errorf("%s again: %q after %d events, want %q", key, got, events, want)
		}
	}
	ask("k299", "201 answer 299", 24+saveEachAnswers+2)
	ask("k275", "201 answer 275", 24+saveEachAnswers+2)
	ask("k274", "", 24+saveEachAnswers+2)
	ask("none", "", 24+saveEachAnswers+2)
	name := filepath.Join(w.dir, "cache", "idempotency-1")
	sealed, err := os.ReadFile(name)
	must(t, err)
	for what, text := range map[string][]byte{"torn": sealed[:len(sealed)-9], "empty": nil, "forged": []byte(strings.Repeat("0", 64) +
		string(sealed[64:])), "long": append(sealed, make([]byte, limits.IdempotencyCacheBytesMax)...)} {
		must(t, os.WriteFile(name, text, 0o600))
		ask("k275", "201 answer 275", 302)
		if what == "torn" {
			must(t, os.Remove(name))
			ask("k275", "201 answer 275", 302)
		}
	}
	// A place that another log had.
	must(t, os.WriteFile(name, sealed, 0o600))
	must(t, os.RemoveAll(filepath.Join(w.dir, "idempotency")))
	ask("k275", "", 0)
	record(t, k, "k299", "b", "after it was lost", 299*hour)
	ask("k299", "201 after it was lost", 2)
}

// saveEachAnswers is how many records become old before the place is saved again.
const saveEachAnswers = 64

// TestDamagedLogOfAnswers: it is not known whether a request was answered, so none is carried out, until a repair.
func TestDamagedLogOfAnswers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(twoSteps)
	k := idempotency.New(w.g.Store)
	for i := range 3 {
		record(t, k, fmt.Sprint("k", i), "b", "x", 1)
	}
	must(t, os.WriteFile(filepath.Join(w.dir, "idempotency/events/00000001-00000001.jsonl"), []byte("{}\n"), 0o600))
	fresh := idempotency.New(w.process().Store)
	if got := replayed(fresh, "k0", "b", 1); got != "SESSION_UNHEALTHY" {
		t.Error(got)
	}
	if err := fresh.Record(context.Background(), "new", "POST /x", bodyOf("b"), answerOf("x"), 1); !fault.Is(err,
		fault.SessionUnhealthy) || !strings.Contains(fault.Of(err).Suggestion.String(), "waybill repair") {
		t.Error(err)
	}
	if v, err := w.auditor().Verify(context.Background()); err != nil || v.OK {
		t.Error("the verification finds nothing:", err)
	}
}

// TestExploreCrashesOfAnswers: in every state that a power cut leaves, an answer that was recorded is returned, one that was
// not recorded completely is not, and the log takes further ones.
func TestExploreCrashesOfAnswers(t *testing.T) {
	t.Parallel()
	base := crashfs.New()
	g, err := on(base, 1)
	must(t, err)
	record(t, idempotency.New(g.Store), "earlier", "b", "earlier", 1)
	base = base.Reopen()
	keeper := func(f *crashfs.FS, seed byte) *idempotency.Keeper {
		g, err := on(f, seed)
		must(t, err)
		return idempotency.New(g.Store)
	}
	look := crashfs.ExploreOptions{Limit: sideLimit, Cases: sample.OneIn(t, 20)}
	count := crashfs.Explore(base, look, func(f *crashfs.FS) {
		record(t, keeper(f, 2), "k", "b", "answer", 1)
	}, func(s crashfs.State, done bool) bool {
		k := keeper(s.FS.Reopen(), 3)
		got := replayed(k, "k", "b", 1)
		ok := replayed(k, "earlier", "b", 1) == "201 earlier" && (got == "201 answer" || got == "" && !done)
		record(t, k, "k", "b", "answer", 1)
		if ok = ok && replayed(k, "k", "b", 1) == "201 answer"; !ok {
			t.Errorf("in the state %s: %q", s.Name, got)
		}
		return ok
	})
	t.Logf("%d operations, %d crash states", count.Ops, count.States)
}

// TestCleanupOfOldAnswers: the log of answers is removed as a whole once all of them are too old, and not before; a process that
// had read it begins a new one.
func TestCleanupOfOldAnswers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(twoSteps)
	ctx := context.Background()
	k := idempotency.New(w.g.Store)
	at := w.clock
	record(t, k, "young", "b", "young", at+day)
	record(t, k, "old", "b", "old", at) // by a clock that was set back
	clean := func(atMs int64) upkeep.GCReport {
		t.Helper()
		by := w.person("ada")
		by.AtMs = atMs
		r, err := w.auditor().GC(ctx, by, upkeep.GCRequest{Apply: true})
		if err != nil || !r.Applied || len(r.Skipped) > 0 {
			t.Fatal(err, r)
		}
		return r
	}
	if r := clean(at + 2*day); len(r.Logs) > 0 {
		t.Errorf("%+v", r.Logs)
	}
	if got := replayed(k, "young", "b", at+2*day); got != "201 young" {
		t.Error(got)
	}
	if r := clean(at + 2*day + 1); len(r.Logs) != 1 || r.Logs[0].Path != "idempotency" || r.Logs[0].Events != 2 || r.Logs[0].Bytes == 0 ||
		r.FreedBytes < r.Logs[0].Bytes {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "idempotency")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if r := clean(at + 2*day + 1); len(r.Logs) > 0 {
		t.Errorf("%+v", r.Logs)
	}
	for name, k := range map[string]*idempotency.Keeper{"same": k, "new": idempotency.New(w.process().Store)} {
		record(t, k, name, "b", name, at+3*day)
		if got := replayed(k, "young", "b", at+2*day) + replayed(k, name, "b", at+3*day); got != "201 "+name {
			t.Errorf("%s process: %s", name, got)
		}
	}
	if v, err := w.auditor().Verify(ctx); err != nil || !v.OK || len(v.Findings) > 0 {
		t.Errorf("%+v, %v", v.Findings, err)
	}
}

// TestCleanupKeepsAnswersInUse: the log of answers stays where a writer holds it, where it has a file that no log has, and
// where a record is of a kind that this version does not know.
func TestCleanupKeepsAnswersInUse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fixture) (undo func()){
		"held": func(w *fixture) func() {
			unlock, err := w.process().Store.Lock(context.Background(), answersLog(w))
			must(w.T, err)
			return func() { _ = unlock() }
		},
		"a stray file": func(w *fixture) func() {
			name := filepath.Join(w.dir, "idempotency", "events", "notes.txt")
			must(w.T, os.WriteFile(name, nil, 0o600))
			return func() { _ = os.Remove(name) }
		},
		"appended to": func(w *fixture) func() {
			record(w.T, idempotency.New(w.process().Store), "young", "b", "x", w.clock+10*day)
			return func() {}
		},
	} {
		w := newFixture(t)
		w.start(twoSteps)
		record(t, idempotency.New(w.g.Store), "old", "b", "old", w.clock)
		undo := change(w)
		by := w.person("ada")
		by.AtMs += 2 * day
		r, err := w.auditor().GC(context.Background(), by, upkeep.GCRequest{Apply: true})
		if err != nil || len(r.Logs) > 0 || len(r.Skipped) != map[string]int{"appended to": 0}[name]+map[bool]int{true: 1}[name != "appended to"] {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		undo()
		if got := replayed(idempotency.New(w.process().Store), "old", "b", w.clock); got != "201 old" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func answersLog(w *fixture) manifest.Log {
	store, err := w.g.Store.StoreID(context.Background(), ports.ReadOnly)
	must(w.T, err)
	return idempotencylog.LogOf(store)
}

// TestExploreCrashesOfCleanedAnswers: in every state that a power cut leaves of a cleanup, the log of answers is the old one or
// none, and takes further answers.
func TestExploreCrashesOfCleanedAnswers(t *testing.T) {
	t.Parallel()
	base := crashfs.New()
	g, err := on(base, 1)
	must(t, err)
	_, err = startCall(newFixture(t).compiled(twoSteps))(g)
	must(t, err)
	record(t, idempotency.New(g.Store), "old", "b", "old", 1)
	base = base.Reopen()
	look := crashfs.ExploreOptions{Limit: sideLimit, Cases: sample.OneIn(t, 20)}
	count := crashfs.Explore(base, look, func(f *crashfs.FS) {
		g, err := on(f, 2)
		must(t, err)
		r, err := g.GC(context.Background(), caller(2*day), upkeep.GCRequest{Apply: true})
		must(t, err)
		if len(r.Logs) != 1 {
			t.Fatalf("%+v", r)
		}
	}, func(s crashfs.State, done bool) bool {
		g, err := on(s.FS.Reopen(), 3)
		must(t, err)
		k := idempotency.New(g.Store)
		got := replayed(k, "old", "b", 1)
		ok := got == "201 old" || got == ""
		record(t, k, "new", "b", "new", 2*day)
		v, err := g.Verify(context.Background())
		if ok = ok && err == nil && v.OK && replayed(k, "new", "b", 2*day) == "201 new"; !ok {
			t.Errorf("in the state %s: %q, %v, %+v", s.Name, got, err, v.Findings)
		}
		return ok
	})
	t.Logf("%d operations, %d crash states", count.Ops, count.States)
}

// TestAnAnswerIsDurableBeforeItIsRepeated: a process dies between writing its record and syncing it. What the next process
// answers from it survives a power cut.
func TestAnAnswerIsDurableBeforeItIsRepeated(t *testing.T) {
	t.Parallel()
	base := crashfs.New()
	g, err := on(base, 1)
	must(t, err)
	record(t, idempotency.New(g.Store), "earlier", "b", "earlier", 1)
	base = base.Reopen()
	run := func(f *crashfs.FS) {
		g, err := on(f, 2)
		must(t, err)
		_ = idempotency.New(g.Store).Record(context.Background(), "k", "POST /x", bodyOf("b"), answerOf("answer"), 1)
	}
	last := -1
	learn := base.Reopen()
	learn.Before = func(op crashfs.Op) {
		if op.Action == "sync" && strings.HasSuffix(op.Name, manifest.FileName) {
			last = op.N
		}
	}
	run(learn)
	dying := base.Reopen()
	dying.Fault = &crashfs.Fault{At: last}
	run(dying)
	ask := func(f *crashfs.FS, seed byte) string {
		g, err := on(f, seed)
		must(t, err)
		return replayed(idempotency.New(g.Store), "k", "b", 1)
	}
	left := dying.Reopen()
	if got := ask(left.Reopen(), 3); got != "201 answer" {
		t.Fatalf("the dying process did not get as far as the test needs: %q", got)
	}
	look := crashfs.ExploreOptions{Limit: sideLimit, Cases: sample.OneIn(t, 2)}
	count := crashfs.Explore(left, look, func(f *crashfs.FS) { ask(f, 4) }, func(s crashfs.State, done bool) bool {
		got := ask(s.FS.Reopen(), 5)
		if done && got != "201 answer" {
			t.Errorf("in the state %s: %q", s.Name, got)
			return false
		}
		return true
	})
	t.Logf("%d operations, %d crash states", count.Ops, count.States)
}
