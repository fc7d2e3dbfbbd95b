// Package complete completes arguments and flags for a shell with what the store, the configuration and the
// catalog hold. Its functions only read. On an error they return no completions, since a message would appear in
// the middle of the line being typed. It is used by a call of the shell alone, and does not print.
package complete

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/projections/runs"
)

// completionsMax bounds how many runs or proposals are offered to the shell; longer lists are
// hard to choose from.
const completionsMax = 30

// Workflows completes FILE|ID with the ids of usable workflows, described by their names.
// If none matches, the shell continues with file names.
func Workflows(a *cli.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
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
}

// RunArg completes RUN as the first argument: @last and the short ids of the latest runs.
func RunArg(a *cli.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeRuns(a, cmd)
	}
}

// OpenRun returns the completion of RUN as the first argument with runs that can be cancelled.
func OpenRun(a *cli.App) cobra.CompletionFunc { return someRun(a, isOpen) }

// PausedRun returns the completion of RUN as the first argument with runs that can be resumed.
func PausedRun(a *cli.App) cobra.CompletionFunc {
	return someRun(a, func(r views.RunSummary) bool { return r.Status == runs.Paused })
}

// someRun returns the completion of RUN as the first argument with the runs that are accepted. @last is among them if the
// latest run is one.
func someRun(a *cli.App, accept func(views.RunSummary) bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list := latestRuns(a, cmd, accept)
		var out []cobra.Completion
		if len(list) > 0 && accept(list[0]) {
			out = append(out, lastRun)
		}
		refused := func(r views.RunSummary) bool { return !accept(r) }
		return append(out, runCompletions(slices.DeleteFunc(list, refused))...), cobra.ShellCompDirectiveNoFileComp
	}
}

// isOpen reports that a run has not ended, and can be cancelled.
func isOpen(r views.RunSummary) bool {
	return r.Status == runs.InProgress || r.Status == runs.Blocked || r.Status == runs.Paused
}

// isRun accepts every run.
func isRun(views.RunSummary) bool { return true }

// lastRun completes the latest run.
const lastRun = cobra.Completion("@last\tthe latest run")

// latestRuns returns runs of the store, the latest first, until completionsMax are wanted. It does not create
// a store. The times of files order the sessions, since a store may have more than can be read in time.
func latestRuns(a *cli.App, cmd *cobra.Command, wanted func(views.RunSummary) bool) []views.RunSummary {
	return cli.AskBriefly(a, cmd, func(ctx context.Context, o *cli.Store) ([]views.RunSummary, error) {
		times, err := o.Ports.LatestFirst(ctx)
		var sessions []id.Session
		for _, at := range times {
			sessions = append(sessions, at.Session)
		}
		return lists.LatestRuns(ctx, o.Lists, sessions, completionsMax, wanted), err
	})
}

// runCompletions returns the short ids of runs, described by status and title.
func runCompletions(list []views.RunSummary) (out []cobra.Completion) {
	for _, r := range list[:min(len(list), completionsMax)] {
		out = append(out, cobra.CompletionWithDesc(page.ShortRun(r.RunID), describe(r)))
	}
	return out
}

// completeRuns returns the completions of RunArg and RunFlag.
func completeRuns(a *cli.App, cmd *cobra.Command) ([]cobra.Completion, cobra.ShellCompDirective) {
	out := []cobra.Completion{lastRun}
	return append(out, runCompletions(latestRuns(a, cmd, isRun))...), cobra.ShellCompDirectiveNoFileComp
}

// RunIDs returns the completion of a flag that takes the complete id of a run.
func RunIDs(a *cli.App) cobra.CompletionFunc {
	return completeIDs(a, func(r views.RunSummary) string { return r.RunID.String() })
}

// SessionIDs returns the completion of a flag that takes the complete id of a session.
func SessionIDs(a *cli.App) cobra.CompletionFunc {
	return completeIDs(a, func(r views.RunSummary) string { return r.SessionID.String() })
}

// completeIDs returns the completion with ids of the latest runs, described by status and title.
func completeIDs(a *cli.App, of func(views.RunSummary) string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		list := latestRuns(a, cmd, isRun)
		var out []cobra.Completion
		for _, r := range list[:min(len(list), completionsMax)] {
			out = append(out, cobra.CompletionWithDesc(of(r), describe(r)))
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// describe returns the status and the title of a run.
func describe(r views.RunSummary) string {
	return render.Status(r.Status) + ": " + page.OneLine(r.Title)
}

// RunFlag completes the value of a flag that names a run.
func RunFlag(a *cli.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completeRuns(a, cmd)
	}
}

// Nodes returns the completion of a flag that names a node of a run: the steps that the run
// has shown, described by their titles. The run is that of --run, else the first argument, else the latest
// run where the command takes that.
func Nodes(a *cli.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ref := ""
		if f := cmd.Flag("run"); f != nil {
			ref = f.Value.String()
		} else if len(args) > 0 {
			ref = args[0]
		} else if strings.HasSuffix(cmd.Use, "[RUN]") {
			ref = cli.RunArg(nil)
		}
		if ref == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		run := cli.AskBriefly(a, cmd, func(ctx context.Context, o *cli.Store) (views.RunDetails, error) {
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

// Files completes the names of files.
func Files(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// Dirs completes the names of directories.
func Dirs(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// Proposals completes a proposal as the first argument: the short ids of the latest
// proposals, described by state and title.
func Proposals(a *cli.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault // the second argument may be a FILE
		}
		list := cli.AskBriefly(a, cmd, func(ctx context.Context, o *cli.Store) (learning.ProposalList, error) {
			return o.Proposals(ctx, learning.ProposalQuery{Workspace: a.Flags.Workspace})
		})
		var out []cobra.Completion
		for _, w := range list.Proposals[:min(len(list.Proposals), completionsMax)] {
			out = append(out, cobra.CompletionWithDesc(page.ShortProposal(w.ID), string(w.State)+": "+
				page.OneLine(render.ProposalTitle(w))))
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// Settings completes KEY with the keys of the configuration, and VALUE with the values of a key that
// has a closed set of them.
func Settings(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	switch len(args) {
	case 0:
		for _, row := range config.Table {
			out = append(out, cobra.CompletionWithDesc(string(row.Key), row.Want))
		}
	case 1: // of config get, there is no second argument
		if cmd.Args(cmd, []string{args[0], ""}) != nil {
			break
		}
		out = append(out, config.Words(config.Key(args[0]))...)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
