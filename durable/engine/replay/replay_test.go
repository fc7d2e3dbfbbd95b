package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/replay"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/redrive"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

const flow = `{"id":"test.replayed","name":"Replayed","description":"d","version":"1.0.0","steps":[
 {"id":"one","title":"One","prompt":"p","notesRequired":true},
 {"id":"two","title":"Two","prompt":"p","inputs":[{"contextKey":"name","reason":"needs_user_artifact","description":"A name."}]},
 {"id":"three","title":"Three","prompt":"p"},
 {"id":"four","title":"Four","prompt":"p","runCondition":{"var":"deep","equals":true}}]}`

func object(t *testing.T, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// run is a complete run of flow: four attempts, of which the second is refused.
type run struct {
	t     *testing.T
	g     *enginetest.Engine
	store *memstore.Store
	last  engine.Answer
}

var by = engine.Caller{Actor: event.Actor{Kind: event.Agent, Ref: "key:ci"}, AtMs: 1_700_000_000_000}

func newRun(t *testing.T) *run {
	t.Helper()
	_, w, problems := compile.File("test.json", source.SourceProject, []byte(flow))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	store := memstore.NewDisk(id.Seed{9}).Open(time.Second)
	r := &run{t: t, g: enginetest.InMemory(store), store: store}
	var err error
	r.last, err = r.g.Start(context.Background(), by, id.Seed{1}, engine.Start{Workflow: w, SourceKind: event.SourceProject,
		SourceRef: "test.json", Context: object(t, `{"given":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, req := range []advance.Request{{Notes: "first"}, {Notes: "without a name"},
		{Notes: "second", Context: object(t, `{"name":"x"}`), Artifacts: []advance.Artifact{{ContentType: "text/plain", Bytes: []byte("a file")}}},
		{Notes: "third", Context: object(t, `{"deep":false}`)}} {
		if r.last, err = r.g.Advance(context.Background(), by, r.last.Position(), r.last.AttemptID, req); err != nil {
			t.Fatal(err)
		}
	}
	if !r.last.IsComplete {
		t.Fatalf("%+v", r.last)
	}
	return r
}

// events are the run events of a run.
func (r *run) events(of id.Run) (out []openwop.RunEvent) {
	r.t.Helper()
	_, err := r.g.Wire.Each(context.Background(), of.String(), -1, func(events []openwop.RunEvent) error {
		out = append(out, events...)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// replay replays the run with a change of its recorded attempts, and returns the run events.
func (r *run) replay(seed byte, alter func(nth int, a *advance.Attempt)) []openwop.RunEvent {
	r.t.Helper()
	x := replay.New(r.g.Engine, r.store, r.store.Performers())
	at, err := x.Begin(context.Background(), by, id.Seed{seed}, replay.Request{Source: r.last.Position()})
	if err == nil {
		nth, last := -1, id.Attempt{}
		err = x.Altering(func(_ redrive.Operation, a *advance.Attempt) {
			if a.ID != last { // an attempt that differs is planned twice
				nth, last = nth+1, a.ID
			}
			alter(nth, a)
		}).Continue(context.Background(), at)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	again, err := r.g.Replay(context.Background(), at)
	if err != nil || !again.OK {
		r.t.Errorf("decided again: %+v %v", again.Difference, err)
	}
	return r.events(at.Run)
}

// member is a member of a payload as text.
func member(e openwop.RunEvent, name string) string {
	v, _ := e.Payload.Get(name)
	return strings.Trim(string(v.JCS()), `"`)
}

// TestADifferenceIsRecordedBeforeIt: for any recorded input that is another one, the run events before the first difference are
// those of the source, replay.diverged is at its sequence, and the event that differs follows it.
func TestADifferenceIsRecordedBeforeIt(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	want := r.events(r.last.Session.RunID)
	changes := map[string]func(*advance.Attempt){
		"notes":   func(a *advance.Attempt) { a.Request.Notes += " otherwise" },
		"context": func(a *advance.Attempt) { a.Request.Context = object(t, `{"name":"y","deep":true}`) },
		"nothing": func(a *advance.Attempt) { a.Request = advance.Request{} },
		"artifact": func(a *advance.Attempt) {
			a.Request.Artifacts = []advance.Artifact{{ContentType: "text/plain", Bytes: []byte("other")}}
		},
	}
	kinds, places := map[string]bool{}, map[string]bool{}
	seed := byte(10)
	for name, change := range changes {
		for at := range 4 {
			seed++
			got := r.replay(seed, func(nth int, a *advance.Attempt) {
				if nth == at {
					change(a)
				}
			})
			n := 0
			for ; n < min(len(got), len(want)) && got[n].Type == want[n].Type && got[n].Payload.Equal(want[n].Payload); n++ {
			}
			if n == len(got) {
				t.Errorf("%s %d: no difference", name, at)
				continue
			}
			e, of := got[n], "-"
			if n < len(want) {
				of = want[n].EventID
			}
			if e.Type != openwop.ReplayDiverged || e.Sequence != int64(n) || member(e, "atSequence") != fmt.Sprint(n) ||
				member(e, "sourceRunId") != r.last.Session.RunID.String() || member(e, "originalEventId") != of {
				t.Errorf("%s %d: event %d is %s %s; the source has %s there", name, at, n, e.Type, e.Payload.JCS(), of)
			}
			kind := member(e, "divergenceKind")
			if n+1 < len(got) && (kind == "output") != (got[n+1].Type == want[n].Type) {
				t.Errorf("%s %d: %s: %s and %s", name, at, kind, got[n+1].Type, want[n].Type)
			}
			for i, e := range got {
				if e.Type == openwop.ReplayDiverged && i != n || e.Sequence != int64(i) {
					t.Errorf("%s %d: event %d is %s at %d", name, at, i, e.Type, e.Sequence)
				}
			}
			if last := got[len(got)-1].Type; !last.Terminal() {
				t.Errorf("%s %d: the replay ends with %s", name, at, last)
			}
			kinds[kind], places[fmt.Sprint(n)] = true, true
		}
	}
	if len(kinds) < 2 || len(places) < 6 {
		t.Errorf("differences of kinds %v at %v", kinds, places)
	}
	if got := r.replay(9, func(int, *advance.Attempt) {}); len(got) != len(want) {
		t.Errorf("without a change %d events, want %d", len(got), len(want))
	}
}

// holding is a store without a log, or in which artifacts are erased.
type holding struct {
	*memstore.Store
	root   string
	erased bool
}

// Read implements ports.Logs.
func (s holding) Read(ctx context.Context, r ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	if r.Log.Root == s.root {
		r.Log = manifest.SessionEvents(id.NewSession(id.Seed{99}))
	}
	return s.Store.Read(ctx, r, visit)
}

// Object implements ports.Objects.
func (s holding) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error) {
	if s.erased && kind == manifest.Artifact {
		return nil, fault.New(fault.ArtifactErased, "erased")
	}
	return s.Store.Object(ctx, kind, ref)
}

// TestWithoutItsSource: a replay whose source is gone, or whose inputs were erased, ends as failed for that, once.
func TestWithoutItsSource(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*run) holding{
		"gone": func(r *run) holding {
			return holding{Store: r.store, root: manifest.SessionEvents(r.last.Session.SessionID).Root}
		},
		"erased": func(r *run) holding { return holding{Store: r.store, erased: true} },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			x := replay.New(r.g.Engine, r.store, r.store.Performers())
			at, err := x.Begin(context.Background(), by, id.Seed{7}, replay.Request{Source: r.last.Position()})
			if err != nil {
				t.Fatal(err)
			}
			lost := lose(r)
			if err := replay.New(engine.New(lost), lost, r.store.Performers()).Continue(context.Background(), at); err != nil {
				t.Fatal(err)
			}
			got := r.events(at.Run)
			if err := x.Continue(context.Background(), at); err != nil || len(r.events(at.Run)) != len(got) {
				t.Errorf("continued with the source: %v, %d events after %d", err, len(r.events(at.Run)), len(got))
			}
			failed, end := got[len(got)-2], got[len(got)-1]
			code := func(e openwop.RunEvent) string {
				of, _ := e.Payload.Get("error")
				v, _ := of.Get("code")
				return v.Text()
			}
			if failed.Type != openwop.NodeFailed || end.Type != openwop.RunFailed || code(failed) != "replay_source_missing" ||
				code(end) != "replay_source_missing" {
				t.Errorf("%s %s, %s %s", failed.Type, failed.Payload.JCS(), end.Type, end.Payload.JCS())
			}
			if again, err := r.g.Replay(context.Background(), at); err != nil || !again.OK {
				t.Errorf("%+v %v", again.Difference, err)
			}
		})
	}
}

// TestForksAreNotReplayed: the beginning of a fork is in another log.
func TestForksAreNotReplayed(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	x := replay.New(r.g.Engine, r.store, r.store.Performers())
	at, err := x.Begin(context.Background(), by, id.Seed{7}, replay.Request{Source: r.last.Position()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Begin(context.Background(), by, id.Seed{8}, replay.Request{Source: at}); !fault.Is(err, fault.ForkPointInvalid) {
		t.Error(err)
	}
	if err := x.Continue(context.Background(), r.last.Position()); !fault.Is(err, fault.ValidationError) {
		t.Error(err)
	}
}
