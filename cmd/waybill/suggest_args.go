package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
)

// What the tab key offers in a shell. It looks, and never makes or changes
// anything; whatever goes wrong, it offers nothing rather than an error in the
// middle of somebody's line.

// offeredRuns is how many runs are offered: those that one still remembers.
const offeredRuns = 30

// offerWorkflows offers ids, with the workflows' names; where none fits, the shell
// goes on with files.
func (a *app) offerWorkflows(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := a.catalog(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []cobra.Completion
	for _, e := range c.Entries {
		if e.Valid() && len(e.Twins) == 0 {
			out = append(out, cobra.CompletionWithDesc(e.ID, clean(e.Name)))
		}
	}
	return out, cobra.ShellCompDirectiveDefault
}

// offerRuns offers the latest runs by their short names.
func (a *app) offerRuns(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.offerRunNames(cmd)
}

func (a *app) offerRunNames(cmd *cobra.Command) ([]cobra.Completion, cobra.ShellCompDirective) {
	out := []cobra.Completion{cobra.CompletionWithDesc("@last", "the latest run")}
	o, err := a.open(cmd.Context())
	if err != nil {
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	defer o.close()
	list, err := o.Runs(cmd.Context())
	if err != nil {
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	for _, r := range list.Runs[:min(len(list.Runs), offeredRuns)] {
		out = append(out, cobra.CompletionWithDesc(shortRun(r.RunID), told(r.Status)+": "+clean(r.Title)))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// offerRunFlag is offerRuns for a flag.
func (a *app) offerRunFlag(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.offerRunNames(cmd)
}

// offerProposals offers the latest proposals by their short names, with what they are
// about.
func (a *app) offerProposals(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // a FILE may follow
	}
	o, err := a.open(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer o.close()
	list, err := o.Proposals(cmd.Context(), engine.ProposalQuery{Workspace: a.common.workspace})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, w := range list.Proposals[:min(len(list.Proposals), offeredRuns)] {
		out = append(out, cobra.CompletionWithDesc(shortProposal(w.ID), string(w.State)+": "+clean(titleOfProposal(w))))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// offerEverything says what the tab key offers where. It stands in one place, so
// that a command that takes a run or a workflow is not forgotten.
func (a *app) offerEverything(root *cobra.Command) {
	for _, path := range [][]string{{"run"}, {"start"}, {"trust"}, {"workflows", "inspect"}, {"workflows", "validate"},
		{"workflows", "compile"}} {
		if cmd, _, err := root.Find(path); err == nil {
			cmd.ValidArgsFunction = a.offerWorkflows
		}
	}
	for _, path := range [][]string{{"runs", "show"}, {"runs", "events"}, {"runs", "timeline"}, {"runs", "graph"},
		{"runs", "watch"}, {"runs", "cancel"},
		{"sessions", "keep"}, {"sessions", "delete"}, {"approve"}, {"fork"}, {"replay"}, {"verify"}, {"export"},
		{"repair"},
		{"annotate"}, {"annotations", "list"}, {"annotations", "summary"}, {"annotations", "retract"}} {
		if cmd, _, err := root.Find(path); err == nil {
			cmd.ValidArgsFunction = a.offerRuns
		}
	}
	for _, name := range []string{"get", "revise", "approve", "apply", "reject", "archive", "rollback"} {
		if cmd, _, err := root.Find([]string{"proposals", name}); err == nil {
			cmd.ValidArgsFunction = a.offerProposals
		}
	}
	for _, name := range []string{"run", "continue", "checkpoint"} {
		if cmd, _, err := root.Find([]string{name}); err == nil && cmd.Flag("run") != nil {
			_ = cmd.RegisterFlagCompletionFunc("run", a.offerRunFlag)
		}
	}
}
