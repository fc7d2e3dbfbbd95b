package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/verify"
)

// newAuditVerify returns "audit verify". It checks the audit log, and compares it
// with the events in the other logs in both directions. The exit status is 5 for
// errors. A missing line after an interrupted call is only a warning, since the
// next write adds it.
func newAuditVerify(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Verify the audit log against the other logs",
		Long: `Check the hash chain and every digest of the audit log, that each line refers to an
existing event, and that each event which requires a line has one. Nothing is changed.

Exit status: 0 without errors, 5 when data was lost or changed. A missing line after an
interrupted call is a warning; the next write to the audit log adds it.`,
		Example: "  waybill audit verify\n  waybill audit verify --json | jq .data.head.digest",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.ShowVerdict(a, cmd, "audit_verification",
				func(ctx context.Context, o *cli.Store) (verify.AuditVerification, error) { return o.AuditVerify(ctx) },
				showAuditVerification,
				func(v verify.AuditVerification) int { return cli.IntegrityStatus(v.OK) })
		},
	}
}

// showAuditVerification prints the findings, and below them the number of checked
// lines with the result.
func showAuditVerification(p *page.Page, v verify.AuditVerification) {
	errs, warns := render.Findings(p, v.Findings)
	sum := page.Plural(int(v.Events), "line") + " checked: "
	switch {
	case !v.OK:
		p.Text(p.Bad("✗ "), sum+page.ErrorCount(errs, warns)+".")
	case warns > 0:
		p.Text(p.Warn("! "), sum+"no errors, "+page.Plural(warns, "warning")+".")
	default:
		p.Text(p.Good("✓ "), sum+"no errors.")
	}
}
