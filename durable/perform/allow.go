package perform

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
)

// Allow finds out whether the commands of a workflow may run (R24): by the option,
// by the record, or by asking. A nil error says yes, also to every later call for
// the same version; WORKFLOW_UNTRUSTED says that nobody has agreed. It is called
// before a run is started, so that a refusal leaves nothing behind.
func (p *Performer) Allow(ctx context.Context, w compile.Compiled, o Options) error {
	if o.Trust || !w.HasActions() || p.allowed == w.Hash() {
		return nil
	}
	trusted, err := p.Trusted(ctx, w.Hash())
	if err != nil {
		return err
	}
	if !trusted {
		if trusted, err = p.ask(ctx, w); err != nil {
			return err
		}
	}
	if !trusted {
		return fault.New(fault.WorkflowUntrusted,
			"the workflow %q has steps that run commands, and nobody has trusted this version of it", w.WorkflowID).
			Suggest("See its commands with 'waybill workflows inspect'. Then allow this version with 'waybill "+
				"trust', or this one call with --trust.").
			With("workflowId", w.WorkflowID).With("workflowHash", w.Hash().String())
	}
	p.allowed = w.Hash()
	return nil
}

// ask is for a person at a terminal only. Leaving the question is a no: the safe
// answer must be the one that takes no effort.
func (p *Performer) ask(ctx context.Context, w compile.Compiled) (bool, error) {
	if !p.Person.Present() {
		return false, nil
	}
	answer, err := p.Person.Trust(ctx, ports.TrustQuestion{Workflow: w})
	if errors.Is(err, ports.ErrLeft) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch answer {
	case ports.TrustOnce:
		return true, nil
	case ports.TrustAlways:
		return true, p.Remember(ctx, w)
	}
	return false, nil
}
