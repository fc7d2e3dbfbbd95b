package cli

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/command"
)

// WithStoreFlags returns argv with the flags that select this store inserted before its first
// flag, so that a copied command uses the same store. argv is not modified.
func (a *App) WithStoreFlags(argv []string) []string {
	at := slices.IndexFunc(argv, func(s string) bool { return strings.HasPrefix(s, "-") })
	if at < 0 {
		at = len(argv)
	}
	return slices.Insert(slices.Clone(argv), at, a.storeFlags()...)
}

// SelectStore adds the flags that select this store to the next command of an answer, if it has
// one.
func (a *App) SelectStore(next *engine.Next) {
	if next != nil {
		next.Command = a.WithStoreFlags(next.Command)
	}
}

// storeFlags returns the flags of this call that select its store and workspace, each once.
func (a *App) storeFlags() []string {
	var flags []string
	for _, f := range [][2]string{{"--store", a.Flags.Store}, {"--tenant", a.Flags.Tenant},
		{"--workspace", a.Flags.Workspace}} {
		if f[1] != "" {
			flags = append(flags, f[:]...)
		}
	}
	if a.Flags.AllowNetworkFS {
		flags = append(flags, "--allow-network-fs")
	}
	return flags
}

// StoreCommand returns a waybill command, with the flags that select this store, for a
// suggestion.
func (a *App) StoreCommand(words ...string) fault.Command {
	return shellWords(a.WithStoreFlags(words))
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
func (a *App) Command(words ...string) string { return a.StoreCommand(words...).Line() }

// SuggestForStore returns f with the commands of its suggestion adapted to this call: they get
// the flags that select the store, unless they have them, and the session of the details in place
// of fault.SessionWord. f itself is not modified.
func (a *App) SuggestForStore(f *fault.Fault) *fault.Fault {
	flags := shellWords(a.storeFlags())
	session, hasSession := f.Details["sessionId"].(string)
	out := *f
	out.Suggestion = f.Suggestion.Map(func(arg any) any {
		c, ok := arg.(fault.Command)
		if !ok {
			return arg
		}
		c = slices.Clone(c)
		if at := slices.Index(c, fault.SessionWord); at >= 0 && hasSession {
			c[at] = session
		}
		if !strings.Contains(c.Line(), strings.Join(flags, " ")) {
			c = append(c, flags...)
		}
		return c
	})
	return &out
}
