package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/views"
)

// Shell completion of arguments and flags. These functions only read. On an error they return
// no completions, since a message would appear in the middle of the line being typed.

// completionsMax bounds how many runs or proposals are offered to the shell; longer lists are
// hard to choose from.
const completionsMax = 30

// CompleteWorkflows completes FILE|ID with the ids of usable workflows, described by their names.
// If none matches, the shell continues with file names.
func (a *App) CompleteWorkflows(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
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
		if e.Valid() && len(e.Duplicates) == 0 && e.ShadowedBy == "" && e.ReplacedBy == "" {
			out = append(out, cobra.CompletionWithDesc(e.ID, page.OneLine(e.Name)))
		}
	}
	return out, cobra.ShellCompDirectiveDefault
}

// CompleteRunArg completes RUN as the first argument: @last and the short ids of the latest runs.
func (a *App) CompleteRunArg(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeRuns(cmd)
}

// completeRuns returns the completions of CompleteRunArg and CompleteRunFlag, described by status and
// title. It reads the store and does not create one.
func (a *App) completeRuns(cmd *cobra.Command) ([]cobra.Completion, cobra.ShellCompDirective) {
	out := []cobra.Completion{cobra.CompletionWithDesc("@last", "the latest run")}
	list, _ := Ask(cmd.Context(), a, func(ctx context.Context, o *Store) (views.RunList, error) { return o.Runs(ctx) })
	for _, r := range list.Runs[:min(len(list.Runs), completionsMax)] {
		out = append(out, cobra.CompletionWithDesc(page.ShortRun(r.RunID), render.Status(r.Status)+": "+
			page.OneLine(r.Title)))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// CompleteRunFlag completes the value of a flag that names a run.
func (a *App) CompleteRunFlag(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeRuns(cmd)
}

// CompleteNodes returns the completion of a flag that names a node of a run: the steps that the run
// has shown, described by their titles. The run is that of --run, else the first argument.
func CompleteNodes(a *App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ref := ""
		if f := cmd.Flag("run"); f != nil {
			ref = f.Value.String()
		} else if len(args) > 0 {
			ref = args[0]
		}
		if ref == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		run, _ := Ask(cmd.Context(), a, func(ctx context.Context, o *Store) (views.RunDetails, error) {
			return o.Run(ctx, ref)
		})
		var out []cobra.Completion
		for _, s := range run.Steps[max(len(run.Steps)-completionsMax, 0):] {
			if s.NodeID != nil {
				out = append(out, cobra.CompletionWithDesc(s.StepInstanceKey, page.OneLine(s.Title)))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteProposals completes a proposal as the first argument: the short ids of the latest
// proposals, described by state and title.
func (a *App) CompleteProposals(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // the second argument may be a FILE
	}
	list, _ := Ask(cmd.Context(), a, func(ctx context.Context, o *Store) (learning.ProposalList, error) {
		return o.Proposals(ctx, learning.ProposalQuery{Workspace: a.Flags.Workspace})
	})
	var out []cobra.Completion
	for _, w := range list.Proposals[:min(len(list.Proposals), completionsMax)] {
		out = append(out, cobra.CompletionWithDesc(page.ShortProposal(w.ID), string(w.State)+": "+
			page.OneLine(render.ProposalTitle(w))))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
