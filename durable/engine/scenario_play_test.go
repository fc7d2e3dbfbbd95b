package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/projections/runs"
)

// player plays one scenario. Its store is in memory or what open opens, and on disk for those that damage it.
type player struct {
	tb    testing.TB
	s     scenario
	ctx   context.Context
	disk  *memstore.Disk
	dir   string // "": not in files
	open  func(wait time.Duration) enginetest.Store
	g     *enginetest.Engine
	clock int64
	seeds byte

	start engine.Start

	last     engine.Answer // the last answer
	err      error         // or the last error
	reported bool          // a then line named err, or the blockers of last
	names    map[string]engine.Answer
	sent     call // the last one that records
	req      advance.Request

	all    []event.Event // of the current run
	before int           // their number before the last when line
	after  *runs.Run
	phases *phases // of the last call that records
	failed []string
}

// call is a use case that records something, with its tokens and its time.
type call func(*enginetest.Engine, advance.Request) (engine.Answer, error)

// performers reports no performer, so that a cancelled run is closed at once, unless the scenario
// has one.
type performers struct{ busy bool }

func (p performers) Hold(context.Context, id.Session) (ports.Lease, error) {
	if p.busy {
		return ports.Lease{}, fault.New(fault.RunBusy, "a performer has the run")
	}
	return ports.Lease{Release: func() error { return nil }}, nil
}

func newPlayer(tb testing.TB, s scenario) *player {
	p := &player{tb: tb, s: s, ctx: context.Background(), disk: memstore.NewDisk(id.Seed{9}), clock: 1_700_000_000_000,
		names: map[string]engine.Answer{}, start: engine.Start{Workflow: s.workflow, SourceKind: event.SourceProject,
			SourceRef: "scenario.json"}}
	p.open = func(wait time.Duration) enginetest.Store { return enginetest.InMemory(p.disk.Open(wait)).Store }
	p.g = p.process()
	return p
}

// playScenario returns what is wrong, each with its line.
func playScenario(tb testing.TB, s scenario) []string { return newPlayer(tb, s).play() }

// play plays the scenario; see playScenario.
func (p *player) play() []string {
	s := p.s
	thens, line := 0, s.line
	for _, say := range s.says {
		var err error
		switch say.word {
		case "given":
			err = p.given(say)
		case "when":
			p.unsaid(line)
			err = p.when(say)
			line = say.line
		case "call":
			p.names[strings.TrimPrefix(say.text, "it ")] = p.last
		case "then":
			thens++
			err = p.then(say)
		}
		if err != nil {
			p.fail(say.line, "%s %s: %v", say.word, say.text, err)
		}
	}
	p.unsaid(line)
	if thens == 0 {
		p.fail(s.line, "the scenario states nothing that could be wrong")
	}
	return p.failed
}

func (p *player) fail(line int, format string, args ...any) {
	p.failed = append(p.failed, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
}

// unsaid: a failed or blocked call must be named by a then line.
func (p *player) unsaid(line int) {
	switch {
	case p.reported:
	case p.err != nil:
		p.fail(line, "the call failed and no line expects it: %v", p.err)
	case len(p.last.Blockers) > 0:
		p.fail(line, "the attempt was blocked and no line expects it: %+v", p.last.Blockers)
	}
}

// process is the engine as another process has it: nothing is remembered.
func (p *player) process() *enginetest.Engine {
	if p.dir == "" {
		return enginetest.Over(p.open(time.Second))
	}
	s, err := openUnsynced(p.tb, p.dir, filestore.Options{LockWait: time.Second})
	if err != nil {
		p.tb.Fatal(err)
	}
	p.tb.Cleanup(func() { _ = s.Close() })
	return over(s)
}

func (p *player) by(kind event.ActorKind) engine.Caller {
	p.clock += 1000
	return engine.Caller{Actor: event.Actor{Kind: kind}, AtMs: p.clock}
}

func (p *player) given(s statement) (err error) {
	what, text, _ := strings.Cut(spell(s.text), " ")
	switch what {
	case "context":
		p.start.Context, err = canon.Parse([]byte(text))
	case "preferences":
		p.start.Preferences, err = preferences(text)
	case "key":
		p.start.Key = text
	case "observation":
		key, value, _ := strings.Cut(text, " ")
		p.start.Observations = append(p.start.Observations, event.ObservationRecorded{Confidence: "high", Key: key,
			Value: event.ObservationValue{Type: "short_string", Value: value}})
	case "disk":
		p.dir = filepath.Join(p.tb.TempDir(), "store")
		p.g = p.process()
	default:
		return fmt.Errorf("want context, preferences, key, observation or disk")
	}
	return err
}

// moves are the forms of a when line, by its first word.
var moves = map[string]func(p *player, s statement) error{
	"start": (*player).moveStart, "ack": (*player).moveAck, "again": (*player).moveAgain, "look": (*player).moveLook,
	"checkpoint": (*player).moveCheckpoint, "approve": (*player).moveApprove, "cancel": (*player).moveCancel,
	"fork": (*player).moveFork, "damage": (*player).moveDamage, "perform": (*player).movePerform,
	"send": (*player).moveSendBack, "deny": (*player).moveDeny, "turn": (*player).moveTurn,
	"locked": (*player).moveLocked, "set": (*player).moveSet,
}

func (p *player) when(s statement) error {
	word, rest, _ := strings.Cut(s.text, " ")
	move, ok := moves[word]
	if !ok {
		return fmt.Errorf("no such move")
	}
	s.text = rest
	p.before, p.err, p.reported = len(p.all), nil, false
	p.last.Blockers = nil
	if err := move(p, s); err != nil {
		return err
	}
	return p.observe()
}

// observe reads what is on record now, by a process of its own.
func (p *player) observe() error {
	if p.last.Session.RunID.IsZero() {
		return nil
	}
	all, _, err := p.process().Events(p.ctx, p.last.Session.RunID.String())
	if err != nil {
		return err
	}
	p.all = all
	s := runs.NewSession()
	for _, e := range all {
		s.Apply(e)
	}
	p.after = s.Runs[p.last.Session.RunID]
	return nil
}

// items are what is sent: in the line, or below it.
func items(s statement) []statement {
	if s.text != "" {
		return append([]statement{{line: s.line, text: s.text}}, s.below...)
	}
	return s.below
}

// make carries out a call and checks two laws: a process that remembers nothing gives the same call
// the same answer, and records nothing.
func (p *player) make(req advance.Request, f call) error {
	if p.measure(req, f); p.err != nil {
		return nil
	}
	a := p.last
	if err := p.observe(); err != nil {
		return err
	}
	n := len(p.all)
	b, err := f(p.process(), req)
	if err != nil {
		return fmt.Errorf("the same call again: %w", err)
	}
	if text(p.tb, a) != text(p.tb, b) {
		return fmt.Errorf("the same call again is answered otherwise:\n%s\n%s", text(p.tb, a), text(p.tb, b))
	}
	if err := p.observe(); err != nil || len(p.all) != n {
		return fmt.Errorf("the same call again recorded %d events, %v", len(p.all)-n, err)
	}
	return nil
}
