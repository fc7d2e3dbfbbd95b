package engine_test

import (
	"context"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/ports"
)

const checkedSteps = `{"id":"test.checked","name":"Checked","description":"d","version":"1.0.0","steps":[
 {"id":"verify","title":"Verify","prompt":"p","checks":[{"id":"unit","argv":["suite"]},{"id":"lint","argv":["lint"]}]},
 {"id":"end","title":"End","prompt":"p"}]}`

// exits performs checks: each exits with the status that is next.
type exits struct {
	t      *testing.T
	status []int64
}

// Hold implements ports.Performers.
func (*exits) Hold(context.Context, id.Session) (ports.Lease, error) {
	return ports.Lease{Release: func() error { return nil }}, nil
}

// Perform implements engine.Checks.
func (x *exits) Perform(ctx context.Context, in engine.HandIn, record func(ports.Hold, []advance.Artifact) error) error {
	return ports.WithHold(ctx, x, in.At.Session, func(hold ports.Hold) error {
		var out []advance.Artifact
		for _, c := range in.Step.Checks {
			r := check.Result{AttemptID: in.Attempt, CheckID: c.ID, ArgvDigest: check.ArgvDigest(c), StepInstanceKey: in.StepInstanceKey,
				OutputDigest: canon.Sum(nil), Exit: x.status[0], Stdout: command.Stream{Bytes: 4, Head: "done"}}
			x.status = x.status[1:]
			v, err := r.Encode()
			if err != nil {
				return err
			}
			out = append(out, advance.JSONArtifact(v))
		}
		return record(hold, out)
	})
}

// checkedRun is a run with a refused and an accepted attempt at a step with checks.
func checkedRun(t *testing.T) (*fixture, engine.Answer) {
	w := newFixture(t)
	w.g.Engine = w.g.Engine.WithChecks(&exits{t, []int64{1, 0, 0, 0}})
	first := w.start(checkedSteps)
	refused := w.must(first, note("n"))
	if len(refused.Blockers) != 1 || refused.Blockers[0].Check == nil || *refused.Blockers[0].Check.OutputTail != "done" {
		t.Fatalf("%+v", refused.Blockers)
	}
	if done := w.must(refused, note("n")); done.Pending == nil || done.Pending.StepID != "end" {
		t.Fatalf("%+v", done)
	}
	return w, first
}

// TestChecksAreDecidedAgain: the record alone gives the same decisions, also in a session to which an
// import gave other ids.
func TestChecksAreDecidedAgain(t *testing.T) {
	w, first := checkedRun(t)
	replayed := func(of string, g *fixture, s id.Session, run id.Run) {
		t.Helper()
		report, err := g.g.Replay(t.Context(), engine.Position{Session: s, Run: run})
		if err != nil || !report.OK || len(report.Undecided) > 0 {
			t.Errorf("%s: %+v, %+v, %v", of, report, report.Difference, err)
		}
	}
	s, run := first.Session.SessionID, first.Session.RunID
	replayed("recorded", w, s, run)
	to := newFixture(t)
	bundle := export(t, w.g, s, 1)
	if got := take(t, to.g, bundle, false); got.Relation != travel.NewSession {
		t.Fatalf("%+v", got)
	}
	replayed("imported", to, s, run)
	fresh := take(t, to.g, bundle, true)
	if fresh.Relation != travel.NewSession {
		t.Fatalf("%+v", fresh)
	}
	list, err := to.g.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	renamed := false
	for _, r := range list.Runs {
		if r.SessionID != fresh.SessionID {
			continue
		}
		renamed = true
		replayed("imported as new", to, r.SessionID, r.RunID)
		shown, err := to.g.Run(t.Context(), r.RunID.String())
		if err != nil || len(shown.Steps[0].Checks) != 2 || !shown.Steps[0].Checks[0].Passed {
			t.Errorf("%+v, %v", shown.Steps, err)
		}
	}
	if !renamed {
		t.Error("the run with other ids is not listed")
	}
}
