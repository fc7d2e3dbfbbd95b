package cli

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/command"
)

// WithStoreFlags returns argv with the flags that select this store inserted before its first
// flag, so that a copied command uses the same store. argv is not modified.
func (f *Flags) WithStoreFlags(argv []string) []string {
	at := slices.IndexFunc(argv, func(s string) bool { return strings.HasPrefix(s, "-") })
	if at < 0 {
		at = len(argv)
	}
	return slices.Insert(slices.Clone(argv), at, f.storeFlags()...)
}

// SelectStore adds the flags that select this store to the next command of an answer, if it has
// one.
func (f *Flags) SelectStore(next *engine.Next) {
	if next != nil {
		next.Command = f.WithStoreFlags(next.Command)
	}
}

// AnswerOfStore returns an answer whose commands, the next one and those of its warnings, select
// this store when they are copied.
func (f *Flags) AnswerOfStore(answer engine.Answer) engine.Answer {
	f.SelectStore(answer.Next)
	answer.Warnings = warning.MapCommands(answer.Warnings, f.OfStore)
	return answer
}

// storeFlags returns the flags of this call that select its store and workspace, each once.
func (f *Flags) storeFlags() []string {
	var flags []string
	for _, pair := range [][2]string{{"--store", f.Store}, {"--tenant", f.Tenant}, {"--workspace", f.Workspace}} {
		if pair[1] != "" {
			flags = append(flags, pair[:]...)
		}
	}
	if f.AllowNetworkFS {
		flags = append(flags, "--allow-network-fs")
	}
	return flags
}

// StoreCommand returns a waybill command, with the flags that select this store, for a
// suggestion.
func (f *Flags) StoreCommand(words ...string) fault.Command {
	return shellWords(f.WithStoreFlags(words))
}

// shellWords quotes the words that a shell would split or expand.
func shellWords(argv []string) fault.Command {
	words := make(fault.Command, len(argv))
	for i, w := range argv {
		words[i] = command.Word(w)
	}
	return words
}

// Command returns the line of StoreCommand, for copying.
func (f *Flags) Command(words ...string) string { return f.StoreCommand(words...).Line() }

// SuggestForStore returns a fault with the commands of its suggestion adapted to this call: they get
// the flags that select the store, unless they name one, and the session of the details in place
// of fault.SessionWord. The fault itself is not modified.
func (f *Flags) SuggestForStore(of *fault.Fault) *fault.Fault {
	session, hasSession := of.Details["sessionId"].(string)
	out := *of
	out.Suggestion = of.Suggestion.MapCommands(func(c fault.Command) fault.Command {
		c = slices.Clone(c)
		if at := slices.Index(c, fault.SessionWord); at >= 0 && hasSession {
			c[at] = session
		}
		return f.OfStore(c)
	})
	return &out
}

// repeatedBytesMax bounds a call that a suggestion repeats.
const repeatedBytesMax = 200

// withRun returns a fault about a reference that is no run but leads to one, with the same call for that run as its
// suggestion; the fault itself if the call is long, or is the one that shows a run. The fault is not modified.
func withRun(a *App, of *fault.Fault) *fault.Fault {
	ref, _ := of.Details["reference"].(string)
	run, _ := of.Details["runId"].(string)
	at, line := slices.IndexFunc(a.Args, func(arg string) bool { return id.Typed(arg) == ref }), strings.Join(a.Args, " ")
	if ref == "" || run == "" || at < 0 || len(line) > repeatedBytesMax+len(ref) || strings.Contains(line, "runs show ") {
		return of
	}
	call := slices.Clone(a.Args)
	call[at] = run
	out := *of
	return out.Suggest("Name the run: %s.", shellWords(call))
}

// OfStore returns a command with the flags that select this store, unless it names one. c is not
// modified.
func (f *Flags) OfStore(c fault.Command) fault.Command {
	flags := shellWords(f.storeFlags())
	if strings.Contains(c.Line(), strings.Join(flags, " ")) || slices.Contains(c, "--store") {
		return c
	}
	return append(slices.Clone(c), flags...)
}
