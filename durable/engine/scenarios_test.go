package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/advance"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/projections"
)

// story is a run told move by move; a move is one line of text:
//
//	block, do, keep, look: an attempt that is refused, one that is not, a checkpoint,
//	    a look, each at the answer that came last
//	back N: a look at the answer of move N, which is where the next move begins
//
// and what the answer and the run's list then say: its status, the step that is
// pending, and the run's status.
type story struct {
	name  string
	moves []string
}

// TestStatusOfRuns: what an answer and the list say through blocks, retries,
// checkpoints and rewinds (R16, R17).
func TestStatusOfRuns(t *testing.T) {
	for _, s := range []story{
		{"block, retry, go on", []string{
			"block: blocked first blocked",
			"block: blocked first blocked",
			"do: in_progress second in_progress",
			"do: complete - complete",
		}},
		{"block, checkpoint, go on from the checkpoint", []string{
			"block: blocked first blocked",
			"keep: blocked first blocked",
			"look: blocked first blocked",
			"do: in_progress second in_progress",
			"keep: in_progress second in_progress",
			"do: complete - complete",
		}},
		{"complete, rewind, block", []string{
			"do: in_progress second in_progress",
			"do: complete - complete",
			"back 0: complete first complete",
			"block: complete first complete", // a refused look back takes nothing away
			"do: in_progress second in_progress",
		}},
		{"an abandoned blocked branch beside a complete one", []string{
			"do: in_progress second in_progress",
			"block: blocked second blocked",
			"back 0: blocked first blocked",
			"do: in_progress second in_progress",
			"do: complete - complete",
		}},
	} {
		t.Run(s.name, func(t *testing.T) { s.play(newWorld(t)) })
	}
}

func (s story) play(w *world) {
	w.Helper()
	a := w.start(`{"id":"test.story","name":"Story","description":"d","version":"1.0.0","steps":[
	 {"id":"first","title":"First","prompt":"p","validationCriteria":[{"type":"contains","value":"done","message":"say done"}]},
	 {"id":"second","title":"Second","prompt":"p","validationCriteria":[{"type":"contains","value":"done","message":"say done"}]}]}`)
	seen := []engine.Answer{a}
	for i, line := range s.moves {
		move, want, _ := strings.Cut(line, ": ")
		var back int
		switch n, _ := fmt.Sscanf(move, "back %d", &back); {
		case n == 1:
			a = w.look(seen[back].StateToken)
		case move == "block":
			a = w.must(a, note("no"))
		case move == "do":
			a = w.must(a, note("done"))
		case move == "keep":
			a = w.mustKeep(a, note("so far"))
		case move == "look":
			a = w.look(a.StateToken)
		default:
			w.Fatalf("no such move: %s", line)
		}
		seen = append(seen, a)
		pending := "-"
		if a.Pending != nil {
			pending = a.Pending.StepID
		}
		list, err := w.process().Runs(context.Background())
		if err != nil {
			w.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s %s", a.Status, pending, list.Runs[0].Status); got != want {
			w.Errorf("move %d (%s): got %s", i, line, got)
		}
	}
}

// TestFiftyRefusedTries: nothing grows with them but the log: the answers keep
// their size, the gap is one, and the fifty-first try goes on.
func TestFiftyRefusedTries(t *testing.T) {
	w := newWorld(t)
	a := w.start(twoSteps)
	first := len(text(t, w.must(a, note("no 00"))))
	a = w.look(a.StateToken)
	for i := 1; i < 50; i++ {
		a = w.must(a, advance.Request{Notes: fmt.Sprintf("no %02d", i), Context: set("what", fmt.Sprint(i%10))})
		if len(a.Blockers) != 1 || a.Status != projections.Blocked {
			t.Fatalf("try %d: %+v", i, a)
		}
		if got := len(text(t, a)); got > first+64 {
			t.Fatalf("the answer to try %d has %d bytes, the first had %d", i, got, first)
		}
	}
	seen := w.look(a.StateToken)
	if !strings.Contains(seen.Recap, "no 49") || strings.Contains(seen.Recap, "no 48") || len(seen.Recap) > limits.RecapBytesMax/8 {
		t.Errorf("%s", seen.Recap)
	}
	details, err := w.process().Run(context.Background(), a.Session.RunID.String())
	if err != nil || details.Steps[0].Attempts != 50 || details.OpenCriticalGaps != 1 || len(details.Gaps) != 1 {
		t.Fatalf("%+v, %v", details, err)
	}
	if b := w.must(seen, note("done")); b.Pending.StepID != "second" || b.Status != projections.InProgress {
		t.Fatalf("%+v", b)
	}
	all, _, err := w.process().Events(context.Background(), a.Session.RunID.String())
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range all {
		count[e.Data.Kind()]++
	}
	if count["gap_recorded"] != 2 || count["node_created"] != 2 || count["advance_recorded"] != 51 {
		t.Error(count)
	}
}
