// Package travel holds the commands that take a session from one store to
// another as a file: export, import, and the commands that look into such a
// bundle without importing it.
//
// A bundle is read and written through windows, and may be larger than memory.
// Its form is known to packages below this one alone.
package travel

import (
	"bufio"
	"context"
	"io"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/bundlefile"
)

// exportLong is what 'waybill export --help' prints above the usage.
const exportLong = `Write a session as one file, a bundle: its log, the workflows that its runs are pinned to,
every state and result that it refers to, and the digests of all of it. Elsewhere
'waybill import' takes it in and goes on from there; 'waybill bundle show' looks into it
without that. Tokens do not travel.

A damaged session is refused; --salvage exports what stands before the damage, and the
bundle says so. --redact takes out what looks like a secret (keys, tokens, passwords) for
sharing: such a bundle is another history than the one that it was made from. Workflows
travel as they were written, redacted or not: runs are pinned to them by their digests.`

// exportInput is what the flags of export say. file is "-" for stdout and ""
// for a file that is named after the session.
type exportInput struct {
	file string
	// salvage exports the valid beginning of a damaged session; redact removes
	// secrets.
	salvage, redact bool
	// force replaces a file that exists.
	force bool
}

// NewExport makes the command "export". It reads the store and writes one file;
// the store is not changed. -o - and --json exclude each other, since both
// write to stdout.
func NewExport(a *cli.App) *cobra.Command {
	var in exportInput
	cmd := &cobra.Command{
		Use:     "export SESSION|RUN",
		GroupID: cli.GroupStore,
		Short:   "Write a session as one file that can be taken elsewhere",
		Long:    exportLong,
		Example: `  waybill export @last
  waybill export k3j2a7 -o build.bundle.json
  waybill export @last -o - | ssh other waybill import -`,
		Args: cli.Exactly("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.file == "-" && a.Flags.JSON {
				return cli.UsageFault(cmd, "-o - writes the bundle to stdout, and --json the answer").
					Suggest("Give -o a file, or leave out --json.")
			}
			return runExport(cmd.Context(), a, args[0], in)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&in.file, "output", "o", "", "write to `FILE`, - for stdout; without it to SESSION.bundle.json")
	f.BoolVar(&in.force, "force", false, "replace a file that is there")
	f.BoolVar(&in.salvage, "salvage", false, "of a damaged session, export what stands before the damage")
	f.BoolVar(&in.redact, "redact", false, "take out what looks like a secret")
	return cmd
}

// runExport writes the bundle and prints the document "export". On stdout there
// is only the bundle, so what a person reads goes to stderr then.
//
// Without -o the file is named after the session and written to the working
// directory. An existing file is an error unless --force is given.
func runExport(ctx context.Context, a *cli.App, ref string, in exportInput) error {
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	defer cli.LimitMemory()()
	// A run names its session: a bundle is a whole session.
	s, err := o.SessionOf(ctx, ref)
	if err != nil {
		return err
	}
	seed, err := a.Seed()
	if err != nil {
		return err
	}
	req := engine.ExportRequest{Ref: s.String(), ExportedAt: a.Clock().UTC().Format("2006-01-02T15:04:05.000Z"),
		AppVersion: a.Version,
		Salvage:    in.salvage, Redact: in.redact}
	if in.file == "-" {
		// Many small writes become few large ones.
		out := bufio.NewWriterSize(a.Out, 256<<10)
		doc, err := o.Export(ctx, seed, req, out)
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return outputFault(err)
		}
		// Stdout is the bundle and nothing else.
		p := a.NewPage(a.Err)
		showExport(a, doc, p)
		_, _ = a.Err.Write(p.Bytes())
		return nil
	}
	if in.file == "" {
		in.file = s.String() + ".bundle.json"
	}
	doc, err := exportTo(ctx, o.Engine, seed, req, in)
	if err != nil {
		return err
	}
	return a.Answer("export", doc, func(p *page.Page) { showExport(a, doc, p) })
}

// outputFault makes OUTPUT_FAILED of an error that is no fault: it comes from
// stdout and not from the export, and what was written before it is no bundle.
// The session itself was only read.
func outputFault(err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}
	return fault.Wrap(err, fault.OutputFailed, "the bundle could not be written to stdout: %v", err).
		Suggest("What came out is no bundle. Nothing was changed: make the call again, or write to a file with -o.")
}

// exportTo writes the bundle to a file that appears whole, under its name, or
// not at all. A signal interrupts the export, and what was written of the file
// is removed.
func exportTo(ctx context.Context, g *engine.Engine, seed [16]byte, req engine.ExportRequest,
	in exportInput) (engine.Export, error) {
	target, err := bundlefile.Create(in.file, in.force)
	if err != nil {
		return engine.Export{}, err
	}
	// What was begun in the user's folder is removed again: no cleanup of ours ever
	// comes there. A second signal ends the process at once.
	ctx, stop := signal.NotifyContext(ctx, cli.StopSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop)
	doc, err := g.Export(ctx, seed, req, io.Writer(target))
	if err != nil {
		target.Abandon()
		if ctx.Err() != nil {
			return doc, fault.New(fault.Interrupted, "interrupted; nothing was exported").
				Suggest("Make the call again; nothing was left behind.")
		}
		return doc, err
	}
	doc.File = in.file
	return doc, target.Commit()
}

// showExport prints what is in the bundle and its head, with which an importer
// can compare. Of a redacted one it warns that only known patterns of secrets
// are found.
func showExport(a *cli.App, doc engine.Export, p *page.Page) {
	where := doc.File
	if where == "" {
		where = "stdout"
	}
	what := []string{page.Plural(int(doc.Events), "event"), page.Plural(int(doc.Snapshots), "snapshot"),
		page.Plural(int(doc.Artifacts), "artifact")}
	if doc.Annotations > 0 {
		what = append(what, page.Plural(int(doc.Annotations), "annotation"))
	}
	p.Text(p.Good("✓ "), page.List(what)+" exported to "+where)
	p.Facts(doc.SessionID.String(), page.Size(doc.Bytes))
	p.Line("%s", p.Dim("head "+doc.Head.String()))
	if doc.Salvage != nil {
		p.Text(p.Warn("! "), "This is a salvage: the session is "+render.Health(doc.Salvage.Health)+
			", and what stands behind event "+page.Itoa(int(doc.Events-1))+" is not in it.")
	}
	if doc.Redacted != nil {
		var n int64
		for _, hits := range doc.Redacted {
			n += hits
		}
		p.Text("", page.Plural(int(n), "secret")+
			" taken out. Look at it before you share it: only known patterns are found.")
	}
}
