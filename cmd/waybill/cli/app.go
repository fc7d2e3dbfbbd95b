// Package cli provides what the commands of waybill share: App (one call with its flags and
// streams), Store (the opened store), workflow lookup, argument checks, shell completion, and
// the output of answers and errors. Start reading at App, then App.Open and App.Answer.
//
// It contains no commands and no rules of the engine: each command calls a use case of
// package engine. App.Open is the only place that connects ports to adapters.
//
// Three subpackages do not depend on App: page lays out text, render formats values that
// several commands print, and document declares the JSON documents of commands.
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

// App is one call of the program: its arguments, its streams and the flags common to all
// commands. main sets the exported fields from the process; tests set their own. Clock and
// Entropy are read by App and not by the packages below, so that the result of a use case
// depends only on its arguments.
type App struct {
	In   io.Reader
	Out  io.Writer
	Err  io.Writer
	Env  []string // in the form of os.Environ
	Args []string // without the program name

	Version string // of this binary

	Clock   func() time.Time
	Entropy io.Reader

	Flags      Flags
	given      func(flag string) bool // whether a common flag was set on the command line
	stdinTaken string                 // the flag that reads stdin, "" for none
	running    bool                   // the command line was parsed and a command has started
}

// Getenv returns the value of an environment variable, "" if it is not set. If Env has
// several entries of a name, the last one counts, as in os/exec.
func (a *App) Getenv(name string) string {
	for i := len(a.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(a.Env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// NowMs returns the time of Clock in milliseconds since 1970 UTC. Use cases take the time as
// an argument.
func (a *App) NowMs() int64 { return a.Clock().UnixMilli() }

// Seed reads one seed from Entropy. A use case derives all its new ids and keys from it. The
// error is INTERNAL, if the operating system returns no random bytes.
func (a *App) Seed() (id.Seed, error) {
	var s id.Seed
	if _, err := io.ReadFull(a.Entropy, s[:]); err != nil {
		return s, fault.Wrap(err, fault.Internal, "cannot read random bytes from the operating system")
	}
	return s, nil
}

// Actor returns the actor that records name: a person if stdin is a terminal, an agent
// otherwise. The kind cannot be set by the caller; --as only adds a name.
func (a *App) Actor() event.Actor {
	kind := event.Agent
	if a.IsTerminal(a.In) {
		kind = event.Human
	}
	return event.Actor{Kind: kind, Ref: a.Flags.As}
}

// Caller returns the actor with the current time, as the engine records both.
func (a *App) Caller() engine.Caller { return engine.Caller{Actor: a.Actor(), AtMs: a.NowMs()} }
