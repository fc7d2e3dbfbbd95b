package travel

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/bundlefile"
)

// importLong is what 'waybill import --help' prints above the usage.
const importLong = `Take the session of a bundle into the store. Everything about it is checked before a
byte is written, and a crash leaves nothing of it behind.

A session that is here already is compared with the bundle and left alone: it is the
same, it went on since (ahead), or the bundle's went on (behind). One with another
history under the same id, and any with --as-new, is imported under new ids; the same
import twice finds what the first one wrote. Approvals that were given elsewhere are
shown and do not count here.`

// NewImport makes the command "import". The bundle is checked whole before
// anything is written, and the session appears in the store at once or not at
// all. --as-new gives it new ids, whatever the store has.
func NewImport(a *cli.App) *cobra.Command {
	var req engine.ImportRequest
	cmd := &cobra.Command{
		Use:     "import FILE",
		GroupID: cli.GroupStore,
		Short:   "Take a session in that was exported elsewhere",
		Long:    importLong,
		Example: `  waybill import build.bundle.json
  waybill import build.bundle.json --as-new
  ssh other waybill export @last -o - | waybill import -`,
		Args: cli.Exactly("FILE or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return importBundle(cmd.Context(), a, args[0], req)
		},
	}
	cmd.Flags().BoolVar(&req.AsNew, "as-new", false, "import under new ids, whatever is here")
	return cmd
}

// openBundle opens the bundle that an argument names. Stdin cannot be read
// twice, so it is copied to a temporary file first.
func openBundle(ctx context.Context, a *cli.App, name string) (*bundlefile.File, error) {
	if name == "-" {
		b, err := bundlefile.Spool(ctx, a.In, bundle.Options{})
		return b, ofFile("standard input", err)
	}
	b, err := bundlefile.Open(ctx, name, bundle.Options{})
	return b, ofFile(name, err)
}

// ofFile puts the name of the file before the message of an error about the
// bundle. It is nil for a nil error.
func ofFile(name string, err error) error {
	if f := fault.Of(err); f != nil {
		if inside, ok := strings.CutPrefix(f.Message, "bundle: "); ok {
			f.Message = name + ": " + inside
		}
		return f
	}
	return nil
}

// importBundle imports one bundle and prints the document "import". A session
// that exists already with the same log is an answer and no error; a bundle
// that is damaged changes nothing.
//
// The commands that continue the imported runs get the flags of this store.
func importBundle(ctx context.Context, a *cli.App, name string, req engine.ImportRequest) error {
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	// A bundle may be larger than memory.
	defer cli.LimitMemory()()
	// The store is opened first: a store that cannot be written to needs no
	// bundle.
	b, err := openBundle(ctx, a, name)
	if err != nil {
		return err
	}
	defer b.Close()
	doc, err := o.Import(ctx, a.Caller(), b, req)
	if err != nil {
		return err
	}
	// The next commands must reach this store when they are copied.
	for i := range doc.Runs {
		if next := doc.Runs[i].Next; next != nil {
			next.Command = a.WithStoreFlags(next.Command)
		}
	}
	return a.Answer("import", doc, func(p *page.Page) { showImport(a, doc, p) })
}

// showImport prints how the bundle relates to the session in the store,
// warnings, and the runs that came with it. Where only one of the two went on,
// the sentence says which; then nothing was written.
func showImport(a *cli.App, doc engine.Import, p *page.Page) {
	what := page.Plural(int(doc.Events), "event")
	switch doc.Relation {
	case engine.Imported:
		p.Line("%s Imported %s, %s.", p.Good("✓"), doc.SessionID, what)
	case engine.ImportedAsNew:
		p.Line("%s Imported as new: %s, %s.", p.Good("✓"), doc.SessionID, what)
		p.Line("%s", p.Dim("It was "+doc.Was.String()+" in the bundle."))
	case engine.Same:
		p.Line("The store holds exactly this already: %s, %s. Nothing was written.", doc.SessionID, what)
	case engine.Ahead:
		p.Text("", "The store's "+doc.SessionID.String()+" holds all of this already, and has "+what+
			". Nothing was written.")
	case engine.Behind:
		p.Text("", "The bundle holds more than the store's "+doc.SessionID.String()+", which has "+what+
			". Nothing was written: a session goes on in one place. Import it with --as-new to have both.")
	}
	if doc.Health != manifest.Healthy && doc.Health != manifest.UnknownVersion {
		p.Text(p.Warn("! "), "The session here is damaged ("+render.Health(doc.Health)+"). What can be done: "+
			a.Command("repair", doc.SessionID.String()))
	}
	if doc.Health == manifest.UnknownVersion {
		p.Text(p.Warn("! "), "It holds facts of another program: it can be read here, and not gone on with.")
	}
	for _, w := range doc.Warnings {
		p.Text(p.Warn("! "), w)
	}
	p.Line("")
	for _, r := range doc.Runs {
		p.Painted(render.Mark(p, r.Status)+" ", r.Title+"  "+render.Status(r.Status), p.Bold)
		p.Line("  %s", a.Command("runs", "show", page.ShortRun(r.RunID)))
	}
}
