package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/infra/sessiontimes"
	"github.com/waybill/waybill/projections/runs"
)

// Shell completion of arguments and flags. These functions only read. On an error they return
// no completions, since a message would appear in the middle of the line being typed.

// completionTime bounds how long the store is read for a completion, since the shell waits.
const completionTime = time.Second

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

// IsCompletion reports that the shell asks for completions: stderr must be empty then.
func (p *Process) IsCompletion() bool {
	return len(p.Args) > 0 && (p.Args[0] == cobra.ShellCompRequestCmd || p.Args[0] == cobra.ShellCompNoDescRequestCmd)
}

// asked is Ask for a completion: the result is empty on errors, for invalid common flags, and if the store
// is not read in time.
func asked[T any](a *App, cmd *cobra.Command, ask func(context.Context, *Store) (T, error)) T {
	var none T
	if a.checkCommon() != nil {
		return none
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	out, err := Ask(ctx, a, ask)
	if err != nil {
		return none
	}
	return out
}

// CompleteRunArg completes RUN as the first argument: @last and the short ids of the latest runs.
func (a *App) CompleteRunArg(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeRuns(cmd)
}

// CompleteOpenRun returns the completion of RUN as the first argument with runs that can be cancelled. @last is
// among them if the latest run is one.
func CompleteOpenRun(a *App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list := latestRuns(a, cmd, isOpen)
		var out []cobra.Completion
		if len(list) > 0 && isOpen(list[0]) {
			out = append(out, lastRun)
		}
		isClosed := func(r views.RunSummary) bool { return !isOpen(r) }
		return append(out, runCompletions(slices.DeleteFunc(list, isClosed))...), cobra.ShellCompDirectiveNoFileComp
	}
}

// isOpen reports that a run accepts steps, and can be cancelled.
func isOpen(r views.RunSummary) bool { return r.Status == runs.InProgress || r.Status == runs.Blocked }

// isRun accepts every run.
func isRun(views.RunSummary) bool { return true }

// lastRun completes the latest run.
const lastRun = cobra.Completion("@last\tthe latest run")

// latestRuns returns runs of the store, the latest first, until completionsMax are wanted. It does not create
// a store. The times of files order the sessions, since a store may have more than can be read in time.
func latestRuns(a *App, cmd *cobra.Command, wanted func(views.RunSummary) bool) []views.RunSummary {
	return asked(a, cmd, func(ctx context.Context, o *Store) ([]views.RunSummary, error) {
		times, err := sessiontimes.New(o.Dir).LatestFirst(ctx)
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

// completeRuns returns the completions of CompleteRunArg and CompleteRunFlag.
func (a *App) completeRuns(cmd *cobra.Command) ([]cobra.Completion, cobra.ShellCompDirective) {
	out := []cobra.Completion{lastRun}
	return append(out, runCompletions(latestRuns(a, cmd, isRun))...), cobra.ShellCompDirectiveNoFileComp
}

// CompleteRunIDs returns the completion of a flag that takes the complete id of a run.
func CompleteRunIDs(a *App) cobra.CompletionFunc {
	return completeIDs(a, func(r views.RunSummary) string { return r.RunID.String() })
}

// CompleteSessionIDs returns the completion of a flag that takes the complete id of a session.
func CompleteSessionIDs(a *App) cobra.CompletionFunc {
	return completeIDs(a, func(r views.RunSummary) string { return r.SessionID.String() })
}

// completeIDs returns the completion with ids of the latest runs, described by status and title.
func completeIDs(a *App, of func(views.RunSummary) string) cobra.CompletionFunc {
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

// CompleteRunFlag completes the value of a flag that names a run.
func (a *App) CompleteRunFlag(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeRuns(cmd)
}

// CompleteNodes returns the completion of a flag that names a node of a run: the steps that the run
// has shown, described by their titles. The run is that of --run, else the first argument, else the latest
// run where the command takes that.
func CompleteNodes(a *App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ref := ""
		if f := cmd.Flag("run"); f != nil {
			ref = f.Value.String()
		} else if len(args) > 0 {
			ref = args[0]
		} else if strings.HasSuffix(cmd.Use, "[RUN]") {
			ref = RunArg(nil)
		}
		if ref == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		run := asked(a, cmd, func(ctx context.Context, o *Store) (views.RunDetails, error) {
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

// CompleteFiles completes the names of files.
func CompleteFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// CompleteDirs completes the names of directories.
func CompleteDirs(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// CompleteProposals completes a proposal as the first argument: the short ids of the latest
// proposals, described by state and title.
func (a *App) CompleteProposals(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // the second argument may be a FILE
	}
	list := asked(a, cmd, func(ctx context.Context, o *Store) (learning.ProposalList, error) {
		return o.Proposals(ctx, learning.ProposalQuery{Workspace: a.Flags.Workspace})
	})
	var out []cobra.Completion
	for _, w := range list.Proposals[:min(len(list.Proposals), completionsMax)] {
		out = append(out, cobra.CompletionWithDesc(page.ShortProposal(w.ID), string(w.State)+": "+
			page.OneLine(render.ProposalTitle(w))))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// CompleteSettings completes KEY with the keys of the configuration, and VALUE with the values of a key that
// has a closed set of them.
func CompleteSettings(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
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
