package guard

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/openruns"
	"github.com/waybill/waybill/durable/guard"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/gitobserver"
)

// rowsTried is how many rows of the list are read from their logs until one is open.
const rowsTried = 8

// noRepository is why hooks find no run in a folder.
const noRepository = "No run of this folder: it is not in a git repository, by which hooks find a run."

// lockWait bounds how long a hook waits for another writer: an agent's turn must not wait for a session that is busy.
const lockWait = 200 * time.Millisecond

// newHook returns the command "guard hook". Its exit status is always 0: clients take 2, the status of a wrong command
// line, for a refusal.
func newHook(a *cli.App) *cobra.Command {
	var client string
	return cli.WithOptions(&cobra.Command{
		Use:   "hook EVENT",
		Short: "Answer a hook of a client",
		Long: `Read the JSON of a client's hook on stdin and answer in the client's form: the open step
of the run of this repository at the start of a session and after a compaction, a refusal
at the end of a turn while the agent can perform a step. A turn is refused at most twice
in a row for the same step, and not for a step that waits for a person, also for one who
trusts its checks, for a moment or for a command. Each refusal is recorded in the log of
the run; one that cannot be recorded within a fifth of a second is none. The answer is
empty, and the exit status 0, in every other case and if Waybill cannot answer within a
second. Clients run this command; see 'waybill guard test'.`,
		Example: "  echo '{\"cwd\":\"/src\"}' | waybill guard hook SessionStart\n" +
			"  echo '{}' | waybill guard hook AfterAgent --client gemini",
		Args:               cobra.ArbitraryArgs,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		Annotations:        map[string]string{cli.LetsGo: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return nil
			}
			a.WaitAtMost(lockWait)
			answer := answerInTime(cmd.Context(), a, args[0], client)
			if len(answer) == 0 {
				return nil
			}
			return a.WriteJSON(answer)
		},
	}, cli.OptOf(&client, "client CLIENT", guard.NameList(),
		"the client: "+guard.Names()))
}

// answerInTime returns the answer of a hook, none after the deadline: a client waits for it.
func answerInTime(ctx context.Context, a *cli.App, event, client string) []byte {
	ctx, cancel := context.WithTimeout(ctx, limits.GuardDeadlineMs*time.Millisecond)
	defer cancel()
	done := make(chan []byte, 1)
	go func() {
		defer func() {
			if recover() != nil {
				done <- nil // a bug must not hold the agent
			}
		}()
		done <- answer(ctx, a, event, client)
	}()
	select {
	case out := <-done:
		return out
	case <-ctx.Done():
		return nil
	}
}

// answer reads the input of a hook and returns the answer, none if there is nothing to say.
func answer(ctx context.Context, a *cli.App, event, client string) []byte {
	c, ok := guard.ClientOf(client)
	if client == "" {
		c, ok = guard.ClientOfEvent(event)
	}
	if !ok {
		return nil
	}
	e, ok := c.Event(event)
	if !ok {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(a.In, limits.GuardInputBytesMax+1))
	if err != nil {
		return nil
	}
	in, err := guard.ParseInput(data)
	if err != nil {
		return nil
	}
	return reply(ctx, a, c, e, in, true)
}

