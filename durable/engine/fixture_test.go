package engine_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// fixture is a store in a directory of the test's own, and a clock that ticks.
type fixture struct {
	*testing.T
	dir   string
	g     *enginetest.Engine
	clock int64
	seeds byte
}

func newFixture(t *testing.T) *fixture {
	w := &fixture{T: t, dir: t.TempDir() + "/store", clock: 1_700_000_000_000}
	w.g = w.process()
	return w
}

// process opens the store as another process would: nothing is remembered.
func (w *fixture) process() *enginetest.Engine {
	w.Helper()
	s, err := openUnsynced(w, w.dir, filestore.Options{LockWait: 5 * time.Second})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Close() })
	return over(s)
}

func over(s *filestore.Store) *enginetest.Engine { return enginetest.Over(s) }

func (w *fixture) by() engine.Caller {
	w.clock += 1000
	return engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: w.clock}
}

func (w *fixture) compiled(workflowText string) compile.Compiled {
	w.Helper()
	_, c, problems := compile.File("test.json", source.SourceProject, []byte(workflowText))
	if source.HasErrors(problems) {
		w.Fatal(problems)
	}
	return c
}

func (w *fixture) start(workflowText string) engine.Answer {
	w.Helper()
	w.seeds++
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{w.seeds}, engine.Start{Workflow: w.compiled(workflowText),
		SourceKind: event.SourceProject, SourceRef: "test.json"})
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// next acknowledges the pending step of an answer, by its tokens.
func (w *fixture) next(a engine.Answer, req advance.Request) (engine.Answer, error) {
	return w.g.Continue(context.Background(), w.by(), engine.Continue{StateToken: a.StateToken, AckToken: a.AckToken,
		Request: req})
}

func (w *fixture) must(a engine.Answer, req advance.Request) engine.Answer {
	w.Helper()
	out, err := w.next(a, req)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// text is an answer as a caller would see it: equal answers have equal text.
func text(t testing.TB, a engine.Answer) string {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// events counts what is on record for a run.
func (w *fixture) events(a engine.Answer) int {
	w.Helper()
	all, _, err := w.process().Events(context.Background(), a.Session.RunID.String())
	if err != nil {
		w.Fatal(err)
	}
	return len(all)
}

func note(s string) advance.Request { return advance.Request{Notes: s} }

func set(key, value string) canon.Value {
	return canon.OfMembers(canon.Member{Name: key, Value: canon.OfString(value)})
}

const twoSteps = `{"id":"test.two","name":"Two steps","description":"d","version":"1.0.0","steps":[
 {"id":"first","title":"First","prompt":"Do {{what}} first","validationCriteria":[{"type":"contains","value":"done","message":"say done"}]},
 {"id":"second","title":"Second","prompt":"Then this"}]}`

const longOne = `{"id":"test.long","name":"Long","description":"d","version":"1.0.0","steps":[
 {"id":"s0","title":"S","prompt":"p"},{"id":"s1","title":"S","prompt":"p"},{"id":"s2","title":"S","prompt":"p"},{"id":"s3","title":"S","prompt":"p"},
 {"id":"s4","title":"S","prompt":"p"},{"id":"s5","title":"S","prompt":"p"},{"id":"s6","title":"S","prompt":"p"},{"id":"s7","title":"S","prompt":"p"},
 {"id":"s8","title":"S","prompt":"p"},{"id":"s9","title":"S","prompt":"p"},{"id":"s10","title":"S","prompt":"p"},{"id":"s11","title":"S","prompt":"p"}]}`
