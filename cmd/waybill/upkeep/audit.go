package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/log/audit"
)

// auditLong is what 'waybill audit --help' prints above the usage.
const auditLong = `The audit log records decisions about a store: approvals, canceled runs, autonomy
overrides, trusted commands, deletions, cleanups, repairs, imports, annotations and
proposals. An action is recorded before it is executed, and its outcome afterwards.
Secrets are removed from reasons. The commands below only read the log.`

// NewAudit returns the command "audit" with its subcommands. All of them only read.
func NewAudit(a *cli.App) *cobra.Command {
	return cli.NewGroup("audit", cli.GroupInspect, "List and verify recorded decisions", auditLong, newAuditList(a),
		newAuditShow(a), newAuditVerify(a))
}

// auditListLong returns what 'waybill audit list --help' prints above the usage. The
// actions are listed from the closed set, so that none can be missing.
func auditListLong() string {
	return `List the recorded actions, latest last: time, actor, action, target and outcome. An
action without an outcome was interrupted, or is in progress.

--since takes a date (2006-01-02), a time (2006-01-02T15:04:05Z) or a duration before
now (36h, 7d, 2w).

` + page.Wrap("ACTION is one of "+page.JoinWords(audit.Actions())+".", page.HelpWidth)
}

// newAuditList returns "audit list". Actions are a closed set; dashes are accepted
// instead of underscores. The engine applies the filters before the limit.
//
// The document has the member "complete". It is false if the audit log is
// damaged: actions may be missing, and the findings are part of the answer.
func newAuditList(a *cli.App) *cobra.Command {
	var q verify.AuditQuery
	var since string
	var details bool
	return cli.WithOptions(&cobra.Command{
		Use:   "list",
		Short: "List recorded actions with actor and outcome",
		Long:  auditListLong(),
		Example: "  waybill audit list\n  waybill audit list --since 7d --action approve\n" +
			"  waybill audit list --limit 20 --json",
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Limit < 0 {
				return cli.UsageFault(cmd, "--limit %d is negative", q.Limit)
			}
			var err error
			if q.SinceMs, err = cli.SinceMs(a, cmd, since); err != nil {
				return err
			}
			return cli.Show(a, cmd, "audit",
				func(ctx context.Context, o *cli.Store) (verify.AuditTrail, error) { return o.AuditList(ctx, q) },
				func(p *page.Page, list verify.AuditTrail) {
					showAuditList(p, list, q != verify.AuditQuery{})
					if details {
						render.Members(p, list)
					}
				})
		},
	},
		cli.Opt(&since, "since TIME", "only actions since TIME: a date, a time, or a duration before now"),
		cli.OneOf(&q.Action, "action ACTION", audit.Actions(), "only actions of the kind ACTION"),
		cli.Opt(&q.Limit, "limit N", "only the latest N actions (default 0, all)"),
		cli.Opt(&details, "details", "also print all recorded members, one a line"), cli.Lines(a, "entries"))
}
