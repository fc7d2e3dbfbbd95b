package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
)

func newAuditVerifyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check the audit log against what it tells of",
		Long: `Check the chain and every digest of the audit log, that each of its lines is about a
fact that is there, and that each fact has its line. Nothing is changed.

Errors, which say that something was lost or changed, end with exit status 5. A fact
whose line is still to be written, after an interrupted call, is a warning; the next
line that is written completes it.`,
		Example: "  waybill audit verify\n  waybill audit verify --json | jq .data.head.digest",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			v, err := o.AuditVerify(cmd.Context())
			if err != nil {
				return err
			}
			if err := a.answer("audit_verification", v, func(p *page) { p.auditVerification(v) }); err != nil || v.OK {
				return err
			}
			return exitWith(fault.ExitIntegrity)
		},
	}
}

func (p *page) auditVerification(v engine.AuditVerification) {
	errs, warns := p.auditFindings(v.Findings)
	sum := plural(int(v.Events), "line") + " checked: "
	switch {
	case !v.OK:
		p.text(p.bad("✗ "), sum+tally(errs, warns)+".")
	case warns > 0:
		p.text(p.warn("! "), sum+"no errors, "+plural(warns, "warning")+".")
	default:
		p.text(p.good("✓ "), sum+"everything is as it was written.")
	}
}
