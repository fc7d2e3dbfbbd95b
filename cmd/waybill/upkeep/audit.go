package upkeep

import (
	"context"

	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/infra/terminal"
)

// auditLong is what 'waybill audit --help' prints above the usage.
const auditLong = `The audit log holds what people decided about a store: approvals, runs that were ended,
runs that were told never to stop, commands that were trusted, deletions, cleanups,
repairs, imports; and what was said of runs and proposed. Each act was put on record
before it was carried out, and its outcome behind it. Secrets are taken out of what was
said. Nothing here changes the log.`

// NewAudit makes the command "audit" with its subcommands. Both only read.
func NewAudit(a *cli.App) *cobra.Command {
	return cli.NewGroup("audit", cli.GroupLook, "See who decided what about the store", auditLong, newAuditList(a),
		newAuditVerify(a))
}

// auditListLong is the help of 'waybill audit list'. It names the actions from
// the closed set, so that it cannot miss one.
var auditListLong = `List what was decided about the store, the latest last: when, by whom, what about, and
what came of it. What was intended and has no outcome was cut off, or is being done at
this moment.

--since takes a date (2006-01-02), a time (2006-01-02T15:04:05Z) or how long ago: 36h,
7d, 2w.

` + terminal.Wrap("ACTION is one of "+actionWords()+".", page.HelpWidth)

// newAuditList makes "audit list". Actions are a closed set; people may write
// them with dashes. The filters are the engine's, so that a limit counts what
// is left after them.
//
// The document says whether it is complete: where the audit log is damaged,
// acts may be missing, and what was found is part of the answer.
func newAuditList(a *cli.App) *cobra.Command {
	var q engine.AuditQuery
	var since, action string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what was decided, by whom, and what came of it",
		Long:  auditListLong,
		Example: "  waybill audit list\n  waybill audit list --since 7d --action approve\n" +
			"  waybill audit list --limit 20 --json",
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			// People may write it with dashes, as in other flags.
			if q.Action = audit.Action(strings.ReplaceAll(action, "-", "_")); action != "" &&
				!slices.Contains(audit.Actions(), q.Action) {
				return cli.UsageFault(cmd, "there is no action %q", action).Suggest("Use %s.", actionWords())
			}
			if q.Limit < 0 {
				return cli.UsageFault(cmd, "--limit %d is negative", q.Limit)
			}
			if since != "" {
				// The clock of the call, so that tests and users get the
				// same.
				at, ok := sinceTime(since, a.Clock())
				if !ok {
					return cli.UsageFault(cmd, "--since cannot be %q", since).
						Suggest("Give a date such as 2006-01-02, or how long ago: 36h, 7d, 2w.")
				}
				q.SinceMs = at.UnixMilli()
			}
			return cli.Show(a, cmd, "audit",
				func(ctx context.Context, o *cli.Store) (engine.AuditTrail, error) { return o.AuditList(ctx, q) },
				func(p *page.Page, trail engine.AuditTrail) { showAuditTrail(p, trail, q != engine.AuditQuery{}) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&since, "since", "", "only from `TIME` on: a date, or how long ago")
	f.StringVar(&action, "action", "", "only what is `ACTION`")
	f.IntVar(&q.Limit, "limit", 0, "only the latest `N`; 0 lists all")
	_ = cmd.RegisterFlagCompletionFunc("action", cobra.FixedCompletions(strings.Split(actionWords(), ", "),
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// actionWords lists the actions for help, errors and completion.
func actionWords() string {
	var words []string
	for _, a := range audit.Actions() {
		words = append(words, string(a))
	}
	return strings.Join(words, ", ")
}

// sinceTime reads a date, a time, or a duration before now such as 36h, 7d and
// 2w. A date begins at midnight in the zone of the reader. ok is false for
// anything else, and for a duration that is negative or too long for any
// record. Days and weeks follow the calendar, so that they span a change of the
// clocks.
func sinceTime(s string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return at, true
		}
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		if text, ok := strings.CutSuffix(s, unit); ok {
			// More days than that are before anything could be recorded.
			// 16 bits of days are 179 years.
			n, err := strconv.ParseUint(text, 10, 16)
			return now.AddDate(0, 0, -days*int(n)), err == nil
		}
	}
	d, err := time.ParseDuration(s)
	return now.Add(-d), err == nil && d >= 0
}
