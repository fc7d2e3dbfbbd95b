package cli

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/command"
)

// WithStoreFlags puts the flags that name this store into a command line,
// before its first flag, so that a copied command reaches the same store. argv
// is not changed.
func (a *App) WithStoreFlags(argv []string) []string {
	at := slices.IndexFunc(argv, func(s string) bool { return strings.HasPrefix(s, "-") })
	if at < 0 {
		at = len(argv)
	}
	return slices.Insert(slices.Clone(argv), at, a.storeFlags()...)
}

// storeFlags are the flags of this call that name its store, each once.
func (a *App) storeFlags() []string {
	var flags []string
	if a.Flags.Store != "" {
		flags = append(flags, "--store", a.Flags.Store)
	}
	if a.Flags.Tenant != "" {
		flags = append(flags, "--tenant", a.Flags.Tenant)
	}
	if a.Flags.Workspace != "" {
		flags = append(flags, "--workspace", a.Flags.Workspace)
	}
	if a.Flags.AllowNetworkFS {
		flags = append(flags, "--allow-network-fs")
	}
	return flags
}

// Command is a command line to copy, quoted for a shell, with the flags that
// name this store.
func (a *App) Command(words ...string) string {
	argv := a.WithStoreFlags(append([]string{"waybill"}, words...))
	return command.Line(argv)
}

// SuggestForStore is f with a suggestion that fits this call: commands between
// quotes get the flags that name the store, and SESSION is replaced by the
// session that f is about. f itself is not changed.
func (a *App) SuggestForStore(f *fault.Fault) *fault.Fault {
	if session, ok := f.Details["sessionId"].(string); ok {
		named := *f
		named.Suggestion = strings.ReplaceAll(f.Suggestion, "verify SESSION'", "verify "+session+"'")
		f = &named
	}
	flags := a.storeFlags()
	if len(flags) == 0 {
		return f
	}
	for i := range flags {
		flags[i] = command.Word(flags[i])
	}
	out, aim := *f, " "+strings.Join(flags, " ")
	parts := strings.Split(f.Suggestion, "'")
	for i := 1; i < len(parts)-1; i += 2 { // the text between two quotes
		if strings.HasPrefix(parts[i], "waybill ") && !strings.Contains(parts[i], aim) {
			parts[i] += aim
		}
	}
	out.Suggestion = strings.Join(parts, "'")
	return &out
}
