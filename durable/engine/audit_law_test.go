package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	auditview "github.com/waybill/waybill/projections/audit"
)

// auditSimulation is a store with random decisions, some of them by processes that die before the line is
// written, while its cache appears, disappears and is tampered with.
type auditSimulation struct {
	*rapid.T
	dir   string
	clock int64
	facts int
	acts  int
	open  []engine.Position // runs that have not ended yet
	old   [][]byte          // what was found in the cache
}

func (p *auditSimulation) engine(keeps bool) *enginetest.Engine {
	s, err := openUnsynced(p, p.dir, filestore.Options{LockWait: 5 * time.Second})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = s.Close() })
	if keeps {
		return audited(s)
	}
	return unaudited(over(s))
}

func (p *auditSimulation) by() engine.Caller {
	p.clock++
	return engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: p.clock}
}

func (p *auditSimulation) start(w *fixture, keeps bool) {
	begin := engine.Start{Workflow: w.compiled(twoSteps), SourceKind: "project", SourceRef: "x"}
	if rapid.Bool().Draw(p.T, "never stops") {
		begin.Preferences = []event.PreferenceChange{{Key: "autonomy", Value: string(event.FullAutoNeverStop)}}
		p.facts++
	}
	a, err := p.engine(keeps).Start(context.Background(), p.by(), id.Seed{byte(p.clock), byte(p.clock >> 8)}, begin)
	if err != nil {
		p.Fatal(err)
	}
	p.open = append(p.open, a.Position())
}

func (p *auditSimulation) cancel(keeps bool) {
	if len(p.open) == 0 {
		return
	}
	at := p.open[0]
	p.open = p.open[1:]
	if _, err := p.engine(keeps).
		Cancel(context.Background(), p.by(), &performerStub{}, at, engine.CancelRequest{Reason: "r"}); err != nil {
		p.Fatal(err)
	}
	p.facts++
}

func (p *auditSimulation) act() {
	if err := p.engine(true).Ledger().Act(context.Background(), p.by(), ofStore(audit.GC), nothing); err != nil {
		p.Fatal(err)
	}
	p.acts++
}

// tamperWithCache changes the cache in a way that may happen to a file without a digest of its own.
func (p *auditSimulation) tamperWithCache() {
	name := filepath.Join(p.dir, fmt.Sprintf("cache/audit-%d", auditview.LedgerFormat))
	b, _ := os.ReadFile(name)
	if b != nil {
		p.old = append(p.old, b)
	}
	switch rapid.IntRange(0, 4).Draw(p.T, "meddle") {
	case 0:
		_ = os.RemoveAll(filepath.Dir(name))
	case 1:
		if len(p.old) > 0 {
			b = rapid.SampledFrom(p.old).Draw(p.T, "old")
			_ = os.WriteFile(name, b, 0o600)
		}
	case 2:
		if len(b) > 0 {
			b = bytes.Clone(b)
			b[rapid.IntRange(0, len(b)-1).Draw(p.T, "byte")] ^= 1
			_ = os.WriteFile(name, b, 0o600)
		}
	case 3:
		_ = os.WriteFile(name, b[:len(b)/2], 0o600)
	case 4:
		_ = os.WriteFile(name, bytes.Repeat(b, 2), 0o600)
	}
}

// TestCompletionIsIdempotent: in any order and by any process, the audit log is
// completed, after any number of calls that died before their line, and with any content of the
// cache: in the end every fact has one line, and nothing else has one.
func TestCompletionIsIdempotent(t *testing.T) {
	w := &fixture{T: t}
	n := 0
	fewWalks(t)
	rapid.Check(t, func(rt *rapid.T) {
		n++
		p := &auditSimulation{T: rt, dir: filepath.Join(t.TempDir(), fmt.Sprint(n))}
		p.start(w, true)
		for range rapid.IntRange(1, 12).Draw(rt, "moves") {
			keeps := rapid.Bool().Draw(rt, "keeps")
			switch rapid.IntRange(0, 4).Draw(rt, "move") {
			case 0:
				p.start(w, keeps)
			case 1, 2:
				p.cancel(keeps)
			case 3:
				p.act()
			case 4:
				p.tamperWithCache()
			}
			// A reader sees all of it at any moment, independent of what is written and kept.
			p.look(false)
		}
		p.act()
		p.look(true)
	})
}

