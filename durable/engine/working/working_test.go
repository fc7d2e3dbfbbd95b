package working_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/unattended"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/engine/working"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/infra/sessiontimes"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/adapters"
	"github.com/waybill/waybill/ports/porttest/big"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// handle is one process on a store: adapters.WorkStore.
type handle struct {
	ports.Work
	ports.Performers
}

// parts are the parts of the engine over a handle, and how runs of it are performed.
type parts struct {
	t    testing.TB
	e    *engine.Engine
	logs ports.Logs
}

// over returns the work of a store, which keeps an index in states.
func over(s interface {
	engine.Store
	ports.UnknownEntries
	ports.SessionControls
	Performers() ports.Performers
}, states ports.SessionStates, onRead func(read, of int)) (*engine.Engine, *working.Work) {
	e := engine.New(s)
	here := views.Here{Imported: e.Ledger().ImportedOfLog, Approval: e.PendingApprovalAt, HandedOver: e.Ledger().IsHandedOver}
	finder := unattended.New(e.Reader, s, here)
	l := lists.New(e.Reader, s, views.New(e.Reader, s, here))
	l.FindPending(finder.PendingOf)
	if states != nil {
		x := index.New(states, s)
		if onRead != nil {
			x.OnRead(onRead)
		}
		l.KeepIn(x, s)
		e.Index = x
	}
	return e, working.New(l, finder, s.Performers(), rand.Uint64())
}

// steps are the last steps of the workflows.
var steps = map[adapters.WorkPending]string{
	adapters.PendingCommand: `{id: c, title: C, action: {kind: command, argv: [deploy]}}`,
	adapters.PendingWait:    `{id: w, title: W, action: {kind: wait, until: "{{at}}"}}`,
	adapters.PendingPerson:  `{id: p, title: P, prompt: p}`,
}

// start starts a run of which something is pending.
func (p parts) start(pending adapters.WorkPending, atMs int64, tags ...string) adapters.WorkRun {
	p.t.Helper()
	_, w, problems := compile.File("test.yaml", source.SourceProject,
		[]byte(`{id: test.w, name: W, description: d, version: 1.0.0, steps: [`+steps[pending]+`]}`))
	if source.HasErrors(problems) {
		p.t.Fatal(problems)
	}
	seed := id.Seed{byte(rand.Uint32()), byte(rand.Uint32()), byte(rand.Uint32()), byte(rand.Uint32())}
	at := time.UnixMilli(atMs).UTC().Format("2006-01-02T15:04:05.000Z")
	a, err := p.e.Start(context.Background(), human, seed, engine.Start{Workflow: w, SourceKind: event.SourceProject,
		SourceRef: "test.yaml", Tags: tags, Context: canon.OfMembers(canon.Member{Name: "at", Value: canon.OfString(at)})})
	if err != nil {
		p.t.Fatal(err)
	}
	return adapters.WorkRun{Session: a.Position().Session, Run: a.Position().Run, Workflow: w.Hash()}
}

var human = engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 1}

