package perform

import (
	"context"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/ports"
)

// Checker performs the checks of steps that are handed in by programs and agents. It implements
// engine.Checks: only what a person recorded counts, and no question is asked
// (docs/design.md#checks).
type Checker struct {
	Performers ports.Performers
	// Open returns what performs the commands of one call, and reads files for it.
	Open func() (Commands, error)
	// Trusted returns what was fixed when a person trusted a version of a workflow, false if it is not
	// trusted.
	Trusted func(ctx context.Context, hash canon.Digest) (trust.Fixed, bool, error)
}

// Commands are the ports of one call.
type Commands struct {
	ports.Commands
	ports.Pins
	io.Closer
}

// Perform implements engine.Checks. Errors: WORKFLOW_UNTRUSTED without recorded trust, RUN_BUSY if
// another process performs the session or the lease was lost, those of ctx and of record.
func (k Checker) Perform(ctx context.Context, in engine.HandIn, record func(ports.Hold, []advance.Artifact) error) error {
	fixed, ok, err := k.Trusted(ctx, in.Workflow.Hash())
	switch {
	case err != nil:
		return err
	case !ok:
		return engine.Untrusted(in.Workflow)
	}
	return ports.WithHold(ctx, k.Performers, in.At.Session, func(hold ports.Hold) error {
		commands, err := k.Open()
		if err != nil {
			return err
		}
		defer commands.Close()
		c := checking{commands: commands.Commands, pins: commands.Pins, fixed: fixed, flow: in.Workflow, step: in.Step,
			session: in.At.Session, run: in.At.Run, attempt: in.Attempt, key: in.StepInstanceKey, context: in.Context}
		within, leave := hold.Within(ctx)
		defer leave()
		results, err := c.perform(within)
		if err != nil {
			if lost := context.Cause(within); ctx.Err() == nil && lost != nil {
				return lost
			}
			return err
		}
		artifacts, err := artifactsOf(results)
		if err != nil {
			return err
		}
		return record(hold, artifacts)
	})
}
