package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/bundlefile"
)

const importLong = `Take the session of a bundle into the store. Everything about it is checked before a
byte is written, and a crash leaves nothing of it behind.

A session that is here already is compared with the bundle and left alone: it is the
same, it went on since (ahead), or the bundle's went on (behind). One with another
history under the same id, and any with --as-new, is imported under new ids; the same
import twice finds what the first one wrote. Approvals that were given elsewhere are
shown and do not count here.`

func newImportCommand(a *app) *cobra.Command {
	var req engine.ImportRequest
	cmd := &cobra.Command{
		Use:     "import FILE",
		GroupID: groupStore,
		Short:   "Take a session in that was exported elsewhere",
		Long:    importLong,
		Example: `  waybill import build.bundle.json
  waybill import build.bundle.json --as-new
  ssh other waybill export @last -o - | waybill import -`,
		Args: exactly("FILE or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.importBundle(cmd.Context(), args[0], req)
		},
	}
	cmd.Flags().BoolVar(&req.AsNew, "as-new", false, "import under new ids, whatever is here")
	return cmd
}

// openBundle opens the bundle that an argument names, - for stdin.
func (a *app) openBundle(ctx context.Context, name string) (*bundlefile.File, error) {
	if name == "-" {
		b, err := bundlefile.Spool(ctx, a.in, bundle.Options{})
		return b, ofFile("standard input", err)
	}
	b, err := bundlefile.Open(ctx, name, bundle.Options{})
	return b, ofFile(name, err)
}

// ofFile puts the file's name in front of what is wrong inside of it.
func ofFile(name string, err error) error {
	if f := fault.Of(err); f != nil {
		if inside, ok := strings.CutPrefix(f.Message, "bundle: "); ok {
			f.Message = name + ": " + inside
		}
		return f
	}
	return nil
}

func (a *app) importBundle(ctx context.Context, name string, req engine.ImportRequest) error {
	o, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer o.close()
	defer thrifty()()
	b, err := a.openBundle(ctx, name)
	if err != nil {
		return err
	}
	defer b.Close()
	doc, err := o.Import(ctx, a.caller(), b, req)
	if err != nil {
		return err
	}
	for i := range doc.Runs {
		if next := doc.Runs[i].Next; next != nil {
			next.Command = a.withStoreFlags(next.Command)
		}
	}
	return a.answer("import", doc, func(p *page) { a.tellImport(doc, p) })
}

func (a *app) tellImport(doc engine.Import, p *page) {
	what := plural(int(doc.Events), "event")
	switch doc.Relation {
	case engine.Imported:
		p.line("%s Imported %s, %s.", p.good("✓"), doc.SessionID, what)
	case engine.ImportedAsNew:
		p.line("%s Imported as new: %s, %s.", p.good("✓"), doc.SessionID, what)
		p.line("%s", p.dim("It was "+doc.Was.String()+" in the bundle."))
	case engine.Same:
		p.line("The store holds exactly this already: %s, %s. Nothing was written.", doc.SessionID, what)
	case engine.Ahead:
		p.text("", "The store's "+doc.SessionID.String()+" holds all of this already, and has "+what+
			". Nothing was written.")
	case engine.Behind:
		p.text("", "The bundle holds more than the store's "+doc.SessionID.String()+", which has "+what+
			". Nothing was written: a session goes on in one place. Import it with --as-new to have both.")
	}
	if doc.Health != manifest.Healthy && doc.Health != manifest.UnknownVersion {
		p.text(p.warn("! "), "The session here is damaged ("+toldHealth(doc.Health)+"). What can be done: "+
			a.command("repair", doc.SessionID.String()))
	}
	if doc.Health == manifest.UnknownVersion {
		p.text(p.warn("! "), "It holds facts of another program: it can be read here, and not gone on with.")
	}
	for _, w := range doc.Warnings {
		p.text(p.warn("! "), w)
	}
	p.line("")
	for _, r := range doc.Runs {
		p.painted(p.mark(r.Status)+" ", r.Title+"  "+told(r.Status), p.bold)
		p.line("  %s", a.command("runs", "show", shortRun(r.RunID)))
	}
}
