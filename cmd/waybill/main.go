// Command waybill runs workflows step by step and records every fact about a run in plain
// files. This package builds a cli.App from the process's arguments and streams and assembles
// the command tree (root.go). Code shared by the commands is in package cli; each group of
// commands has a package of its own.
package main

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"sync"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/notify"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/infra/identity"
	"github.com/waybill/waybill/infra/notifier"
)

// version is set by the build with -ldflags "-X main.version=1.2.3"; a build without that
// flag reports dev.
var version = "dev"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())) }

// run executes one call and returns its exit status. The process environment is passed as
// arguments, so that script tests execute the same code as a user. It writes only to out,
// errOut, the store and files that the command names. env has the form of os.Environ.
//
// Clock and entropy are passed to the App and read only there: the packages durable and
// projections must not read them (docs/design.md#layers).
func run(args []string, in io.Reader, out, errOut io.Writer, env []string) int {
	if len(args) == 1 && args[0] == notifier.KeepArg {
		return notifier.Keep(in, out, env)
	}
	a := newApp(args, in, out, errOut, env)
	return a.Execute(newRoot(a))
}

// newApp returns a call with the clock and the entropy of the machine.
func newApp(args []string, in io.Reader, out, errOut io.Writer, env []string) *cli.App {
	return &cli.App{Process: cli.Process{In: in, Out: out, Err: errOut, Env: env, Args: args, Version: version,
		Account: config.AccountOf(uid()), Names: sync.OnceValue(func() config.Names {
			return identity.Machine(context.Background(), "", env)
		}), Notifications: notify.New(&notifier.Launcher{Env: env}), Clock: time.Now, Entropy: rand.Reader}}
}