func (p *auditSimulation) look(whole bool) {
	g := p.engine(true)
	list, err := g.AuditList(context.Background(), verify.AuditQuery{})
	if err != nil || !list.Complete || len(list.Entries) != p.facts+p.acts {
		p.Fatalf("%d facts and %d acts, and %d entries (%v): %+v", p.facts, p.acts, len(list.Entries), err, list)
	}
	v, err := g.AuditVerify(context.Background())
	if err != nil || !v.OK || whole && (len(v.Findings) > 0 || v.Events != int64(p.facts+2*p.acts)) {
		p.Fatalf("%v: %+v", err, v)
	}
	for _, f := range v.Findings {
		if f.Code != manifest.AuditIncomplete {
			p.Fatalf("%+v", f)
		}
	}
}

// TestManyProcessesRecordEachFactOnce: processes that see the same fact at the same time write one
// line of it, and nothing is done without its two lines.
func TestManyProcessesRecordEachFactOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t) // facts without lines, for all to complete
	const n = 6
	for range n {
		w.cancelled("r")
	}
	var open []engine.Position
	for range n {
		open = append(open, w.start(twoSteps).Position())
	}
	var wg sync.WaitGroup
	for i := range n {
		at, actor, canceller := open[i], w.auditor(), w.auditor()
		wg.Add(2)
		go func() {
			defer wg.Done()
			if err := actor.Ledger().Act(context.Background(), caller(int64(i)), ofStore(audit.GC),
				nothing); err != nil {
				t.Error(err)
			}
		}()
		go func() {
			defer wg.Done()
			if _, err := canceller.Cancel(context.Background(), caller(int64(i)), &performerStub{}, at,
				engine.CancelRequest{}); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	must(t, w.auditor().Ledger().Act(context.Background(), w.by(), ofStore(audit.GC), nothing))
	v, err := w.auditor().AuditVerify(context.Background())
	if err != nil || !v.OK || len(v.Findings) > 0 || v.Events != 2*n+2*(n+1) {
		t.Errorf("%v: %+v", err, v)
	}
}

// counted counts how many segments of sessions, and of the audit log, were read.
type counted struct {
	enginetest.Store
	sessions, audit int
}

func (c *counted) Read(ctx context.Context, r ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	n := &c.sessions
	if strings.HasPrefix(r.Log.Root, "audit") {
		n = &c.audit
	}
	return c.Store.Read(ctx, r, func(from manifest.Head) ports.Visitor {
		v := visit(from)
		return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
			*n++
			return v.Visit(seg, head)
		})
	})
}

// TestSeenFactsAreNotReadAgain: an act reads what is new; without the cache it reads everything
// once, and the next act nothing.
func TestSeenFactsAreNotReadAgain(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	const n = 40
	for range n {
		w.cancelled("r")
	}
	cost := func() (sessions, lines int) {
		g := w.auditor()
		c := &counted{Store: g.Store}
		g = enginetest.Over(c)
		must(t, g.Ledger().Act(context.Background(), w.by(), ofStore(audit.GC), nothing))
		return c.sessions, c.audit
	}
	cost()
	if sessions, lines := cost(); sessions > 0 || lines > 2*4 {
		t.Errorf("with nothing new, %d segments of sessions and %d of the audit log are read", sessions, lines)
	}
	w.cancelled("one more")
	if sessions, _ := cost(); sessions > 3 {
		t.Errorf("after one fact, %d segments of sessions are read", sessions)
	}
	must(t, os.RemoveAll(filepath.Join(w.dir, "cache")))
	if sessions, _ := cost(); sessions != 2*(n+1) {
		t.Errorf("without the cache, %d segments of sessions are read", sessions)
	}
	if sessions, _ := cost(); sessions > 0 {
		t.Errorf("%d segments are read again", sessions)
	}
}