// reply returns the answer to an input. record: a refusal is recorded; else it is answered as the first one is.
func reply(ctx context.Context, a *cli.App, c guard.Client, e guard.Event, in guard.Input, record bool) (out []byte) {
	in.Dir = absolute(in.Dir)
	root := rootOf(in.Dir)
	if root == "" {
		return nil
	}
	err := a.WithStore(ctx, func(ctx context.Context, o *cli.Store) error {
		s, ok := openStep(ctx, a, o, root, in.Dir, e.Moment)
		switch {
		case !ok:
		case e.Moment == guard.SessionStart:
			out = guard.Context(e, s.Step)
		case !record:
			out = guard.Refuse(c, s.Step, 1)
		default:
			turn := advance.Turn{Client: c.Name, Chat: canon.Sum([]byte(in.SessionID)), AtMs: a.NowMs()}
			if n, err := o.Turns.End(ctx, s.At, s.Activity, turn); err == nil && n > 0 {
				out = guard.Refuse(c, s.Step, n)
			}
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return out
}

// openStep returns the step that a hook tells about: the one of the run with the latest activity; at the end of a turn
// one that the agent can perform.
func openStep(ctx context.Context, a *cli.App, o *cli.Store, root, dir string, m guard.Moment) (openruns.Step, bool) {
	until := a.Clock().Add(limits.GuardReadMs * time.Millisecond)
	rows, err := o.OpenRuns.Steps(ctx, root, openruns.Clock{
		More: func() bool { return a.Clock().Before(until) }})
	if err != nil {
		return openruns.Step{}, false
	}
	tried := 0
	for _, r := range rows {
		if m == guard.Stop && r.Waits != guard.ForAgent {
			continue
		}
		if tried++; tried > rowsTried {
			break
		}
		s, ok := o.OpenRuns.Step(ctx, r)
		if ok && s.Waits == guard.ForAgent && s.Checks != "" && !trusted(ctx, o, s.Checks, dir) {
			s.Waits, s.Trust = guard.ForTrust, a.Command("trust", s.Checks)
		}
		if !ok || m == guard.Stop && s.Waits != guard.ForAgent {
			continue
		}
		s.Show = a.Command("continue", "--run", s.Run)
		s.Continue = a.Command("continue", "--run", s.Run, "--notes", "TEXT")
		return s, true
	}
	return openruns.Step{}, false
}

// trusted reports whether the checks of a workflow version may run in a directory.
func trusted(ctx context.Context, o *cli.Store, hash, dir string) bool {
	d, err := canon.ParseDigest(hash)
	return err == nil && o.TrustedIn(ctx, d, dir)
}

// absolute returns the directory that a client names, that of the process if it names none, "" for an unknown one.
func absolute(dir string) string {
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return ""
		}
	}
	return filepath.Clean(dir)
}

// rootOf returns the digest of the repository that contains a directory, "" outside of one.
func rootOf(dir string) string {
	if dir == "" {
		return ""
	}
	for _, o := range gitobserver.Observe(gitobserver.Root(dir)) {
		if o.Key == "repo_root_hash" {
			return o.Value.Value
		}
	}
	return ""
}

// newTest returns the command "guard test".
func newTest(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "test CLIENT",
		Short: "Show what the hooks of a client answer now",
		Long: `Print for each event of a client (claude, codex, gemini or opencode) a recorded input, with
the current directory, and what the hook answers for it. Nothing is recorded: the end of a
turn is answered as if it was not refused before. Outside of a git repository no run is
found; the answer has the reason.`,
		Example:   "  waybill guard test claude\n  waybill guard test gemini --json",
		Args:      cli.Exactly("a client: " + guard.Names()),
		ValidArgs: guard.NameList(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cli.ClientArg(cmd, args[0])
			if err != nil {
				return err
			}
			dir, _, err := a.Workspace()
			if err != nil {
				return err
			}
			doc := document.GuardTest{Client: c.Name, Events: []document.GuardEvent{}}
			if rootOf(dir) == "" {
				doc.Note = noRepository
			}
			for _, e := range c.Events {
				input := e.Input(dir)
				in, err := guard.ParseInput(input)
				if err != nil {
					return err
				}
				out := reply(cmd.Context(), a, c, e, in, false)
				doc.Events = append(doc.Events, document.GuardEvent{Event: e.Name, Input: string(input),
					Answer: string(bytes.TrimSpace(out))})
			}
			return a.Answer("guard_test", doc, func(p *page.Page) { showTest(p, doc) })
		},
	}
}

// showTest prints the inputs and answers.
func showTest(p *page.Page, doc document.GuardTest) {
	for i, e := range doc.Events {
		if i > 0 {
			p.Blank()
		}
		p.Line("%s", p.Bold(e.Event))
		p.Text("  input:  ", e.Input)
		if e.Answer == "" {
			p.Text("  answer: ", "none: the client continues")
			continue
		}
		p.Text("  answer: ", e.Answer)
	}
	if doc.Note != "" {
		p.Blank()
		p.Text("", doc.Note)
	}
}
