// Package cli holds what the commands of waybill share: the call with its flags and
// streams, the store that the flags name, the sources of workflows, the checks of
// arguments, and the one way in which an answer or an error is printed.
//
// It has no commands and decides nothing: what a command does is a use case of package
// engine. Ports meet adapters here, in Open.
//
// Below it are three packages that know no App: page lays out text, render shows what
// several commands show, and document holds the JSON documents of commands.
package cli

import (
	"io"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// App is one call of the program: its arguments and streams, and the flags that
// all commands share. main fills the exported fields from the process, tests
// fill them with their own. Clock and entropy are read here and nowhere below,
// so that a use case depends on its arguments alone.
type App struct {
	In   io.Reader
	Out  io.Writer
	Err  io.Writer
	Env  []string // as os.Environ gives it
	Args []string // without the program's name

	Version string // of this binary

	Clock   func() time.Time
	Entropy io.Reader

	Flags      Flags
	given      func(flag string) bool // of the common flags: was it on the command line
	stdinTaken string                 // the flag that reads stdin
	running    bool                   // the command line was read, a command is at work
}

// Getenv is the value of an environment variable, "" when it is not set. The
// last entry of a name counts, as everywhere.
func (a *App) Getenv(name string) string {
	for i := len(a.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(a.Env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// NowMs reads the clock, in milliseconds since 1970. A use case gets the time
// as an argument.
func (a *App) NowMs() int64 { return a.Clock().UnixMilli() }

// Seed draws the one piece of entropy that a use case needs; ids and keys are
// derived from it. It fails only where the operating system has no random
// bytes.
func (a *App) Seed() (id.Seed, error) {
	var s id.Seed
	if _, err := io.ReadFull(a.Entropy, s[:]); err != nil {
		return s, fault.Wrap(err, fault.Internal, "the operating system gives no random bytes")
	}
	return s, nil
}

// Actor is who acts: a person where stdin is a terminal, an agent otherwise.
// The kind cannot be chosen; --as only adds a name.
func (a *App) Actor() event.Actor {
	kind := event.Agent
	if a.IsTerminal(a.In) {
		kind = event.Human
	}
	return event.Actor{Kind: kind, Ref: a.Flags.As}
}

// Caller is the actor with the time of the call, as the engine records both.
func (a *App) Caller() engine.Caller { return engine.Caller{Actor: a.Actor(), AtMs: a.NowMs()} }
