package perform

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
)

// Allow decides whether the commands of a workflow may run
// (docs/design.md#commands-and-trust): by the option for this version, by recorded trust, or by
// asking the person. nil permits them, also in later calls for the same
// version. WORKFLOW_UNTRUSTED otherwise. from is the source of the workflow, which is shown. Callers use it before they start a
// run, so that a refusal leaves nothing behind.
func (p *Performer) Allow(ctx context.Context, w compile.Compiled, from string, o Options) error {
	checks, byOption := w.Checks(), o.Trust == w.Hash()
	if !w.HasActions() || byOption && len(checks) == 0 || p.allowed == w.Hash() && !p.EachStep {
		return nil
	}
	fixed, trusted, err := p.Trusted(ctx, w.Hash())
	before := false
	if err == nil && byOption && !trusted {
		before, err = p.TrustedBefore(ctx, w.Hash())
	}
	switch {
	case err == nil && byOption && !trusted && !before:
		// What a person recorded precedes the option, which would fix the files as they are now: also
		// what was recorded for another folder, or revoked.
		trusted = true
		fixed, err = p.Pins.Fix(ctx, checks)
	case err == nil && !trusted:
		fixed, trusted, err = p.askTrust(ctx, w, from, o.Context)
	}
	switch {
	case err != nil:
		return err
	case !trusted && before:
		return fault.New(fault.WorkflowUntrusted, "a person trusted this version of the workflow %q, with the files of its checks, "+
			"in another folder or until that was revoked: --trust does not replace that", w.WorkflowID).
			Suggest("Let a person trust it here, with %s.", fault.Command{"trust", w.Hash().String()}).
			With("workflowId", w.WorkflowID).With("workflowHash", w.Hash().String())
	case !trusted:
		return fault.New(fault.WorkflowUntrusted,
			"the workflow %q has steps that run commands, and this version of it is not trusted", w.WorkflowID).
			Suggest("See its commands with %s. Then allow this version with %s, or this one call with --trust.",
				fault.Command{"workflows", "inspect"}, fault.Command{"trust"}).
			With("workflowId", w.WorkflowID).With("workflowHash", w.Hash().String())
	}
	p.allowed, p.fixed = w.Hash(), fixed
	return nil
}

// askTrust asks a person at a terminal. Leaving the question is a refusal: the
// answer that takes no effort must be the safe one. What the checks depend on is
// fixed before, since the question shows it.
func (p *Performer) askTrust(ctx context.Context, w compile.Compiled, from string, values canon.Value) (trust.Fixed, bool,
	error) {
	if !p.Person.CanConsent() {
		return trust.Fixed{}, false, nil
	}
	fixed, err := p.Pins.Fix(ctx, w.Checks())
	if err != nil {
		return fixed, false, err
	}
	q := ports.TrustQuestion{Workflow: w, Source: from, Values: values, Fixed: fixed}
	if p.OnlyOnce != nil {
		q.OnlyOnce = p.OnlyOnce(ctx)
	}
	answer, err := p.Person.Trust(ctx, q)
	switch {
	case errors.Is(err, ports.ErrPersonStopped):
		return fixed, false, nil
	case err == nil && answer == ports.TrustAlways:
		err = p.Remember(ctx, w, fixed)
	}
	return fixed, answer == ports.TrustOnce || answer == ports.TrustAlways, err
}
