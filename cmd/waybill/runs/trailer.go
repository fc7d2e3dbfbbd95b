package runs

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/commits"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/redact/faults"
	"github.com/waybill/waybill/infra/gitobserver"
)

// trailerLong is what 'waybill trailer --help' prints above the usage.
const trailerLong = `Print the trailer for the message of a commit that is made now: the run that is worked on
in this repository, and the head of its log, as 'waybill verify' shows it.

    Waybill-Run: run_… sha256:…

The run is the one with the latest activity of those that were started in this repository
and are open, imported ones excepted; --run names any other. Without one nothing is
printed and the exit status is 0, also if the store cannot be read: a hook must not stop a
commit. The reason is on stderr at a terminal, and with --json in the document. The command
takes no lock, writes nothing, and searches for half a second at most.

--print-hook prints a hook of git that adds the trailer. It is a prepare-commit-msg hook;
installed as commit-msg too, it also serves messages that are written in an editor. It
leaves the message as it is when anything fails, and while a rebase copies commits. Check
that the file does not exist before you write it:

    hooks=$(git rev-parse --git-path hooks)
    waybill trailer --print-hook > "$hooks/prepare-commit-msg"
    chmod +x "$hooks/prepare-commit-msg"
    ln -s prepare-commit-msg "$hooks/commit-msg"

'waybill who COMMIT' shows what a trailer names.`

// trailerInput holds the flags of trailer.
type trailerInput struct {
	run       string
	printHook bool
}

// searchTime bounds how long a commit waits for its trailer.
const searchTime = 500 * time.Millisecond

// NewTrailer returns the command "trailer". It only reads.
func NewTrailer(a *cli.App) *cobra.Command {
	var in trailerInput
	return cli.WithOptions(&cobra.Command{
		Use:     "trailer",
		GroupID: cli.GroupInspect,
		Short:   "Print the trailer that names the open run in a commit",
		Long:    trailerLong,
		Example: "  waybill trailer\n  waybill trailer --run @last --json\n  waybill trailer --print-hook",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case in.run == "" && cmd.Flags().Changed("run"):
				return cli.EmptyFlag("run")
			case in.run != "" && in.printHook:
				return cli.UsageFault(cmd, "--run and --print-hook cannot be combined")
			case in.printHook:
				return printHook(a)
			}
			return printTrailer(cmd.Context(), a, in.run)
		},
	},
		cli.Opt(&in.run, "run RUN", "name this RUN instead, open or not"),
		cli.Opt(&in.printHook, "print-hook", "print a prepare-commit-msg hook of git that adds the trailer"))
}

// printTrailer prints the trailer of a run that is named, or of the open run of the repository. Only for a run that is named
// an error ends the command.
func printTrailer(ctx context.Context, a *cli.App, run string) error {
	a.WaitAtMost(0)
	found, err := cli.Ask(ctx, a, func(ctx context.Context, o *cli.Store) (commits.Current, error) {
		if run != "" {
			return o.Commits.Of(ctx, run)
		}
		_, root, err := a.Workspace()
		if err != nil {
			return commits.Current{}, err
		}
		end := a.Clock().Add(searchTime)
		return o.Commits.Current(ctx, commits.Search{Root: gitobserver.RootDigest(root), More: func() bool { return a.Clock().Before(end) }})
	})
	if err != nil {
		if run != "" {
			return err
		}
		found = commits.Current{Reason: faults.Redact(fault.Of(err)).Message}
	}
	if found.Reason != "" && !a.Flags.JSON && a.IsTerminal(a.Err) {
		a.Note(func(p *page.Page) { p.Text("No trailer: ", found.Reason) })
	}
	return a.Answer("trailer", document.Trailer{Current: found}, func(p *page.Page) {
		if found.Trailer != "" {
			p.Print(found.Trailer + "\n")
		}
	})
}
