package runs

import (
	"context"

	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/pages"
)

// newShow returns "runs show". The document always contains the head of the session's log; the
// text contains it only with --head.
func newShow(a *cli.App) *cobra.Command {
	var head bool
	var step, format string
	return cli.WithOptions(&cobra.Command{
		Use:   "show [RUN]",
		Short: "Show a run: its steps, notes and open gaps",
		Long: `Show a run: its status, each step with its notes and what came of it, open gaps and
blockers, the context, and the command that continues it. Without RUN, show the latest run. Of
a step that failed, the end of its output is shown.

With --step, show all that is recorded of one step: whole notes, attempts, artifacts,
assessments, the command's output, approvals, and the context that it set.

With --head, also print the head of the session's log, a digest of all its events. Store
it elsewhere, sign it or mail it: 'waybill verify --expect-head' checks later that the
log still starts with these events.

With --format openwop, print the state of the run as clients of the OpenWOP protocol get
it, the RunSnapshot: a JSON object, without secrets.`,
		Example: "  waybill runs show\n  waybill runs show k3j2a7 --step build\n" +
			"  waybill runs show @last --json | jq .data.progress\n" +
			"  waybill runs show @last --format openwop | jq .status",
		Args: cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format == openWOP {
				if head || step != "" {
					return cli.UsageFault(cmd, "--format openwop cannot be combined with --step and --head").
						Suggest("Leave them out: the snapshot has all steps.")
				}
				return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
					return printSnapshot(ctx, a, o, cli.RunArg(args))
				})
			}
			if step != "" {
				return cli.Show(a, cmd, "run", func(ctx context.Context, o *cli.Store) (views.RunDetails, error) {
					return o.RunStep(ctx, cli.RunArg(args), step)
				}, func(p *page.Page, run views.RunDetails) { showStep(a, run, p) })
			}
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				defer cli.LimitHeap()()
				return printRun(ctx, a, o, cli.RunArg(args), head)
			})
		},
	},
		cli.Opt(&step, "step ID", "show all of the step or loop ID, or of a step instance key"),
		cli.Opt(&head, "head", "also print the head of the session's log"),
		formatOption(&format, "print the run in FORMAT: openwop"))
}

// showRun prints what precedes the steps of a run: its title and origin.
func showRun(a *cli.App, p *page.Page, r views.RunDetails) {
	p.StyledText(render.Mark(p, r.Status)+" ", r.Title+"  "+render.Status(r.Status), p.Bold)
	p.Facts(render.WorkflowID(r.Workflow.WorkflowID, r.Source), r.RunID.String(),
		page.CountOf(int(r.Progress.Completed), int(r.Progress.Total))+
			" done",
		"started "+page.ClockTime(r.StartedAtMs, "2 Jan 2006 15:04"),
		"last "+page.ClockTime(r.LastAtMs, "2 Jan 2006 15:04"))
	if r.WaitUntilMs != 0 {
		p.Line("waits until %s", page.ClockTime(r.WaitUntilMs, "2 Jan 2006 15:04:05"))
	}
	if r.Pending != nil && r.Pending.Host != nil {
		p.Line("waits for the host: %s performs the step", a.Command("serve"))
	}
	if r.Goal != "" && r.Goal != r.Title {
		p.Text("goal: ", r.Goal)
	}
	showOrigin(p, r)
	showDrift(p, r)
	showSettings(p, r)
	p.Facts(render.Preferences(r.Preferences, r.PreferenceSources)...)
	render.FeedbackFacts(p, r.RunSummary)
	// A session that is not healthy accepts no further records.
	switch r.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		p.Text(p.Warn(render.ForeignMark+" "), render.ForeignNote)
		if len(r.UnknownKinds) > 0 {
			p.Text("  ", "Not known here: "+strings.Join(r.UnknownKinds, ", "))
		}
	default:
		p.Text(p.Bad("! "), "Its session is "+render.Health(r.Health)+": this is its valid beginning only, and nothing can be "+
			"recorded in it.")
	}
	p.Line("")
}

// showRest prints what follows the steps of a run: open gaps, facts, and the command that continues it. For a damaged
// session it prints the command that verifies it. At most one command is suggested. Of the steps r needs the pending one.
func showRest(a *cli.App, p *page.Page, r views.RunDetails) {
	showGaps(p, r)
	showFacts(a, p, r)
	if r.Pending != nil && r.Pending.Approval != nil && r.Pending.Approval.Given < r.Pending.Approval.Needed {
		p.Line("")
		p.Text("Waits: ", neededText(*r.Pending.Approval))
	}
	if len(r.Decisions) > 0 {
		p.Line("")
		render.ClaimNote(p, true)
	}
	// The pending step of a closed run will not be done.
	showNext(a, p, r)
}

// showNext prints the suggested command, in order of urgency. A closed run has none.
func showNext(a *cli.App, p *page.Page, r views.RunDetails) {
	if r.Health == manifest.UnknownVersion {
		if command := forkCommand(a, r); command != "" {
			p.Line("")
			p.Line("Next, to continue it in a store of your own: %s", command)
		}
		return
	}
	words := pages.Next(r, page.ShortRun(r.RunID))
	if words == nil {
		return
	}
	p.Line("")
	next := a.Command(words...)
	if r.HandedOver != nil && r.Health == manifest.Healthy {
		p.Text("", handedOverText(r.HandedOver.To))
		next = a.Command("import", "FILE") + ", or: " + next
	}
	p.Line("Next: %s", next)
}

// handedOverText says where a run continues.
func handedOverText(to string) string {
	if to != "" {
		to = " to " + page.OneLine(to)
	}
	return "Handed over" + to + ": it takes no steps here until the bundle comes home."
}

// showDrift prints the warning of withDrift.
func showDrift(p *page.Page, r views.RunDetails) {
	for _, w := range r.Warnings {
		if w.Code == warning.WorkflowDrifted {
			p.Text(p.Warn("! "), w.Message)
		}
	}
}

// forkCommand returns the command that continues a run of another program in another store, "" for one
// that cannot be forked.
func forkCommand(a *cli.App, r views.RunDetails) string {
	dir, err := a.StoreName()
	if err != nil || len(r.UnknownKinds) > 0 {
		return ""
	}
	command := fault.Command{"fork", r.RunID.String(), "--from-store", dir}
	if a.Flags.Store == "" && a.Flags.Tenant == "" {
		command = append(command, "--store", "DIR") // the store of the run is the default one
	}
	return command.Line()
}

// showGaps lists the blockers and open gaps on the path to the tip. Suggested fixes of blockers
// are for programs and are not printed.
func showGaps(p *page.Page, r views.RunDetails) {
	if len(r.Gaps)+len(r.Blockers) == 0 {
		return
	}
	p.Line("")
	p.Line("%s", p.Bold("Open"))
	for _, b := range r.Blockers {
		// The suggested fix is for callers of the program that wrote the blocker.
		p.Text("  "+p.Bad("blocked")+"  ", render.Sentence(b.Message))
	}
	// Only critical gaps have the color of errors.
	for _, g := range r.Gaps {
		word := p.Warn(string(g.Severity))
		if g.Severity == event.Critical {
			word = p.Bad(string(g.Severity))
		}
		p.Text("  "+word+"  ", render.Sentence(g.Summary))
	}
}
