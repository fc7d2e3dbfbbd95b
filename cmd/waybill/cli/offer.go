package cli

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
)

// What the tab key offers in a shell. It looks, and never makes or changes
// anything; whatever goes wrong, it offers nothing rather than an error in the
// middle of somebody's line.

// offeredRuns is how many runs are offered: those that one still remembers.
const offeredRuns = 30

// OfferWorkflows offers ids, with the workflows' names; where none fits, the shell
// goes on with files.
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

// OfferRuns offers the latest runs by their short names.
func (a *App) OfferRuns(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.offerRunNames(cmd)
}

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

// OfferRunFlag is OfferRuns for a flag.
func (a *App) OfferRunFlag(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.offerRunNames(cmd)
}

// OfferProposals offers the latest proposals by their short names, with what they are
// about.
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
