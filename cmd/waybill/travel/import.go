package travel

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/progress"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/bundlefile"
)

// importLong is what 'waybill import --help' prints above the usage.
const importLong = `Import the session of a bundle into the store. The bundle is checked completely before
anything is written, and an interrupted import leaves no partial session.

A session that exists already is compared with the bundle. If the bundle continues it, the
import shows who did what elsewhere and asks; without a terminal it needs --accept. Then
the session is extended as a whole, annotations included. If the session is the same, or
ahead of the bundle, nothing is written. If the two differ behind events that both have,
the import is refused; --as-new imports the bundle under new ids, to have both. Imports are
idempotent. Approvals of steps that were given in another store are shown but not valid
here.

A signature in FILE.sig, or in the file that --signature names, is checked before anything
is written, and the answer says who signed: a signer of this store, or the fingerprint of
another key. A signature that is not one over the bundle refuses the import.`

// NewImport returns the command "import". The bundle is checked completely before
// anything is written, and the session appears in the store atomically.
// --as-new gives it new ids even if its own are unused.
func NewImport(a *cli.App) *cobra.Command {
	var req travel.ImportRequest
	var signature string
	var accept bool
	return cli.WithOptions(&cobra.Command{
		Use:     "import FILE",
		GroupID: cli.GroupMaintain,
		Short:   "Import a session bundle",
		Long:    importLong,
		Example: `  waybill import build.bundle.json
  waybill import build.bundle.json --accept
  waybill import build.bundle.json --as-new
  ssh other waybill export @last -o - | waybill import -`,
		Args: cli.Exactly("FILE or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSignatureFlag(cmd, args[0], signature, false); err != nil {
				return err
			}
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				req.Accept = acceptance(a, accept, arriving{from: "the bundle", session: "Session"})
				return importBundle(ctx, a, o, args[0], signature, req)
			})
		},
	},
		cli.Opt(&req.AsNew, "as-new", "import under new ids even if the session is not in the store"),
		cli.Opt(&accept, "accept", "extend a session of the store without a question"),
		cli.Opt(&signature, "signature FILE", "the signature over the bundle (default FILE.sig, if it exists)"))
}

// openBundle opens the bundle that an argument names, "-" for stdin. A bundle is
// read more than once, so stdin is copied to a temporary file first.
func openBundle(ctx context.Context, a *cli.App, name string) (*bundlefile.File, error) {
	if name == "-" {
		b, err := bundlefile.Spool(ctx, a.In, bundle.Options{})
		return b, withFileName("standard input", err)
	}
	b, err := bundlefile.Open(ctx, name, bundle.Options{})
	return b, withFileName(name, err)
}

// withFileName replaces the prefix "bundle: " of the message of an error by the
// name of the file. For a file of another kind it says so. It returns nil for a nil error.
func withFileName(name string, err error) error {
	f := fault.Of(err)
	if f == nil {
		return nil
	}
	text, ok := strings.CutPrefix(f.Message, "bundle: ")
	if !ok {
		return f
	}
	f.Message = name + ": " + text
	// A bundle begins with one of its members.
	if at, ok := f.Details["offset"].(int64); ok && at <= 1 && f.Code == fault.BundleInvalidFormat && f.Details["pointer"] == "" {
		f.Message = name + " is not a bundle: " + text
		f.Suggest("Name a file that %s made.", fault.Command{"export", "RUN"})
		if cli.IsFile(name) && name != "-" {
			f.Suggest("Name a file that %s made. A workflow is shown with %s.", fault.Command{"export", "RUN"},
				fault.Command{"workflows", "inspect", command.Word(name)})
		}
	}
	return f
}

