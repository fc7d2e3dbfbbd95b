package bigdb

import (
	"context"
	"fmt"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// The shares of a store: of Every sessions so many are left open, the others run to their ends.
const (
	Every    = 1000
	asking   = 1 // a question waits for a person
	blocked  = 2 // an attempt was refused
	ready    = 3 // a command was not tried yet
	waiting  = 4 // a wait until a moment that is over
	working  = 10
	kinds    = 20 // workflows
	withTwo  = 5  // one of so many workflows has two steps, the others have one
	branches = 500
)

// storeSeed makes the id and the keys of the store.
var storeSeed = id.Seed{42}

// firstMs is the time of the first event, and stepMs is the time from the start of a session to that of the next one.
const (
	firstMs = 1_735_689_600_000
	stepMs  = 30_000
)

// group is a commit of a session.
type group struct {
	at  manifest.Head
	seg manifest.Segment
}

// session is what the store has of one session.
type session struct {
	id      id.Session
	groups  []group
	head    manifest.Head
	brief   *manifest.Brief
	lastMs  int64 // the time of the last call
	objects []manifest.Object
}

// maker makes sessions with the engine, each over a store in memory of its own, and keeps what it appends. It is used by one goroutine.
type maker struct {
	flows [kinds]compile.Compiled
	asks  compile.Compiled
	runs  compile.Compiled
	waits compile.Compiled
	notes compile.Compiled
	n     int64 // calls of the present session
	atMs  int64
}

// recorded is a store in memory that keeps what is appended to the log of a session.
type recorded struct {
	enginetest.Store
	out *session
}

// Append implements ports.Logs.
func (r recorded) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	next, err := r.Store.Append(ctx, w, at, p)
	if err != nil {
		return next, err
	}
	if p.Log != manifest.SessionEvents(r.out.id) {
		return next, fmt.Errorf("an append to %s, which is not kept", p.Log.Root)
	}
	seg, err := manifest.EncodeSegment(p.Log, p.Events)
	if err != nil {
		return next, err
	}
	seg.Events = p.Events
	seg.Group = manifest.Group(p.Log, at, seg)
	if at.After(seg.Group, seg) != next {
		return next, fmt.Errorf("the head of %s differs", p.Log.Owner)
	}
	r.out.groups, r.out.head, r.out.brief = append(r.out.groups, group{at, seg}), next, p.Brief
	r.out.objects = append(r.out.objects, p.Objects...)
	return next, nil
}

func compiled(name, steps string) (compile.Compiled, error) {
	_, c, problems := compile.File(name+".json", source.SourceProject, []byte(
		`{"id":"bench.`+name+`","name":"Bench `+name+`","description":"d","version":"1.0.0","steps":[`+steps+`]}`))
	if source.HasErrors(problems) {
		return c, fmt.Errorf("%v", problems)
	}
	return c, nil
}

func newMaker() (m *maker, err error) {
	m = &maker{}
	const one = `{"id":"repair","title":"Repair","prompt":"Read the log of the failing job and repair it."}`
	const two = one + `,{"id":"report","title":"Report","prompt":"Report what was done."}`
	for i := range m.flows {
		steps := one
		if i%withTwo == 0 {
			steps = two
		}
		if m.flows[i], err = compiled(fmt.Sprintf("kind-%d", i), steps); err != nil {
			return nil, err
		}
	}
	for _, one := range []struct {
		to          *compile.Compiled
		name, steps string
	}{
		{&m.asks, "asks", `{"id":"ask","title":"Ask","prompt":"p","inputs":[{"contextKey":"k","reason":"needs_user_artifact","description":"d"}]}`},
		{&m.runs, "runs", `{"id":"build","title":"Build","prompt":"p","notesOptional":true,"action":{"kind":"command","argv":["make","all"]}}`},
		{&m.waits, "waits", `{"id":"w","title":"W","action":{"kind":"wait","until":"1970-01-01T00:00:00Z"}},{"id":"e","title":"E","prompt":"p"}`},
		{&m.notes, "notes", `{"id":"note","title":"Note","prompt":"p","notesRequired":true}`},
	} {
		if *one.to, err = compiled(one.name, one.steps); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *maker) by() engine.Caller {
	m.n++
	return engine.Caller{Actor: event.Actor{Kind: event.Agent, Ref: "reviewer"}, AtMs: m.atMs + m.n*1000}
}

// session makes the session with a number.
func (m *maker) session(i int) (*session, error) {
	ctx := context.Background()
	disk := memstore.NewDisk(storeSeed)
	s := disk.Open(time.Second)
	seed := seedOf(i)
	out := &session{id: id.NewSession(seed)}
	for _, create := range []func() error{
		func() error { _, err := s.StoreID(ctx, ports.MayCreate); return err },
		func() error { _, err := s.Keys(ctx, ports.MayCreate); return err }} {
		if err := create(); err != nil {
			return nil, err
		}
	}
	e := enginetest.Over(recorded{enginetest.InMemory(s).Store, out})
	e.Engine.BriefOf = e.Lists.BriefOf
	e.Lists.FindWaits(inbox.New(e.Reader, e.Store, e.Views, e.Learning).Kept)
	m.n, m.atMs = 0, firstMs+int64(i)*stepMs
	flow, steps := m.flows[i%kinds], 2 // or as many as there are
	switch at := i % Every; {
	case at < asking:
		flow, steps = m.asks, 0
	case at < blocked:
		flow, steps = m.notes, 1
	case at < ready:
		flow, steps = m.runs, 0
	case at < waiting:
		flow, steps = m.waits, 0
	case at < working:
		flow, steps = m.flows[0], 1
	}
	request := engine.Start{Workflow: flow, SourceKind: event.SourceProject, SourceRef: "workflows/bench.json",
		Title: numberText(i), Observations: []event.ObservationRecorded{branchObserved(i), commitObserved(i)}}
	if i%10 == 0 {
		request.Tags = []string{"nightly"}
	}
	a, err := e.Start(ctx, m.by(), seed, request)
	for n := 0; err == nil && n < steps && a.AttemptID != (id.Attempt{}); n++ {
		req := advance.Request{Notes: fmt.Sprintf("Read the log of the failing job.\n\n- the cache was \"cold\"\n- it was tried again, then step %d passed.", n)}
		if flow.WorkflowID == m.notes.WorkflowID {
			req.Notes = ""
		}
		a, err = e.Advance(ctx, m.by(), a.Position(), a.AttemptID, req)
	}
	out.lastMs = m.atMs + m.n*1000
	return out, err
}

// The observations of the session with a number.
func branchObserved(i int) event.ObservationRecorded {
	return observed("git_branch", "short_string", branchText(i))
}
func commitObserved(i int) event.ObservationRecorded {
	return observed("git_head_sha", "git_sha1", commitText(i))
}

func observed(key, kind, value string) event.ObservationRecorded {
	return event.ObservationRecorded{Key: key, Confidence: "high", Value: event.ObservationValue{Type: kind, Value: value}}
}
