// Package travel implements the commands that move a session from one store to
// another: as a file with export, import, and bundle, which inspects such a file
// without importing it; directly with push and pull.
//
// The package does not know the format of a bundle: durable/travel/bundle
// defines it and infra/bundlefile reads and writes the file, in windows, so that
// a bundle may be larger than memory (docs/design.md#bundles).
//
// Start reading at NewExport, NewImport and NewPush.
package travel

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/bundlefile"
)

// exportLong is what 'waybill export --help' prints above the usage.
const exportLong = `Export a session to one file, a bundle: its log, the workflows that its runs are pinned
to, all snapshots and artifacts that it refers to, and their digests. 'waybill import'
adds the session to another store, where it can continue; 'waybill bundle show' inspects
the file. The store is not changed, but for --hand-over. Tokens are not exported.

--hand-over first records that the session continues elsewhere: then it takes no steps in
this store until the bundle that comes home is imported, or 'waybill runs take-back'
revokes that. Repeated, it writes the bundle again. --to names the receiver in the record.

A damaged session is refused; --salvage exports the valid part before the damage, and
the bundle records that. --redact removes text that looks like a secret (keys, tokens,
passwords): the digests change, so a redacted bundle is another history than the
session. Workflows are never redacted, since runs are pinned to them by their digests.

--sign also writes FILE.sig, a signature over the bytes of the bundle, which is made with
ssh-keygen. 'waybill import' says who signed, 'waybill bundle verify --signers' checks it,
and so does 'ssh-keygen -Y verify -n waybill'. If signing fails, the bundle remains.

With --format openwop, export a run for diagnosis instead, as a debug bundle of the
OpenWOP protocol: state, run events and annotations, without secrets, at most 8 MiB. It
cannot be imported.`

// exportInput has the values of the flags of export.
type exportInput struct {
	// file is the target: "-" for stdout, "" for a file in the working directory
	// that is named after the session.
	file string
	// salvage exports the valid prefix of a damaged session; redact removes
	// secrets.
	salvage, redact bool
	// force replaces an existing file.
	force bool
	// format is openWOP for a debug bundle, "" for a bundle of the session.
	format string
	// sign writes a signature beside the file, with a key file or, for "", a key of the agent.
	sign bool
	key  string
	// handOver records a hand-over first, to a receiver with a name or "".
	handOver bool
	to       string
}

// NewExport returns the command "export". It reads the store and writes one file;
// the store is not changed. -o - and --json exclude each other, since both
// write to stdout.
func NewExport(a *cli.App) *cobra.Command {
	var in exportInput
	return cli.WithOptions(&cobra.Command{
		Use:     "export SESSION|RUN",
		GroupID: cli.GroupMaintain,
		Short:   "Export a session or run to one file",
		Long:    exportLong,
		Example: `  waybill export @last
  waybill export k3j2a7 -o build.bundle.json
  waybill export @last -o - | ssh other waybill import -
  waybill export @last -o build.bundle.json --sign
  waybill export @last --hand-over --to laptop -o build.bundle.json
  waybill export @last --format openwop -o build.debug.json`,
		Args: cli.Exactly("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.file == "-" && a.Flags.JSON {
				return cli.UsageFault(cmd, "-o - and --json both write to stdout").
					Suggest("Give -o a file, or leave out --json.")
			}
			if err := checkSign(cmd, in); err != nil {
				return err
			}
			if err := checkHandOver(cmd, in); err != nil {
				return err
			}
			if in.format == openWOP {
				if err := checkDebug(cmd, args[0], in); err != nil {
					return err
				}
			}
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				if in.format == openWOP {
					return runExportDebug(ctx, a, o, args[0], in)
				}
				return runExport(ctx, a, o, args[0], in)
			})
		},
	},
		cli.Opt(&in.file, "output,o FILE",
			"write to FILE, - for stdout (default SESSION.bundle.json, RUN.debug.json)"),
		cli.Opt(&in.force, "force", "replace an existing file"),
		cli.Opt(&in.handOver, "hand-over", "record that the session continues elsewhere, then export it"),
		cli.Opt(&in.to, "to NAME", "with --hand-over: the NAME of the receiver"),
		cli.Opt(&in.salvage, "salvage", "export the valid part of a damaged session"),
		cli.Opt(&in.redact, "redact", "remove text that looks like a secret"),
		cli.Opt(&in.sign, "sign", "also sign the file with ssh-keygen, into FILE.sig"),
		cli.Opt(&in.key, "key FILE",
			"with --sign: the key FILE (default a key of the agent, of a signer if there are any)"),
		cli.OneOf(&in.format, "format FORMAT", []string{openWOP}, "export a run in FORMAT: openwop"))
}

