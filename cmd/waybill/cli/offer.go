package cli

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
)

// What the tab key offers in a shell. It looks, and never makes or changes
// anything; whatever goes wrong, it offers nothing rather than an error in the
// middle of the line that is typed.

// offeredRuns is how many runs or proposals the shell is offered: more than a
// person remembers do not help.
const offeredRuns = 30

// OfferWorkflows completes FILE|ID: ids with the names of their workflows.
// Where none fits, the shell continues with files. What goes wrong offers
// nothing: an error would appear in the middle of the line that is typed.
func (a *App) OfferWorkflows(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := a.Catalog(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []cobra.Completion
	for _, e := range c.Entries {
		if e.Valid() && len(e.Twins) == 0 {
			out = append(out, cobra.CompletionWithDesc(e.ID, page.Clean(e.Name)))
		}
	}
	return out, cobra.ShellCompDirectiveDefault
}

// OfferRuns completes RUN as the first argument: @last, and the latest runs by
// the beginnings of their ids.
func (a *App) OfferRuns(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.offerRunNames(cmd)
}

// offerRunNames lists the runs for OfferRuns and OfferRunFlag. It opens the
// store to read, and makes none.
func (a *App) offerRunNames(cmd *cobra.Command) ([]cobra.Completion, cobra.ShellCompDirective) {
	out := []cobra.Completion{cobra.CompletionWithDesc("@last", "the latest run")}
	o, err := a.Open(cmd.Context())
	if err != nil {
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	defer o.Close()
	list, err := o.Runs(cmd.Context())
	if err != nil {
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	for _, r := range list.Runs[:min(len(list.Runs), offeredRuns)] {
		out = append(out, cobra.CompletionWithDesc(page.ShortRun(r.RunID), render.Status(r.Status)+": "+
			page.Clean(r.Title)))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// OfferRunFlag completes the value of a flag that names a run.
func (a *App) OfferRunFlag(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.offerRunNames(cmd)
}

// OfferProposals completes a proposal as the first argument: the latest ones by
// the beginnings of their ids, each with its state and title.
func (a *App) OfferProposals(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // a FILE may follow
	}
	o, err := a.Open(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer o.Close()
	list, err := o.Proposals(cmd.Context(), engine.ProposalQuery{Workspace: a.Flags.Workspace})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, w := range list.Proposals[:min(len(list.Proposals), offeredRuns)] {
		out = append(out, cobra.CompletionWithDesc(page.ShortProposal(w.ID), string(w.State)+": "+
			page.Clean(render.ProposalTitle(w))))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
