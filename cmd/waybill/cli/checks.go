package cli

import (
	"context"
	"os"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/pinfile"
	"github.com/waybill/waybill/infra/process"
	"github.com/waybill/waybill/ports"
)

// Pins returns the files that checks depend on, of the project with a root. Their environment is that
// of this process.
func (a *App) Pins(root string) ports.Pins { return pinfile.Files{Root: root, Environ: environ(a)} }

// environ is the environment of this process.
func environ(a *App) []string {
	if a.Env != nil {
		return a.Env
	}
	return os.Environ()
}

// TrustedHere returns what was fixed when a person trusted a workflow version in the repository or
// folder of this call, false if it is not trusted there. Errors: POLICY_UNCONFIRMED if the list is not
// the one that a person confirmed.
func (o *Store) TrustedHere(ctx context.Context, hash canon.Digest) (trust.Fixed, bool, error) {
	root, err := o.app.TrustRoot()
	if err != nil {
		return trust.Fixed{}, false, err
	}
	list, err := o.ConfirmedTrust(ctx)
	if err != nil {
		return trust.Fixed{}, false, err
	}
	entry, ok := list.Of(hash, root)
	return entry.Fixed, ok, nil
}

// TrustedIn reports whether a person trusted a workflow version in the repository or folder of a directory, given as an
// absolute path.
func (o *Store) TrustedIn(ctx context.Context, hash canon.Digest, dir string) bool {
	root, err := trustRootOf(dir)
	if err != nil {
		return false
	}
	list, err := o.ConfirmedTrust(ctx)
	if err != nil {
		return false
	}
	_, ok := list.Of(hash, root)
	return ok
}

// checker performs the checks of steps that are handed in. Their output is not shown: it is part of the
// answer.
func (o *Store) checker() perform.Checker {
	return perform.Checker{Performers: o.Performers(), Trusted: o.TrustedHere, Open: func() (perform.Commands, error) {
		root, err := o.app.TrustRoot()
		runner := &process.Runner{Dir: root, Root: root, Env: o.app.Env}
		return perform.Commands{Commands: runner, Pins: o.app.Pins(root), Closer: closer{runner}}, err
	}}
}

// closer ends a runner.
type closer struct{ *process.Runner }

// Close implements io.Closer.
func (c closer) Close() error {
	c.Runner.Close()
	return nil
}