// importBundle imports one bundle and answers with the document "import". A
// session that exists already with the same log is no error. A damaged bundle
// is an error and changes nothing.
//
// The suggested commands that continue the imported runs get the flags that
// select this store.
func importBundle(ctx context.Context, a *cli.App, o *cli.Store, name, signature string,
	req travel.ImportRequest) error {
	// A bundle may be larger than memory and is read through a window.
	defer cli.LimitMemory()()
	// The store is opened first: if that fails, stdin is not consumed.
	b, err := openBundle(ctx, a, name)
	if err != nil {
		return err
	}
	defer b.Close()
	signed, err := signatureOf(ctx, a, o, b, name, signature)
	if err != nil {
		return err
	}
	w := progress.Start(ctx, a, "Importing", false)
	watch(w, &req)
	doc, err := o.Import(w, o.Caller(), b, req)
	if err = w.End(err, "nothing was imported", fault.Command{"import", command.Word(name)}); err != nil {
		return err
	}
	doc.Signature = signed
	// The commands must select this store when the user copies them.
	for i := range doc.Runs {
		a.SelectStore(doc.Runs[i].Next)
	}
	return a.Answer("import", doc, func(p *page.Page) { showImport(a, doc, p) })
}

// watch makes an import say how far it is, and ask without that line.
func watch(w *progress.Work, req *travel.ImportRequest) {
	asked := req.Accept
	req.Accept = func(ctx context.Context, doc travel.Import) error {
		return w.Asking(func() error { return asked(ctx, doc) })
	}
	if w.Shown {
		req.Checked = func(p verify.VerifyProgress) { w.Say("(" + page.Plural(int(p.Events), "event") + " checked)") }
		req.Written = func(events, of int64) { w.Say(fmt.Sprintf("(%d of %d events written)", events, of)) }
	}
}

// showImport prints the relation of the bundle to the session in the store,
// warnings, and the runs of the bundle. For the relations Same and Ahead nothing was
// written.
func showImport(a *cli.App, doc travel.Import, p *page.Page) {
	showRelation(doc, p)
	if doc.Signature != nil {
		p.Text("", "The bundle is signed by "+signerName(*doc.Signature)+".")
	}
	showImported(a, doc, p)
}

// showRelation prints what an import of a bundle did.
func showRelation(doc travel.Import, p *page.Page) {
	what := page.Plural(int(doc.Events), "event")
	switch doc.Relation {
	case travel.NewSession:
		if doc.SessionID == doc.BundleSessionID {
			p.Line("%s Imported %s, %s.", p.Good("✓"), doc.SessionID, what)
			break
		}
		p.Line("%s Imported as new: %s, %s.", p.Good("✓"), doc.SessionID, what)
		p.Line("%s", p.Dim("Its id in the bundle is "+doc.BundleSessionID.String()+"."))
	case travel.FastForward:
		p.Line("%s Extended %s, which has %s now.", p.Good("✓"), doc.SessionID, what)
		showArrivals(*doc.Arrived, p)
	case travel.Same:
		p.Line("Already in the store: %s, %s. Nothing was written.", doc.SessionID, what)
	case travel.Ahead:
		p.Text("", "The store is ahead: its session "+doc.SessionID.String()+" contains the bundle, and has "+what+
			". Nothing was written.")
	}
}

// showImported prints what an import found about the session, and the commands that show its runs in the store of a.
func showImported(a *cli.App, doc travel.Import, p *page.Page) {
	if doc.Health != manifest.Healthy && doc.Health != manifest.UnknownVersion {
		p.Text(p.Warn("! "), "The session in the store is damaged ("+render.Health(doc.Health)+"). Next: "+
			a.Command("repair", doc.SessionID.String()))
	}
	if doc.Health == manifest.UnknownVersion {
		p.Text(p.Warn("! "), "It has events of another program or a newer version: it can be read, but not continued.")
	}
	for _, w := range doc.Warnings {
		p.Text(p.Warn("! "), w)
	}
	p.Line("")
	for _, r := range doc.Runs {
		p.StyledText(render.Mark(p, r.Status)+" ", r.Title+"  "+render.Status(r.Status), p.Bold)
		p.Line("  %s", a.Command("runs", "show", page.ShortRun(r.RunID)))
	}
}