// runExport writes the bundle and answers with the document "export". With -o -
// stdout has only the bundle, and the text for the user is written to stderr.
//
// Without -o the file is named after the session and written to the working
// directory. An existing file is an error unless --force is given.
func runExport(ctx context.Context, a *cli.App, o *cli.Store, ref string, in exportInput) error {
	defer cli.LimitMemory()()
	// A bundle is a whole session, also if the argument is a run.
	s, err := o.ResolveSession(ctx, ref)
	if err != nil {
		return err
	}
	if in.handOver {
		if _, err := o.HandOver(ctx, o.Caller(), s.String(), in.to); err != nil {
			return err
		}
	}
	seed, err := a.Seed()
	if err != nil {
		return err
	}
	req := travel.ExportRequest{Ref: s.String(), ExportedAt: a.Clock().UTC().Format("2006-01-02T15:04:05.000Z"),
		AppVersion: a.Version,
		Salvage:    in.salvage, Redact: in.redact}
	if in.file == "-" {
		var doc travel.Export
		err := a.StoredStream(func(w io.Writer) error {
			// The engine makes many small writes; the buffer combines them.
			out := bufio.NewWriterSize(w, 256<<10)
			var err error
			if doc, err = o.Export(ctx, seed, req, out); err != nil {
				return err
			}
			return out.Flush()
		})
		if err != nil {
			return outputFault(err)
		}
		// Text on stdout would damage the bundle.
		a.Note(func(p *page.Page) { showExport(a, doc, p) })
		return nil
	}
	in.file = cmp.Or(in.file, s.String()+".bundle.json")
	var by *bundleSigner
	if in.sign {
		signers, err := o.SignersInForce(ctx)
		if err != nil {
			return err
		}
		by = &bundleSigner{app: a, signers: signers, key: in.key}
	}
	doc, err := exportTo(ctx, o.Exchange, seed, req, in, by)
	if err != nil {
		return err
	}
	if !in.sign {
		noteOtherSignature(a, in.file)
	}
	return a.Answer("export", doc, func(p *page.Page) { showExport(a, doc, p) })
}

// outputFault converts an error without a fault code to OUTPUT_FAILED: such an
// error was returned by stdout and not by the export. Errors with a code are
// returned unchanged.
// checkHandOver refuses flags that contradict a hand-over: a bundle with other events would not be the session that
// continues elsewhere.
func checkHandOver(cmd *cobra.Command, in exportInput) error {
	switch {
	case in.to != "" && !in.handOver:
		return cli.UsageFault(cmd, "--to names the receiver of a hand-over").Suggest("Add --hand-over.")
	case in.handOver && (in.salvage || in.redact || in.format != ""):
		return cli.UsageFault(cmd, "--hand-over exports the session as it is").
			Suggest("Leave out --salvage, --redact and --format.")
	}
	return nil
}

func outputFault(err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}
	return fault.Wrap(err, fault.OutputFailed, "the bundle could not be written to stdout: %v", err).
		Suggest("The output is incomplete and cannot be imported. Repeat the call, or write to a file with -o.")
}

// exportTo writes the bundle to a temporary file and renames it, so that an
// incomplete bundle never has the final name. A signal interrupts the export:
// the temporary file is removed and the error is INTERRUPTED. With a signer the
// placed file is signed, and stays if that fails.
func exportTo(ctx context.Context, x *travel.Exchange, seed [16]byte, req travel.ExportRequest,
	in exportInput, by *bundleSigner) (travel.Export, error) {
	target, err := bundlefile.Create(in.file, in.force)
	if err != nil {
		return travel.Export{}, err
	}
	if err := by.create(in); err != nil {
		target.Abandon()
		return travel.Export{}, err
	}
	defer by.close()
	// The temporary file is in a directory of the user, which gc does not clean,
	// so it is removed here. A second signal ends the process at once.
	ctx, stop := signal.NotifyContext(ctx, cli.StopSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop)
	doc, err := x.Export(ctx, seed, req, io.Writer(target))
	if err != nil {
		target.Abandon()
		if ctx.Err() != nil {
			return doc, fault.New(fault.Interrupted, "interrupted; nothing was exported").
				Suggest("Repeat the call; no file was left.")
		}
		return doc, err
	}
	doc.File = in.file
	if err := by.place(target); err != nil {
		return doc, err
	}
	doc.Signature, err = by.sign(ctx, in.file)
	return doc, err
}

// showExport prints the contents of the bundle and its head, which the user can
// compare after an import. For a redacted bundle it warns that only known
// patterns of secrets are found.
func showExport(a *cli.App, doc travel.Export, p *page.Page) {
	what := []string{page.Plural(int(doc.Events), "event"), page.Plural(int(doc.Snapshots), "snapshot"),
		page.Plural(int(doc.Artifacts), "artifact")}
	if doc.Annotations > 0 {
		what = append(what, page.Plural(int(doc.Annotations), "annotation"))
	}
	p.Text(p.Good("✓ "), page.List(what, "and")+" exported to "+cmp.Or(doc.File, "stdout"))
	p.Facts(doc.SessionID.String(), page.Size(doc.Bytes))
	p.Line("%s", p.Dim("head "+doc.Head.String()))
	if doc.Signature != nil {
		p.Text("", "Signed by "+signerName(*doc.Signature)+": "+doc.Signature.File)
	}
	if doc.Salvage != nil {
		p.Text(p.Warn("! "), "Salvaged: the session is "+render.Health(doc.Salvage.Health)+
			", and what follows event "+page.Itoa(int(doc.Events-1))+" is not included.")
	}
	for _, w := range doc.Warnings {
		p.Text(p.Warn("! "), "suspected secret: "+w.Pointer+" ("+string(w.Rule)+")")
	}
	if len(doc.Warnings) > 0 {
		p.Text("", "The bundle has what is stored. Remove suspected secrets with '"+
			a.Command("export", doc.SessionID.String(), "--redact")+"'.")
	}
	if doc.Redacted != nil {
		var n int64
		for _, hits := range doc.Redacted {
			n += hits
		}
		p.Text("", page.Plural(int(n), "secret")+
			" removed. Check the file before you share it: only known patterns are found.")
	}
}
