package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// Each move begins at the last answer, and leaves its own.

func (p *player) moveStart(s statement) error {
	p.seeds++
	by, seed := p.by(event.Agent), id.Seed{p.seeds}
	p.all, p.before = nil, 0
	return p.make(advance.Request{}, func(g *enginetest.Engine, _ advance.Request) (engine.Answer, error) {
		return g.Start(p.ctx, by, seed, p.start)
	})
}

// manyTimes takes "50 times" off the front of a line.
func manyTimes(text string) (n int, rest string) {
	fields := strings.SplitN(text, " ", 3)
	if len(fields) >= 2 && fields[1] == "times" {
		if n, err := strconv.Atoi(fields[0]); err == nil {
			return n, strings.Join(fields[2:], " ")
		}
	}
	return 1, text
}

func (p *player) moveAck(s statement) error {
	return p.attempts(s, func(g *enginetest.Engine, by engine.Caller, at engine.Answer,
		req advance.Request) (engine.Answer, error) {
		return g.Continue(p.ctx, by, engine.Continue{StateToken: at.StateToken, AckToken: at.AckToken, Request: req})
	})
}

// moveLocked is an attempt while another process holds the lock of the session.
func (p *player) moveLocked(s statement) error {
	unlock, err := p.open(0).Lock(p.ctx, manifest.SessionEvents(p.last.Session.SessionID))
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	req, err := request(items(s), 0)
	if err != nil {
		return err
	}
	_, p.err = enginetest.Over(p.open(0)).Continue(p.ctx, p.by(event.Agent),
		engine.Continue{StateToken: p.last.StateToken, AckToken: p.last.AckToken, Request: req})
	return nil
}

// movePerform is moveAck by the performer of the session.
func (p *player) movePerform(s statement) error {
	return p.attempts(s, func(g *enginetest.Engine, by engine.Caller, at engine.Answer,
		req advance.Request) (a engine.Answer, err error) {
		err = ports.WithHold(p.ctx, performers{}, at.Session.SessionID, func(h ports.Hold) error {
			a, err = g.Perform(p.ctx, h, by, at.Position(), at.AttemptID, req)
			return err
		})
		return a, err
	})
}

// attempts makes attempts at the pending step, with the answer before.
func (p *player) attempts(s statement, attempt func(*enginetest.Engine, engine.Caller, engine.Answer,
	advance.Request) (engine.Answer, error)) error {
	n, rest := manyTimes(s.text)
	s.text = rest
	for i := range n {
		at := p.last
		if at.AckToken == "" {
			return fmt.Errorf("the last answer has no ack token")
		}
		req, err := request(items(s), i)
		if err != nil {
			return err
		}
		by := p.by(event.Agent)
		ack := func(g *enginetest.Engine, req advance.Request) (engine.Answer, error) {
			return attempt(g, by, at, req)
		}
		if i < n-1 {
			p.measure(req, ack)
		} else if err := p.make(req, ack); err != nil {
			return err
		}
		if p.err != nil {
			return nil
		}
	}
	if err := inLockOrder(p.all[p.before:]); err != nil {
		return err
	}
	return p.lookTwice()
}

// moveAgain sends the last recording call once more, or another request with its tokens.
func (p *player) moveAgain(s statement) error {
	req := p.req
	if what := items(s); len(what) > 0 {
		var err error
		if req, err = request(what, 0); err != nil {
			return err
		}
	}
	a, err := p.sent(p.process(), req)
	if p.err = err; err == nil {
		p.last = a
	}
	return nil
}

// moveLook rehydrates: at the last answer, at one with a name, or at the last checkpoint. The next
// move begins there.
func (p *player) moveLook(s statement) error {
	at := p.last.StateToken
	if name, ok := strings.CutPrefix(s.text, "at "); ok {
		a, known := p.names[name]
		if !known {
			return fmt.Errorf("no answer is called %q", name)
		}
		at = a.StateToken
		p.last = a
	}
	if s.text == "from the checkpoint" {
		var err error
		if at, err = p.checkpointState(); err != nil {
			return err
		}
	}
	a, err := p.g.Continue(p.ctx, p.by(event.Agent), engine.Continue{StateToken: at})
	if p.err = err; err != nil {
		return nil
	}
	p.last = a
	return p.lookTwice()
}

// lookTwice: rehydrating records nothing, and two processes get the same answer
// (docs/design.md#engine).
func (p *player) lookTwice() error {
	if p.err != nil {
		return nil
	}
	n := len(p.all)
	call := engine.Continue{StateToken: p.last.StateToken}
	a, err := p.g.Continue(p.ctx, p.by(event.Agent), call)
	b, again := p.process().Continue(p.ctx, p.by(event.Human), call)
	if err = errors.Join(err, again); err != nil {
		return err
	}
	if text(p.tb, a) != text(p.tb, b) {
		return fmt.Errorf("two answers differ:\n%s\n%s", text(p.tb, a), text(p.tb, b))
	}
	if err := p.observe(); err != nil || len(p.all) != n {
		return fmt.Errorf("looking recorded %d events, %v", len(p.all)-n, err)
	}
	return nil
}

