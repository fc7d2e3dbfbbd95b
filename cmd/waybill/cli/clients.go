package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/difference"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/guard"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/clientfile"
)

// ClientChange is a change of the settings of a client (docs/design.md#guard).
type ClientChange struct {
	Client guard.Client
	File   guard.File
	// Make returns the settings as they become; the same bytes for no change, nil for no file. It gets nil for a file that
	// does not exist. Its error is a sentence without the name of the file.
	Make func(settings []byte) ([]byte, error)
	// Print: the difference is shown and nothing is changed.
	Print bool
	// Question asks whether to write the file, Done says that it was written, Same that nothing changes. Note is
	// printed after a change.
	Question, Done, Same, Note string
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
// it in another directory. The error is STORE_IO, and USAGE_ERROR for a path that a settings file cannot have.
func GuardProgram(a *App) (guard.Program, error) {
	path, err := os.Executable()
	if err != nil {
		return guard.Program{}, fault.Wrap(err, fault.StoreIO, "the path of this program is not known: %v", err)
	}
	flags := Flags{Store: a.Flags.Store, Tenant: a.Flags.Tenant, Workspace: a.Flags.Workspace,
		AllowNetworkFS: a.Flags.AllowNetworkFS}
	if flags.Store != "" {
		if flags.Store, err = a.absolute(flags.Store); err != nil {
			return guard.Program{}, err
		}
	}
	p := guard.Program{Path: path, Flags: flags.storeFlags()}
	for _, word := range append(slices.Clone(p.Flags), path) {
		for _, c := range word {
			if c < ' ' || c == 0x7f {
				return p, fault.New(fault.UsageError, "the path %q has a control character, which settings cannot have", word).
					Suggest("Rename the directory.")
			}
		}
	}
	return p, nil
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
		return clientFault(name, err)
	}
	after := before
	// A file that exists and is empty is not JSON.
	if before != nil && len(before) == 0 && c.File.JSON() {
		return fault.New(fault.ValidationError, "%s: it is empty, and is not changed", name).
			Suggest("Remove the file, or write {} into it.")
	}
	if after, err = c.Make(before); err != nil {
		return clientFault(name, err)
	}
	doc := document.ClientSettings{Client: c.Client.Name, File: name, Difference: difference.Lines(before, after)}
	if doc.Difference == nil {
		doc.Difference = []string{}
		return a.Answer("client_settings", doc, func(p *page.Page) { p.Text("", c.Same+" "+name) })
	}
	show := func(p *page.Page) {
		p.Text("", name+":")
		p.QuoteExactly("  ", strings.Join(doc.Difference, "\n"), page.Plain)
	}
	if c.Print {
		return a.Answer("client_settings", doc, show)
	}
	if err := a.Asked(show, c.Question); err != nil {
		return err
	}
	write := func() error { return clientfile.Replace(name, before, after) }
	if after == nil {
		write = func() error { return clientfile.Remove(name, before) }
	}
	if err := write(); err != nil {
		return clientFault(name, err)
	}
	doc.Changed, doc.Note = true, c.Note
	return a.Answer("client_settings", doc, func(p *page.Page) {
		p.Text("", c.Done+" "+name)
		if c.Note != "" {
			p.Text("", c.Note)
		}
	})
}

// clientFault is the error of settings that are not changed.
func clientFault(name string, err error) error {
	return fault.Wrap(err, fault.ValidationError, "%s: %s", name, PlainCause(err)).
		Suggest("Nothing was changed. Correct the file, or add the lines that --print shows by hand.")
}
