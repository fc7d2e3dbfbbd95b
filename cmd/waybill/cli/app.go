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
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/event"
)

// App is one call of the program: its process and the flags common to all commands.
type App struct {
	Process
	Flags

	given   func(flag string) bool // whether a common flag was set on the command line
	running bool                   // the command line was parsed and a command has started
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
