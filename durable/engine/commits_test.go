package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/commits"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/trailer"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// hints are file times as a test wants them.
type hints []ports.SessionTime

// LatestFirst implements ports.SessionTimes.
func (h hints) LatestFirst(context.Context) ([]ports.SessionTime, error) { return h, nil }

// rootOf is the digest of the path of a repository.
func rootOf(name string) string { return canon.Sum([]byte(name)).String() }

// startIn begins a run in a repository.
func (w *fixture) startIn(root, source string) engine.Answer {
	w.Helper()
	w.seeds++
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{w.seeds}, engine.Start{Workflow: w.compiled(source),
		SourceKind: event.SourceProject, SourceRef: "test.json", Observations: []event.ObservationRecorded{{Key: "repo_root_hash",
			Confidence: "high", Value: event.ObservationValue{Type: "sha256", Value: rootOf(root)}}}})
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// commits are those of another process that waits for no lock. Without times, the sessions are in the order of their ids,
// and all of them changed just now.
func (w *fixture) commits(times hints) commits.Commits {
	w.Helper()
	s, err := openUnsynced(w, w.dir, filestore.Options{})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Close() })
	g := over(s)
	if times == nil {
		all, err := s.Sessions(context.Background())
		if err != nil {
			w.Fatal(err)
		}
		for _, x := range all {
			times = append(times, ports.SessionTime{Session: x, ChangedMs: w.clock})
		}
	}
	return commits.New(g.Reader, s, g.Views, g.Ledger().ImportedOfLog, times)
}

func always() bool { return true }

// current is the trailer's run in a repository, or the reason why there is none.
func (w *fixture) current(root string, times hints) commits.Current {
	w.Helper()
	got, err := w.commits(times).Current(context.Background(), commits.Search{Root: rootOf(root), More: always})
	if err != nil {
		w.Fatal(err)
	}
	return got
}

