package work

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/unattended"
	"github.com/waybill/waybill/cmd/waybill/work/runview"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/infra/process"
)

// runner holds the parts of one call of 'waybill run': the store, the performer, and the
// adapters that the performer uses.
type runner struct {
	app   *cli.App
	store *cli.Store
	// ref is the file or id on the command line, "" unless it is the version to be performed.
	ref       string
	view      *runview.View
	commands  *process.Runner
	performer *perform.Performer
	// suspected are the warnings about secrets in what the start recorded.
	suspected []perform.Suspected
	// drift is the warning that the file of the run is another version now, nil if it is not.
	drift *warning.Warning
	// redactions are the places of the request of the start from which secrets were removed.
	redactions []redact.Finding
}

// newRunner connects the performer to the terminal, to processes and to the store. With --json
// the view writes to stderr, since stdout is reserved for the document.
//
// Trust is read from the store for each check, because another process may change it. The
// performer lock of the store excludes a second 'run' of the same session. The caller must
// close commands, even if the run cannot be started: that stops processes that they have left running.
func newRunner(a *cli.App, o *cli.Store, in *runInput, ref string) *runner {
	s := &runner{app: a, store: o, ref: ref}
	shown := a.Out
	if a.Flags.JSON {
		shown = a.Err
	}
	store, _ := a.StoreName() // it was opened
	root, _ := a.TrustRoot()  // without one, trust is refused where it is needed
	s.view = runview.New(runview.Options{In: a.In, Out: shown, Getenv: a.Getenv, NoColor: a.Flags.NoColor,
		Consent: a.Consent(a.Colors(a.Err)), Store: store, TrustRoot: root, Quiet: in.quiet, Short: page.ShortRun,
		Read: func(name string) (advance.Artifact, error) { return typedFile(a, name) }})
	s.commands = &process.Runner{Env: a.Env, Output: s.view.Output(), Root: root}
	s.performer = &perform.Performer{
		Engine: o.Engine, Logs: o.Logs(), Commands: s.commands, Person: s.view, Display: s.view,
		Performers: o.Performers(),
		Trusted:    s.trusted,
		Pins:       a.Pins(root),
		Remember: func(ctx context.Context, w compile.Compiled, fixed trust.Fixed) error {
			root, err := a.TrustRoot()
			if err == nil {
				_, err = o.Trust(ctx, o.Caller(), w, root, fixed, nil)
			}
			return err
		},
		OnlyOnce: s.onlyOnce, TrustedBefore: o.TrustedBefore,
		By: o.Caller(), NowMs: a.NowMs, Pause: unattended.Pause,
		ContinueLine: func(run id.Run, more ...string) fault.Command { return continueLine(a, run, more...) },
		SubmitLine:   func(run id.Run, more ...string) fault.Command { return submitLine(a, run, more...) },
		OfStore:      a.OfStore,
		ApproveLine: func(run id.Run, more ...string) fault.Command {
			return a.StoreCommand(append([]string{"approve", page.ShortRun(run)}, more...)...)
		},
	}
	return s
}

// trusted returns what was fixed when a person trusted a workflow version in the repository or folder
// of this call. If the list of trusted workflows is not the one that a person confirmed, that is an error,
// unless a person is present who can be asked about this version.
func (s *runner) trusted(ctx context.Context, hash canon.Digest) (trust.Fixed, bool, error) {
	fixed, ok, err := s.store.TrustedHere(ctx, hash)
	if fault.Is(err, fault.PolicyUnconfirmed) && s.view.Present() {
		return fixed, false, nil
	}
	return fixed, ok, err
}

// onlyOnce says why trust cannot be recorded: the list of trusted workflows is not the one that a
// person confirmed, and recording would confirm the rest of it without showing it.
func (s *runner) onlyOnce(ctx context.Context) string {
	if _, err := s.store.ConfirmedTrust(ctx); !fault.Is(err, fault.PolicyUnconfirmed) {
		return ""
	}
	return "\"Always\" is not offered: the list of trusted workflows is not as a person confirmed it last. " +
		s.app.StoreCommand("config", "confirm").String() + " shows and confirms it."
}
