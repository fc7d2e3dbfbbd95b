package cli

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/guard"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/clientfile"
)

// ClientChange is a change of the settings of a client (docs/design.md#guard).
type ClientChange struct {
	Client guard.Client
	File   guard.File
	// Make returns the settings as they become. It gets nil for a file that does not exist. Its error is a sentence
	// without the name of the file.
	Make func(settings []byte) (guard.Result, error)
	// Print: the difference is shown and nothing is changed.
	Print bool
	// Question asks whether to write the file, Done says that it was written, Same that nothing changes. Note is
	// printed after a change.
	Question, Done, Same, Note string
	// ByHand says what a person removes where the file is not changed; "" for a change that adds lines, which are shown
	// instead.
	ByHand string
}

// ClientArg returns the client that an argument names. The error is USAGE_ERROR.
func ClientArg(cmd *cobra.Command, name string) (guard.Client, error) {
	c, ok := guard.ClientOf(name)
	if !ok {
		return c, UsageFault(cmd, "unknown client %q", name).Suggest("Use %s.", guard.Names())
	}
	return c, nil
}

// GuardProgram returns this program with the flags that select the store of the call, as absolute paths: a client runs
// it in another directory and with another environment. The error is STORE_IO, and USAGE_ERROR for a path that a
// settings file cannot have.
func GuardProgram(a *App) (guard.Program, error) {
	path, err := os.Executable()
	if err != nil {
		return guard.Program{}, fault.Wrap(err, fault.StoreIO, "the path of this program is not known: %v", err)
	}
	flags := Flags{Tenant: a.Flags.Tenant, Workspace: a.Flags.Workspace, AllowNetworkFS: a.Flags.AllowNetworkFS}
	store, err := a.StoreName()
	if err != nil {
		return guard.Program{}, err
	}
	if a.Flags.Store != "" || store != bareStoreDir(a) {
		flags.Store, flags.Tenant = store, ""
	}
	p := guard.Program{Path: path, Flags: flags.storeFlags()}
	for _, word := range append(slices.Clone(p.Flags), path) {
		if !utf8.ValidString(word) || strings.ContainsFunc(word, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return p, fault.New(fault.UsageError, "the path %q has a character that settings cannot have", word).
				Suggest("Rename the directory.")
		}
	}
	return p, nil
}

// bareStoreDir returns the store that the tenant of the call has in an environment with a home directory alone, "" if
// that is not known.
func bareStoreDir(a *App) string {
	home := a.home()
	if home == "" {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(dataInHome), "waybill", cmp.Or(a.Flags.Tenant, defaultTenant))
}

// clientPath returns the path of a file of a client.
func (p *Process) clientPath(f guard.File) (string, error) {
	if f.Variable != "" {
		if dir := p.Getenv(f.Variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(f.Name)), nil
		}
	}
	home := p.home()
	if home == "" {
		return "", fault.New(fault.UsageError, "the settings cannot be found: $%s is not set", homeVariable()).
			Suggest("Set $%s to your home directory.", homeVariable())
	}
	return filepath.Join(home, filepath.FromSlash(f.Dir), filepath.FromSlash(f.Name)), nil
}

// ChangeClient shows how the settings of a client change, asks the person at the terminal, and writes them. Settings
// that cannot be changed are a VALIDATION_ERROR; nothing is written then. Without a terminal, and for a no, the error
// is RUN_WAITING.
func ChangeClient(a *App, c ClientChange) error {
	name, err := a.clientPath(c.File)
	if err != nil {
		return err
	}
	before, err := clientfile.Read(name, limits.ClientSettingsBytesMax)
	if err != nil {
		return c.refused(name, err)
	}
	if other := otherFile(a, c, before); other != "" {
		return c.refused(other, errors.New("the client reads it, and it is not changed: its form allows comments"))
	}
	// A file that exists and is empty is not JSON.
	if before != nil && len(before) == 0 && c.File.JSON() {
		return c.refused(name, errors.New("it is empty, and is not changed"))
	}
	r, err := c.Make(before)
	if err != nil {
		return c.refused(name, err)
	}
	doc := document.ClientSettings{Client: c.Client.Name, File: name, Difference: r.Difference()}
	if len(r.Changes) == 0 {
		return a.Answer("client_settings", doc, func(p *page.Page) { p.Text("", c.Same+" "+name) })
	}
	if err := clientfile.Check(name, before); err != nil {
		return c.refused(name, err)
	}
	doc.Removed = r.Text == nil
	show := func(p *page.Page) {
		p.Text("", name+":")
		p.QuoteExactly("  ", strings.Join(doc.Difference, "\n"), page.Plain)
		if doc.Removed {
			p.Text("", "The file has nothing else, and is removed.")
		}
	}
	if c.Print {
		return a.Answer("client_settings", doc, show)
	}
	if err := a.Asked(show, c.Question); err != nil {
		return err
	}
	write := func() error { return clientfile.Replace(name, before, r.Text) }
	if doc.Removed {
		write = func() error { return clientfile.Remove(name, before) }
	}
	if err := write(); err != nil {
		return c.refused(name, err)
	}
	doc.Changed, doc.Note = true, c.Note
	return a.Answer("client_settings", doc, func(p *page.Page) {
		p.Text("", c.Done+" "+name)
		if c.Note != "" {
			p.Text("", c.Note)
		}
	})
}

// otherFile returns the file that the client reads in the place of the missing one to which a change would add lines,
// "" for none.
func otherFile(a *App, c ClientChange, before []byte) string {
	if before != nil || c.File.Other == "" || c.ByHand != "" {
		return ""
	}
	f := c.File
	f.Name = f.Other
	name, err := a.clientPath(f)
	if err != nil || !clientfile.Exists(name) {
		return ""
	}
	return name
}

// refused is the error of settings that are not changed. For a change that adds lines it has these, as they would be
// in a file of their own.
func (c ClientChange) refused(name string, cause error) error {
	f := fault.Wrap(cause, fault.ValidationError, "%s: %s", name, PlainCause(cause))
	if c.ByHand != "" {
		return f.Suggest("Nothing was changed. %s", c.ByHand)
	}
	r, err := c.Make(nil)
	if err != nil {
		return f.Suggest("Nothing was changed.")
	}
	lines := strings.Split(strings.TrimSuffix(string(r.Text), "\n"), "\n")
	if c.File.Plugin() {
		f = f.Suggest("Nothing was changed. Remove that file, or put these lines into another file of its directory:")
	} else {
		f = f.Suggest("Nothing was changed. Add these lines by hand:")
	}
	return f.With(fault.LinesDetail, lines)
}
