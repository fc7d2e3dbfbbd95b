package upkeep

import (
	"context"
	"strconv"
	"strings"
	"time"

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

// auditListLong is what 'waybill audit list --help' prints above the usage. The
// actions are listed from the closed set, so that none can be missing.
var auditListLong = `List the recorded actions, latest last: time, actor, action, target and outcome. An
action without an outcome was interrupted, or is in progress.

--since takes a date (2006-01-02), a time (2006-01-02T15:04:05Z) or a duration before
now (36h, 7d, 2w).

` + page.Wrap("ACTION is one of "+page.JoinWords(audit.Actions())+".", page.HelpWidth)

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
		Long:  auditListLong,
		Example: "  waybill audit list\n  waybill audit list --since 7d --action approve\n" +
			"  waybill audit list --limit 20 --json",
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Limit < 0 {
				return cli.UsageFault(cmd, "--limit %d is negative", q.Limit)
			}
			if since != "" {
				// The clock of the call and not time.Now, so that tests can set it.
				at, ok := sinceTime(since, a.Clock())
				if !ok {
					return cli.UsageFault(cmd, "--since %q is neither a time nor a duration", since).
						Suggest("Give a date such as 2006-01-02, or a duration before now: 36h, 7d, 2w.")
				}
				q.SinceMs = at.UnixMilli()
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
		cli.Opt(&since, "since", "only actions since `TIME`: a date, a time, or a duration before now"),
		cli.OneOf(&q.Action, "action", audit.Actions(), "only actions of the kind `ACTION`"),
		cli.Opt(&q.Limit, "limit", "only the latest `N` actions (default 0, all)"),
		cli.Opt(&details, "details", "also print all recorded members, one a line"))
}

// sinceTime parses a date, an RFC 3339 time, or a duration before now such as
// 36h, 7d and 2w. A date is midnight in the local time zone. ok is false for
// anything else, and for a negative or too large duration. Days and weeks are
// counted by the calendar, so that 1d is the same time of day also when the
// clocks changed.
func sinceTime(s string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return at, true
		}
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		if text, ok := strings.CutSuffix(s, unit); ok {
			// 16 bits of days are 179 years, more than any store is old; the
			// product below cannot overflow.
			n, err := strconv.ParseUint(text, 10, 16)
			return now.AddDate(0, 0, -days*int(n)), err == nil
		}
	}
	d, err := time.ParseDuration(s)
	return now.Add(-d), err == nil && d >= 0
}
