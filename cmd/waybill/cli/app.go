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
	"os"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/infra/gitobserver"
)

// App is one call of the program: its process and the flags common to all commands.
type App struct {
	Process
	Flags

	// Views are the commands whose text is shown by a pager if it is longer than the screen.
	Views []string
	// Unfinished reports that stdout has the beginning of an answer: errors are printed on stderr then.
	Unfinished bool

	given     func(flag string) bool // whether a common flag was set on the command line
	creates   bool                   // the command may create the store; see MayCreate
	testStore bool                   // the store that was opened is a test store
	running   bool                   // the command line was parsed and a command has started
	list      string                 // with --jsonl, the member of the document that is printed as lines
	measured  func(call string)      // logs the durations of the call
}

// Actor returns the actor of this call: a person if stdin is a terminal, an agent otherwise. The
// kind cannot be set by the caller; --as only adds a name.
func (a *App) Actor() event.Actor {
	kind := event.Agent
	if a.IsTerminal(a.In) {
		kind = event.Human
	}
	return event.Actor{Kind: kind, Ref: a.Flags.As}
}

// Caller returns the actor with the current time, as the engine records both. Without --as the actor
// has the default identity of the store (docs/design.md#identity), for which git may be started: it is
// called only where something is written.
func (o *Store) Caller() engine.Caller { return o.CallerOf(o.app.Actor()) }

// CallerOf is Caller for another actor.
func (o *Store) CallerOf(by event.Actor) engine.Caller {
	out := engine.Caller{Actor: by, AtMs: o.app.NowMs(), Account: o.app.Account, Observe: o.app.Process.observeHead}
	if by.Ref == "" {
		out.Actor.Ref, out.Assumed = o.config.Identity(o.app.names), true
	}
	return out
}

// observeHead returns what is checked out in the repository of the working directory, nil outside of one.
func (*Process) observeHead() []event.ObservationRecorded {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	return gitobserver.ObserveHead(gitobserver.Root(dir))
}

// names returns the names that the machine has for the person who runs the program.
func (p *Process) names() config.Names {
	if p.Names == nil {
		return config.Names{}
	}
	return p.Names()
}