// advance records a checkpoint.
func (p parts) advance(r adapters.WorkRun) {
	p.t.Helper()
	at := engine.Position{Session: r.Session, Run: r.Run, Node: id.RootNode(r.Run)}
	a, err := p.e.Rehydrate(context.Background(), at)
	if err == nil {
		_, err = p.e.CheckpointAt(context.Background(), human, at, a.CheckpointID, advance.Request{Notes: "n"})
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// finish performs a run to its end. The caller is its performer.
func (p parts) finish(r adapters.WorkRun) {
	p.t.Helper()
	line := func(id.Run, ...string) fault.Command { return nil }
	performer := &perform.Performer{Engine: p.e, Logs: p.logs, Commands: done{}, Person: noPerson{}, Performers: free{},
		Display: perform.NoDisplay{}, By: human, NowMs: func() int64 { return 1_000_000 },
		Trusted:       func(context.Context, canon.Digest) (trust.Fixed, bool, error) { return trust.Fixed{}, true, nil },
		TrustedBefore: func(context.Context, canon.Digest) (bool, error) { return true, nil },
		Pause:         func(ctx context.Context, _ int64) error { <-ctx.Done(); return ctx.Err() },
		OfStore:       func(c fault.Command) fault.Command { return c }, ContinueLine: line, SubmitLine: line, ApproveLine: line}
	if _, err := performer.Perform(context.Background(), r.Session, r.Run, perform.Options{NoWait: true}); err != nil {
		p.t.Error(err)
	}
}

// done are commands that succeed at once.
type done struct{}

func (done) Try(context.Context, ports.Command) (ports.CommandOutcome, error) {
	return ports.CommandOutcome{OutputDigest: canon.Sum(nil)}, nil
}

// noPerson is a person who is not present.
type noPerson struct{ ports.Person }

func (noPerson) Present() bool    { return false }
func (noPerson) CanConsent() bool { return false }

// free are performers that hold each session: the test is its performer already.
type free struct{}

func (free) Hold(context.Context, id.Session) (ports.Lease, error) {
	return ports.Lease{Release: func() error { return nil }}, nil
}

// setup is a adapters.WorkSetup over the handles that open returns.
func setup(t testing.TB, open func() (*engine.Engine, handle, ports.Logs)) adapters.WorkSetup {
	e, _, logs := open()
	p := parts{t, e, logs}
	return adapters.WorkSetup{Open: func() adapters.WorkStore {
		_, h, _ := open()
		return h
	}, Start: p.start, Advance: p.advance, Finish: p.finish}
}

// TestWorkInMemory is the conformance suite over a store in memory, whose sessions are read for each list.
func TestWorkInMemory(t *testing.T) {
	adapters.Work(t, func(t testing.TB) adapters.WorkSetup {
		disk := memstore.NewDisk(id.Seed{9})
		return setup(t, func() (*engine.Engine, handle, ports.Logs) {
			s := disk.Open(10 * time.Second)
			e, w := over(inMemory{s}, nil, nil)
			return e, handle{w, s.Performers()}, s
		})
	})
}

// inMemory is a store in memory, which has no entries that are unknown.
type inMemory struct{ *memstore.Store }

func (inMemory) UnknownEntries(context.Context) ([]string, error) { return nil, nil }

// onDisk opens a store in a directory, with an index.
func onDisk(t testing.TB, dir string, onRead func(read, of int)) (*engine.Engine, *working.Work, *filestore.Store) {
	t.Helper()
	s, err := filestore.OpenDir(dir, filestore.Options{LockWait: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	e, w := over(s, sessiontimes.New(dir), onRead)
	return e, w, s
}

// TestWorkOnFiles is the conformance suite over a store of files with an index.
func TestWorkOnFiles(t *testing.T) {
	adapters.Work(t, func(t testing.TB) adapters.WorkSetup {
		dir := t.TempDir() + "/store"
		return setup(t, func() (*engine.Engine, handle, ports.Logs) {
			e, w, s := onDisk(t, dir, nil)
			return e, handle{w, s.Performers()}, s
		})
	})
}

// TestIdleWorkReadsNothing: of a store whose sessions do not change, only those are read again that changed shortly before they were
// read, and those once.
func TestIdleWorkReadsNothing(t *testing.T) {
	sessions := 200
	if sample.Exhaustive() {
		sessions = 10_000
	}
	dir := t.TempDir() + "/store"
	if err := big.WriteMany(dir, sessions, 1); err != nil {
		t.Fatal(err)
	}
	reads := 0
	e, w, s := onDisk(t, dir, func(int, int) { reads++ })
	claimed := func() ports.Claim {
		c, err := w.Claim(context.Background(), ports.WorkQuery{NowMs: 1})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if claimed(); reads < sessions {
		t.Fatalf("%d sessions were read of %d", reads, sessions)
	}
	time.Sleep(2100 * time.Millisecond) // limits.IndexSettleNs
	claimed()                           // those that had just changed
	reads = 0
	for range 10 {
		claimed()
	}
	if reads > 0 {
		t.Errorf("%d sessions were read by an idle worker", reads)
	}
	r := parts{t, e, s}.start(adapters.PendingCommand, 0)
	if c := claimed(); c.Run != r.Run || reads != 1 {
		t.Errorf("%+v, %d sessions were read for one that was started", c, reads)
	}
	time.Sleep(2100 * time.Millisecond)
	for range 10 {
		claimed() // the file is not written for one session
	}
	if reads != 2 {
		t.Errorf("%d sessions were read for one that had just changed", reads)
	}
}
