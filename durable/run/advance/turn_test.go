package advance_test

import (
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
)

// TestEndTurn: two refusals, then one record that the chat was let go, then nothing.
func TestEndTurn(t *testing.T) {
	run := id.NewRun(id.Seed{2})
	f := advance.TurnFacts{Session: id.NewSession(id.Seed{1}), Run: run, Node: id.RootNode(run), Next: 7}
	turn := advance.Turn{Client: "codex", Chat: canon.Sum([]byte("chat")), AtMs: 99}
	full := f
	full.Chats = limits.GuardChatsMax
	known, gone := full, full
	known.Refusals, gone.LetGo = 1, true
	second, third, over, after := f, f, f, f
	second.Refusals, third.Refusals, over.Refusals = 1, 2, 3 // a version that refuses three times wrote the last
	after.Refusals, after.LetGo = 2, true
	early := f
	early.Refusals, early.LetGo = 1, true // and one that refuses once wrote this
	for name, row := range map[string]struct {
		facts    advance.TurnFacts
		refusals int64
		verdict  event.GuardVerdict // "": nothing is recorded
		recorded int64
	}{
		"the first":                             {f, 1, event.GuardRefused, 1},
		"the second":                            {second, 2, event.GuardRefused, 2},
		"the third":                             {third, 0, event.GuardLetGo, 2},
		"after three refusals":                  {over, 0, event.GuardLetGo, 3},
		"the fourth":                            {after, 0, "", 0},
		"let go after one":                      {early, 0, "", 0},
		"of one chat too many":                  {full, 0, "", 0},
		"of a chat that the full node knows":    {known, 2, event.GuardRefused, 2},
		"of a chat that was let go, and others": {gone, 0, "", 0},
	} {
		plan, refusals := advance.EndTurn(row.facts, turn)
		if refusals != row.refusals {
			t.Errorf("%s: %d refusals, want %d", name, refusals, row.refusals)
		}
		if row.verdict == "" {
			if len(plan.Events) != 0 {
				t.Errorf("%s: %+v is recorded", name, plan.Events)
			}
			continue
		}
		if len(plan.Events) != 1 || len(plan.Objects) != 0 {
			t.Fatalf("%s: %+v", name, plan)
		}
		e := plan.Events[0]
		want := event.GuardNoted{Chat: turn.Chat, Client: "codex", Refusals: row.recorded, Verdict: row.verdict}
		if e.Data != want || !e.Ignorable || e.Actor != (event.Actor{Kind: event.Engine}) || e.Index != 7 ||
			e.TimestampMs != 99 || e.Scope != (event.Scope{RunID: run, NodeID: f.Node}) {
			t.Errorf("%s: %+v, want %+v", name, e, want)
		}
		if _, err := manifest.EncodeSegment(plan.Log, plan.Events); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