// checkpointState is a state token of the run's latest checkpoint.
func (p *player) checkpointState() (string, error) {
	for _, e := range slices.Backward(p.all) {
		n, ok := e.Data.(event.NodeCreated)
		if !ok || n.NodeKind != event.CheckpointNode {
			continue
		}
		keys, err := p.g.Store.Keys(p.ctx, ports.ReadOnly)
		return token.MintState(keys.Current,
			token.State{SessionID: p.last.Session.SessionID, RunID: p.last.Session.RunID,
				NodeID: e.Scope.NodeID, WorkflowHash: p.last.Workflow.WorkflowHash}), err
	}
	return "", fmt.Errorf("the run has no checkpoint")
}

func (p *player) moveCheckpoint(s statement) error {
	req, err := request(items(s), 0)
	if err != nil {
		return err
	}
	by, at := p.by(event.Agent), p.last
	return p.make(req, func(g *enginetest.Engine, req advance.Request) (engine.Answer, error) {
		return g.Checkpoint(p.ctx, by,
			engine.CheckpointCall{StateToken: at.StateToken, CheckpointToken: at.CheckpointToken, Request: req})
	})
}

// moveApprove: "approve", "approve with COMMENT", or "approve as an agent".
func (p *player) moveApprove(s statement) error {
	kind := event.Human
	if s.text == "as an agent" {
		kind = event.Agent
	}
	comment := strings.TrimPrefix(s.text, "with ")
	if comment == s.text {
		comment = ""
	}
	by, at := p.by(kind), p.last.Position()
	return p.make(advance.Request{}, func(g *enginetest.Engine, _ advance.Request) (engine.Answer, error) {
		return g.Approve(p.ctx, by, at, comment)
	})
}

// moveSendBack: "send back with REASON".
func (p *player) moveSendBack(s statement) error {
	return p.decide(event.SentBack, strings.TrimPrefix(s.text, "back with "))
}

// moveDeny: "deny with REASON".
func (p *player) moveDeny(s statement) error {
	return p.decide(event.Denied, strings.TrimPrefix(s.text, "with "))
}

// decide is a decision of a person about what the node holds now.
func (p *player) decide(word event.DecisionWord, reason string) error {
	by, at := p.by(event.Human), p.last.Position()
	repeat := p.make
	if word == event.Denied {
		repeat = func(req advance.Request, f call) error { // the run is closed for the same call again
			p.measure(req, f)
			return nil
		}
	}
	return repeat(advance.Request{}, func(g *enginetest.Engine, _ advance.Request) (engine.Answer, error) {
		shown, err := g.Approvable(p.ctx, by, at)
		if err != nil {
			return engine.Answer{}, err
		}
		return g.Decide(p.ctx, by, shown, word, reason)
	})
}

// moveCancel: "cancel REASON"; "cancel while performed REASON" leaves the end to the performer;
// "cancel as failed REASON".
func (p *player) moveCancel(s statement) error {
	reason, busy := strings.CutPrefix(s.text, "while performed ")
	reason, failed := strings.CutPrefix(reason, "as failed ")
	_, p.err = p.g.Cancel(p.ctx, p.by(event.Human), performers{busy}, p.last.Position(),
		engine.CancelRequest{Reason: reason, Failed: failed})
	if p.err != nil {
		return nil
	}
	a, err := p.g.Continue(p.ctx, p.by(event.Agent), engine.Continue{StateToken: p.last.StateToken})
	if err == nil {
		p.last.Status, p.last.NextIntent, p.last.StateToken, p.last.Pending = a.Status, a.NextIntent, a.StateToken,
			a.Pending
	}
	return err
}

// moveFork continues in a run of its own, from the last answer's node or a named one's.
func (p *player) moveFork(s statement) error {
	at := p.last
	if name, ok := strings.CutPrefix(s.text, "at "); ok {
		at = p.names[name]
	}
	p.seeds++
	by, seed := p.by(event.Agent), id.Seed{p.seeds}
	p.all, p.before = nil, 0
	return p.make(advance.Request{}, func(g *enginetest.Engine, _ advance.Request) (engine.Answer, error) {
		return g.ForkAt(p.ctx, by, seed, at.Position(), engine.ForkRequest{})
	})
}

// moveDamage flips a byte in the newest segment, or removes the snapshots.
func (p *player) moveDamage(s statement) error {
	var files []string
	switch s.text {
	case "the last segment":
		files, _ = filepath.Glob(p.dir + "/sessions/*/events/*.jsonl")
		files = files[max(0, len(files)-1):]
	case "the snapshots":
		files, _ = filepath.Glob(p.dir + "/snapshots/*")
	case "the artifacts":
		files, _ = filepath.Glob(p.dir + "/artifacts/*")
	}
	if len(files) == 0 {
		return fmt.Errorf("there is nothing to damage")
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(f, data, 0o600); err != nil {
			return err
		}
	}
	p.g = p.process()
	return nil
}

// lockOrder is the order of events in docs/design.md#event-order.
var lockOrder = []string{"advance_recorded", "context_set", "capability_observed", "divergence_recorded",
	"decision_trace_appended", "gap_recorded",
	"preferences_changed", "node_created", "edge_created", "node_output_appended"}

func inLockOrder(events []event.Event) error {
	at := -1
	for _, e := range events {
		rank := slices.Index(lockOrder, e.Data.Kind())
		if rank == 0 {
			at = 0 // the next attempt
		}
		if rank < at || at < 0 {
			return fmt.Errorf("%s is out of order (docs/design.md#event-order)", e.Data.Kind())
		}
		at = rank
	}
	return nil
}
