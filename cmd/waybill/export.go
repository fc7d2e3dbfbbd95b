package main

import (
	"bufio"
	"context"
	"io"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/bundlefile"
)

const exportLong = `Write a session as one file, a bundle: its log, the workflows that its runs are pinned to,
every state and result that it refers to, and the digests of all of it. Elsewhere
'waybill import' takes it in and goes on from there; 'waybill bundle show' looks into it
without that. Tokens do not travel.

A damaged session is refused; --salvage exports what stands before the damage, and the
bundle says so. --redact takes out what looks like a secret (keys, tokens, passwords) for
sharing: such a bundle is another history than the one that it was made from. Workflows
travel as they were written, redacted or not: runs are pinned to them by their digests.`

// exportInput is what the flags of export say.
type exportInput struct {
	file            string
	salvage, redact bool
	force           bool
}

func newExportCommand(a *app) *cobra.Command {
	var in exportInput
	cmd := &cobra.Command{
		Use:     "export SESSION|RUN",
		GroupID: groupStore,
		Short:   "Write a session as one file that can be taken elsewhere",
		Long:    exportLong,
		Example: `  waybill export @last
  waybill export k3j2a7 -o build.bundle.json
  waybill export @last -o - | ssh other waybill import -`,
		Args: exactly("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.file == "-" && a.common.json {
				return usageFault(cmd, "-o - writes the bundle to stdout, and --json the answer").
					Suggest("Give -o a file, or leave out --json.")
			}
			return a.export(cmd.Context(), args[0], in)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&in.file, "output", "o", "", "write to `FILE`, - for stdout; without it to SESSION.bundle.json")
	f.BoolVar(&in.force, "force", false, "replace a file that is there")
	f.BoolVar(&in.salvage, "salvage", false, "of a damaged session, export what stands before the damage")
	f.BoolVar(&in.redact, "redact", false, "take out what looks like a secret")
	return cmd
}

func (a *app) export(ctx context.Context, ref string, in exportInput) error {
	o, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer o.close()
	defer thrifty()()
	s, err := o.SessionOf(ctx, ref)
	if err != nil {
		return err
	}
	seed, err := a.seed()
	if err != nil {
		return err
	}
	req := engine.ExportRequest{Ref: s.String(), ExportedAt: a.clock().UTC().Format("2006-01-02T15:04:05.000Z"),
		AppVersion: a.version,
		Salvage:    in.salvage, Redact: in.redact}
	if in.file == "-" {
		out := bufio.NewWriterSize(a.out, 256<<10)
		doc, err := o.Export(ctx, seed, req, out)
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return outputFault(err)
		}
		p := a.newPage(a.errOut)
		a.tellExport(doc, p)
		_, _ = a.errOut.Write(p.Bytes())
		return nil
	}
	if in.file == "" {
		in.file = s.String() + ".bundle.json"
	}
	doc, err := exportTo(ctx, o.Engine, seed, req, in)
	if err != nil {
		return err
	}
	return a.answer("export", doc, func(p *page) { a.tellExport(doc, p) })
}

// outputFault tells a stdout that takes no more from what the export met.
func outputFault(err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}
	return fault.Wrap(err, fault.OutputFailed, "the bundle could not be written to stdout: %v", err).
		Suggest("What came out is no bundle. Nothing was changed: make the call again, or write to a file with -o.")
}

func exportTo(ctx context.Context, g *engine.Engine, seed [16]byte, req engine.ExportRequest,
	in exportInput) (engine.Export, error) {
	target, err := bundlefile.Create(in.file, in.force)
	if err != nil {
		return engine.Export{}, err
	}
	// What was begun in somebody's folder is taken away again: no cleanup of ours ever
	// comes there. A second signal ends the process at once.
	ctx, stop := signal.NotifyContext(ctx, stopSignals()...)
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

func (a *app) tellExport(doc engine.Export, p *page) {
	where := doc.File
	if where == "" {
		where = "stdout"
	}
	what := []string{plural(int(doc.Events), "event"), plural(int(doc.Snapshots), "snapshot"),
		plural(int(doc.Artifacts), "artifact")}
	if doc.Annotations > 0 {
		what = append(what, plural(int(doc.Annotations), "annotation"))
	}
	p.text(p.good("✓ "), list(what)+" exported to "+where)
	p.facts(doc.SessionID.String(), size(doc.Bytes))
	p.line("%s", p.dim("head "+doc.Head.String()))
	if doc.Salvage != nil {
		p.text(p.warn("! "), "This is a salvage: the session is "+toldHealth(doc.Salvage.Health)+
			", and what stands behind event "+itoa(int(doc.Events-1))+" is not in it.")
	}
	if doc.Redacted != nil {
		var n int64
		for _, hits := range doc.Redacted {
			n += hits
		}
		p.text("", plural(int(n), "secret")+
			" taken out. Look at it before you share it: only known patterns are found.")
	}
}
