package engine_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/projections/runs"
)

// turnEnds ends a turn of a chat at the preferred tip of a run, as a hook does that reads the run first.
func turnEnds(g *enginetest.Engine, at engine.Position, run *runs.Run, chat string, atMs int64) (int64, error) {
	at.Node = run.Tip
	return engine.NewTurns(g.Engine).End(context.Background(), at, run.LastIndex,
		advance.Turn{Client: "codex", Chat: canon.Sum([]byte(chat)), AtMs: atMs})
}

// moveTurn: "turn ends in CHAT". It appends at most one event, and changes neither an answer nor the list of runs.
func (p *player) moveTurn(s statement) error {
	chat, ok := strings.CutPrefix(s.text, "ends in ")
	if !ok {
		return fmt.Errorf("want 'turn ends in CHAT'")
	}
	state := func() (string, error) {
		a, err := p.process().Continue(p.ctx, p.by(event.Agent), engine.Continue{StateToken: p.last.StateToken})
		if err != nil {
			return "", err
		}
		row, err := p.listed()
		return text(p.tb, a) + asJSON(p.tb, row), err
	}
	before, err := state()
	if err != nil {
		return err
	}
	at := len(p.all)
	if _, p.err = turnEnds(p.process(), p.last.Position(), p.after, chat, p.by(event.Agent).AtMs); p.err != nil {
		return nil
	}
	after, err := state()
	if err != nil {
		return err
	}
	if before != after {
		return fmt.Errorf("the end of a turn changed an answer or the list:\n%s\n%s", before, after)
	}
	if err := p.observe(); err != nil {
		return err
	}
	if added := p.all[at:]; len(added) > 1 || len(added) == 1 && added[0].Data.Kind() != "guard_noted" {
		return fmt.Errorf("the end of a turn recorded %d events", len(added))
	}
	return nil
}