// head is the head of an answer's session, as a verification shows it.
func (w *fixture) head(a engine.Answer) canon.Digest {
	w.Helper()
	v, err := w.process().Verify(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	for _, s := range v.Sessions {
		if s.SessionID == a.Session.SessionID {
			return s.Head.Digest
		}
	}
	w.Fatalf("no session %s", a.Session.SessionID)
	return canon.Digest{}
}

// TestTrailerOfTheOpenRun: the latest open run of the repository, at the head that a verification shows.
func TestTrailerOfTheOpenRun(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	none := func(root, reason string) {
		t.Helper()
		if got := w.current(root, nil); got.Trailer != "" || !got.RunID.IsZero() || !strings.Contains(got.Reason, reason) {
			t.Errorf("%s: %+v, want the reason %q", root, got, reason)
		}
	}
	is := func(a engine.Answer, step string) {
		t.Helper()
		got := w.current("here", nil)
		want := trailer.Trailer{Run: a.Session.RunID, Head: w.head(a)}
		if got.Trailer != want.String() || got.RunID != want.Run || got.Head != want.Head || got.StepID != step ||
			got.SessionID != a.Session.SessionID || got.Title == "" || got.Reason != "" {
			t.Errorf("%+v, want %v at step %s", got, want, step)
		}
	}
	none("here", "no run")
	w.start(twoSteps) // in no repository
	w.startIn("there", twoSteps)
	none("here", "no run")
	first := w.startIn("here", twoSteps)
	is(first, "first")
	second := w.startIn("here", longOne)
	w.startIn("there", longOne)
	is(second, "s0")
	first = w.must(first, note("done"))
	is(first, "second")
	w.must(first, note("complete"))
	is(second, "s0")
	if _, err := w.g.Cancel(context.Background(), w.by(), &performerStub{held: true}, second.Position(), engine.CancelRequest{Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	none("here", "no run") // a performer will close it
	if got, err := w.commits(nil).Current(context.Background(), commits.Search{More: always}); err != nil || !strings.Contains(got.Reason, "no git repository") {
		t.Errorf("%+v, %v", got, err)
	}
	// A run that is named may be complete, and of any repository.
	for ref, a := range map[string]engine.Answer{first.Session.RunID.String(): first, second.Session.RunID.String()[4:14]: second} {
		got, err := w.commits(nil).Of(context.Background(), ref)
		if err != nil || got.RunID != a.Session.RunID || got.Head != w.head(a) {
			t.Errorf("%s: %+v, %v", ref, got, err)
		}
	}
	if _, err := w.commits(nil).Of(context.Background(), "run_1"); !fault.Is(err, fault.RunNotFound) {
		t.Error(err)
	}
}

// TestTrailerFollowsFileTimes: file times decide what is read, and the search ends once nothing later can follow, or when
// the time is over.
func TestTrailerFollowsFileTimes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	old := w.startIn("here", twoSteps)
	oldAt := w.clock
	w.clock += 100_000
	latest := w.startIn("here", twoSteps)
	at := func(a engine.Answer, ms int64) ports.SessionTime {
		return ports.SessionTime{Session: a.Session.SessionID, ChangedMs: ms}
	}
	is := func(a engine.Answer, times ...ports.SessionTime) {
		t.Helper()
		if got := w.current("here", times); got.RunID != a.Session.RunID {
			t.Errorf("%v: %+v, want %s", times, got, a.Session.RunID)
		}
	}
	is(latest, at(latest, w.clock), at(old, oldAt))
	is(latest, at(old, w.clock), at(latest, w.clock)) // as after a copy of the store
	is(old, at(old, oldAt), at(latest, oldAt-10_000)) // the second file is older than the first run: it is not read
	for more, want := range map[bool]engine.Answer{true: latest, false: old} {
		got, err := w.commits(hints{at(old, w.clock), at(latest, w.clock)}).Current(context.Background(),
			commits.Search{Root: rootOf("here"), More: func() bool { return more }})
		if err != nil || got.RunID != want.Session.RunID {
			t.Errorf("%v: %+v, %v", more, got, err)
		}
	}
	got, err := w.commits(hints{at(old, w.clock), at(latest, w.clock)}).Current(context.Background(),
		commits.Search{Root: rootOf("there"), More: func() bool { return false }})
	if err != nil || !strings.Contains(got.Reason, "time") {
		t.Errorf("%+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := w.commits(nil).Current(ctx, commits.Search{Root: rootOf("here"), More: always}); err == nil {
		t.Errorf("cancelled: %+v", got)
	}
}

// TestTrailerWaitsForNoLock: a session that looks damaged while it is locked ends the search at once, without the name of
// another run. One that is damaged is left out.
func TestTrailerWaitsForNoLock(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := w.startIn("here", twoSteps)
	damaged := w.startIn("here", twoSteps)
	file := filepath.Join(w.dir, "sessions", damaged.Session.SessionID.String(), "manifest.jsonl")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	must(t, os.WriteFile(file, data, 0o600))
	times := hints{{Session: damaged.Session.SessionID, ChangedMs: w.clock}, {Session: other.Session.SessionID, ChangedMs: w.clock}}
	s, err := openUnsynced(w, w.dir, filestore.Options{LockWait: 5 * time.Second})
	must(t, err)
	unlock, err := s.Lock(context.Background(), manifest.SessionEvents(damaged.Session.SessionID))
	must(t, err)
	began := time.Now()
	if got := w.current("here", times); got.Trailer != "" || !strings.Contains(got.Reason, "locked") || time.Since(began) > 4*time.Second {
		t.Errorf("%+v after %v", got, time.Since(began))
	}
	must(t, unlock())
	if got := w.current("here", times); got.RunID != other.Session.RunID {
		t.Errorf("%+v", got)
	}
	if _, err := w.commits(nil).Of(context.Background(), damaged.Session.RunID.String()); err == nil {
		t.Error("a damaged run has a trailer")
	}
}

// TestTrailerOfImportedRuns: an imported run is left out until it is continued here, since any program can write a bundle.
func TestTrailerOfImportedRuns(t *testing.T) {
	t.Parallel()
	from := newFixture(t)
	there := from.startIn("here", twoSteps)
	w := newFixture(t)
	w.clock += 1_000_000
	take(t, w.g, export(t, from.g, there.Session.SessionID, 1), false)
	if got := w.current("here", nil); got.Trailer != "" {
		t.Fatalf("%+v", got)
	}
	at := there.Position()
	a, err := w.g.Rehydrate(context.Background(), at)
	must(t, err)
	w.must(a, note("done"))
	if got := w.current("here", nil); got.RunID != there.Session.RunID || got.StepID != "second" {
		t.Errorf("%+v", got)
	}
}

// whoIn answers for commits with the given messages.
func (w *fixture) who(messages ...string) commits.Who {
	w.Helper()
	var all []commits.Message
	for i, m := range messages {
		all = append(all, commits.Message{Commit: fmt.Sprintf("%040d", i), Text: m})
	}
	out, err := w.commits(nil).Who(context.Background(), all)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// TestWhoNamesTheStepAtEachHead: for every head that the log had, the step that was pending then.
func TestWhoNamesTheStepAtEachHead(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.startIn("here", longOne)
	var messages, want []string
	for {
		messages = append(messages, "Commit\n\n"+trailer.Trailer{Run: a.Session.RunID, Head: w.head(a)}.String()+"\n")
		if a.Pending == nil {
			want = append(want, "")
			break
		}
		want = append(want, a.Pending.StepID)
		a = w.must(a, note("n"))
	}
	got := w.who(messages...)
	if len(got.Runs) != len(want) || len(want) != 13 {
		t.Fatalf("%d runs, want %d", len(got.Runs), len(want))
	}
	for i, r := range got.Runs {
		if r.StepID != want[i] || r.StepInstanceKey != want[i] || !r.HeadKnown || !r.InStore || r.Status != runs.CompleteStatus || r.Title != "Long" ||
			r.WorkflowID != "test.long" || r.Commit != got.Commits[i].Commit || r.Unreadable != "" || r.Decisions == nil || r.SessionID != a.Session.SessionID {
			t.Errorf("%d: %+v, want step %q", i, r, want[i])
		}
	}
	// One message with all of them, as after a squash: each is a row, and the log is read once.
	joined := w.who(strings.Join(messages, "\n"))
	if len(joined.Runs) != 13 || joined.Runs[3].StepID != "s3" || joined.Commits[0].Trailers != 13 || joined.Commits[0].Subject != "Commit" {
		t.Errorf("%+v", joined.Commits)
	}
}

// TestWhoShowsDecisions: the decisions until now, also those after the commit; a run that was denied has no pending step at
// the heads after that.
func TestWhoShowsDecisions(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.startIn("here", approving)
	a = w.must(a, advance.Request{Notes: "the plan"})
	before := trailer.Trailer{Run: a.Session.RunID, Head: w.head(a)}
	w.mustApprove(a, "fine\x1b[2J")
	details, err := w.process().Run(context.Background(), a.Session.RunID.String())
	must(t, err)
	got := w.who("x\n\n" + before.String())
	if len(got.Runs) != 1 || len(got.Runs[0].Decisions) != 1 || asJSON(t, got.Runs[0].Decisions) != asJSON(t, details.Decisions) ||
		got.Runs[0].StepID != "plan" || got.Runs[0].Decisions[0].Reason != "fine\x1b[2J" {
		t.Errorf("%+v", got.Runs)
	}
	_, err = w.g.Cancel(context.Background(), w.by(), &performerStub{}, a.Position(), engine.CancelRequest{Reason: "r"})
	must(t, err)
	closed := trailer.Trailer{Run: a.Session.RunID, Head: w.head(a)}
	got = w.who("x\n\n" + closed.String() + "\n" + before.String())
	if len(got.Runs) != 2 || got.Runs[0].StepID != "" || !got.Runs[0].HeadKnown || got.Runs[0].Status != runs.Cancelled || got.Runs[1].StepID != "plan" {
		t.Errorf("%+v", got.Runs)
	}
}

// TestWhoDoesNotKnow: runs of other stores, heads of other logs, malformed and too many trailers.
func TestWhoDoesNotKnow(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a, b := w.startIn("here", twoSteps), w.startIn("here", longOne)
	foreign := trailer.Trailer{Run: id.NewRun(id.Seed{99}), Head: w.head(a)}
	otherLog := trailer.Trailer{Run: a.Session.RunID, Head: w.head(b)}
	got := w.who("\xff subject\n\n"+foreign.String()+"\nWaybill-Run: run_x sha256:y\n", "no trailer", otherLog.String(), "")
	want := []commits.NamingCommit{{Commit: got.Commits[0].Commit, Subject: "\ufffd subject", Trailers: 1, Malformed: 1},
		{Commit: got.Commits[1].Commit, Subject: "no trailer"}, {Commit: got.Commits[2].Commit, Subject: otherLog.String(), Trailers: 1},
		{Commit: got.Commits[3].Commit}}
	if !slices.Equal(got.Commits, want) {
		t.Errorf("%+v", got.Commits)
	}
	if r := got.Runs[0]; r.InStore || r.HeadKnown || r.RunID != foreign.Run || !r.SessionID.IsZero() || r.Status != "" || r.Decisions == nil {
		t.Errorf("%+v", r)
	}
	if r := got.Runs[1]; !r.InStore || r.HeadKnown || r.StepID != "" || r.Title != "Two steps" || r.Status != runs.InProgress {
		t.Errorf("%+v", r)
	}
	// Many trailers of one commit, and of many commits.
	many := func(from int) (out string) {
		for n := range 1000 {
			out += trailer.Trailer{Run: id.NewRun(id.Seed{byte(n), byte(n >> 8), byte(from)}), Head: w.head(a)}.String() + "\n"
		}
		return out + trailer.Trailer{Run: a.Session.RunID, Head: w.head(a)}.String()
	}
	forged := many(1)
	got = w.who(forged)
	last := got.Runs[len(got.Runs)-1]
	if len(got.Runs) != limits.CommitTrailersMax || got.Commits[0].Omitted != 1001-limits.CommitTrailersMax || !last.InStore || last.StepID != "first" {
		t.Errorf("%d runs, %+v, the last %+v", len(got.Runs), got.Commits, last)
	}
	var all []string
	for n := range 6 {
		all = append(all, forged[:len(forged)-n])
	}
	if got = w.who(all...); len(got.Runs) != limits.CommitRunsMax || got.Omitted == 0 {
		t.Errorf("%d runs, %d omitted", len(got.Runs), got.Omitted)
	}
}

// TestWhoOfDamagedSessions: a head in front of the damage is known, a run whose session cannot be read is not found, and
// says how many sessions could not be read.
func TestWhoOfDamagedSessions(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.startIn("here", twoSteps)
	before := trailer.Trailer{Run: a.Session.RunID, Head: w.head(a)}
	w.must(a, note("done"))
	lost := trailer.Trailer{Run: a.Session.RunID, Head: w.head(a)}
	file := filepath.Join(w.dir, "sessions", a.Session.SessionID.String(), "manifest.jsonl")
	damage := func(at func([]byte) int) {
		t.Helper()
		data, err := os.ReadFile(file)
		must(t, err)
		data[at(data)] ^= 1
		must(t, os.WriteFile(file, data, 0o600))
	}
	damage(func(b []byte) int { return len(b) - 30 })
	got := w.who(before.String() + "\n" + lost.String())
	if len(got.Runs) != 2 || !got.Runs[0].HeadKnown || got.Runs[0].StepID != "first" || got.Runs[1].HeadKnown || got.Unreadable != 0 {
		t.Errorf("%+v", got)
	}
	damage(func([]byte) int { return 20 })
	if got = w.who(before.String()); len(got.Runs) != 1 || got.Runs[0].InStore || got.Unreadable != 1 {
		t.Errorf("%+v", got)
	}
}
