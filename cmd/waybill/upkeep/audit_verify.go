package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
)

// newAuditVerify makes "audit verify". It checks the audit log, and compares it
// with the facts in the other logs in both directions. Errors end with exit
// status 5; a warning, such as a line that is still to be written after an
// interrupted call, does not.
func newAuditVerify(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check the audit log against what it tells of",
		Long: `Check the chain and every digest of the audit log, that each of its lines is about a
fact that is there, and that each fact has its line. Nothing is changed.

Errors, which say that something was lost or changed, end with exit status 5. A fact
whose line is still to be written, after an interrupted call, is a warning; the next
line that is written completes it.`,
		Example: "  waybill audit verify\n  waybill audit verify --json | jq .data.head.digest",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.ShowVerdict(a, cmd, "audit_verification",
				func(ctx context.Context, o *cli.Store) (engine.AuditVerification, error) { return o.AuditVerify(ctx) },
				showAuditVerification,
				func(v engine.AuditVerification) int { return cli.IntegrityUnless(v.OK) })
		},
	}
}

// showAuditVerification prints the findings and then the sums in one line.
func showAuditVerification(p *page.Page, v engine.AuditVerification) {
	errs, warns := showAuditFindings(p, v.Findings)
	sum := page.Plural(int(v.Events), "line") + " checked: "
	switch {
	case !v.OK:
		p.Text(p.Bad("✗ "), sum+page.Tally(errs, warns)+".")
	case warns > 0:
		p.Text(p.Warn("! "), sum+"no errors, "+page.Plural(warns, "warning")+".")
	default:
		p.Text(p.Good("✓ "), sum+"everything is as it was written.")
	}
}
