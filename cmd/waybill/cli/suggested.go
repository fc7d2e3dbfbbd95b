package cli

import (
	"slices"
	"strings"

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

// storeFlags returns the flags of this call that select its store and workspace, each once.
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

// Command returns a waybill command line for copying: quoted for a shell, with the flags that
// select this store.
func (a *App) Command(words ...string) string {
	argv := a.WithStoreFlags(append([]string{"waybill"}, words...))
	return command.Line(argv)
}

// SuggestForStore returns f with its suggestion adapted to this call: 'waybill …' commands in
// single quotes get the flags that select the store, and SESSION in 'waybill verify SESSION'
// is replaced by the sessionId of the details. f itself is not modified.
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
	out, selected := *f, " "+strings.Join(flags, " ")
	parts := strings.Split(f.Suggestion, "'")
	for i := 1; i < len(parts)-1; i += 2 { // odd parts are the text between two quotes
		if strings.HasPrefix(parts[i], "waybill ") && !strings.Contains(parts[i], selected) {
			parts[i] += selected
		}
	}
	out.Suggestion = strings.Join(parts, "'")
	return &out
}
