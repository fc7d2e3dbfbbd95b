package main

import (
	"io"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// app is what every command works with: the world as main was handed it, and the
// flags that all commands share. Clock and entropy are read here and nowhere below.
type app struct {
	in     io.Reader
	out    io.Writer
	errOut io.Writer
	env    []string // as os.Environ gives it
	args   []string // without the program's name

	version string // of this binary

	clock   func() time.Time
	entropy io.Reader

	common     common
	given      func(flag string) bool // of the common flags: was it on the command line
	stdinTaken string                 // the flag that reads stdin
	running    bool                   // the command line was read, a command is at work
}

// getenv is the value of an environment variable, "" when it is not set. The last
// one of a name counts, as everywhere.
func (a *app) getenv(name string) string {
	for i := len(a.env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(a.env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// nowMs is the clock reading that a use case is handed.
func (a *app) nowMs() int64 { return a.clock().UnixMilli() }

// seed is the one piece of entropy that a use case is handed.
func (a *app) seed() (id.Seed, error) {
	var s id.Seed
	if _, err := io.ReadFull(a.entropy, s[:]); err != nil {
		return s, fault.Wrap(err, fault.Internal, "the operating system gives no random bytes")
	}
	return s, nil
}

// actor says who asks (R4): a terminal on stdin means a person, anything else an
// agent. It cannot be chosen; --as only adds a name.
func (a *app) actor() event.Actor {
	kind := event.Agent
	if a.isTerminal(a.in) {
		kind = event.Human
	}
	return event.Actor{Kind: kind, Ref: a.common.as}
}

// caller is what the engine is told about this call.
func (a *app) caller() engine.Caller { return engine.Caller{Actor: a.actor(), AtMs: a.nowMs()} }
