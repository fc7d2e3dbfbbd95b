package upkeep

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/bundlefile"
)

// newArtifactsList returns "artifacts list".
func newArtifactsList(a *cli.App) *cobra.Command {
	var q views.ArtifactQuery
	return cli.WithOptions(&cobra.Command{
		Use:   "list [RUN]",
		Short: "List the artifacts of a run or of the store",
		Long: `List the artifacts that the steps of a run recorded, oldest first, with step, kind, type
and size: also those that later ones replaced. Without RUN, list those of all runs, session by
session. Artifacts that were erased, and those that another program recorded inside its
events, say so.

If more artifacts follow, because of --limit or because the page would exceed 1 MiB, the JSON
document contains nextCursor; --cursor continues from there.`,
		Example: "  waybill artifacts list @last\n  waybill artifacts list --json --limit 20",
		Args:    cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			defer cli.LimitMemory()()
			if q.Limit < 0 {
				return cli.UsageFault(cmd, "--limit %d is negative", q.Limit)
			}
			if len(args) > 0 {
				q.Run = args[0]
			}
			return cli.Show(a, cmd, "artifacts",
				func(ctx context.Context, o *cli.Store) (views.ArtifactList, error) { return o.Artifacts(ctx, q) },
				showArtifacts)
		},
	},
		cli.Opt(&q.Limit, "limit N", "list at most N artifacts; 0 lists as many as a page holds"),
		cli.Opt(&q.Cursor, "cursor CURSOR", "continue after the CURSOR of the previous page"),
		cli.Lines(a, "artifacts"))
}

// typeColumn is the index of the content type in the table of artifacts.
const typeColumn = 4

// showArtifacts prints the table of artifacts, the cursor of the next page, and what could not be read.
func showArtifacts(p *page.Page, list views.ArtifactList) {
	var rows [][]page.Cell
	for _, r := range list.Artifacts {
		what := cmp.Or(r.ArtifactKind, r.ContentType)
		rows = append(rows, []page.Cell{{Text: p.Name(page.ShortDigest(r.SHA256), r.SHA256.String()), Paint: p.Bold},
			{Text: p.Name(page.ShortRun(r.RunID), r.RunID.String())}, {Text: cmp.Or(r.StepInstanceKey, r.StepID)},
			{Text: what}, {Text: r.ContentType}, {Text: page.Size(r.Bytes)}, {Text: artifactNote(r)}})
	}
	if len(rows) > 0 {
		columns := []page.Column{{Title: "DIGEST"}, {Title: "RUN", Spare: true}, {Title: "STEP", Flex: true},
			{Title: "KIND", Flex: true}, {Title: "TYPE"}, {Title: "SIZE", Right: true, Spare: true},
			{Title: "NOTE", Flex: true, Spare: true}}
		if p.Width > 0 { // a terminal has no room for the type beside the kind
			columns = slices.Delete(columns, typeColumn, typeColumn+1)
			for i := range rows {
				rows[i] = slices.Delete(rows[i], typeColumn, typeColumn+1)
			}
		}
		p.Table(columns, rows)
	} else {
		p.Line("No artifacts.")
	}
	if list.NextCursor != "" {
		p.Line("%s", p.Dim("More: --cursor "+list.NextCursor))
	}
	showUnreadable(p, list.Unreadable)
}

// artifactNote says what is special about an artifact, "" for nothing.
func artifactNote(r views.ArtifactRow) string {
	switch {
	case r.State == views.ArtifactErased:
		return "erased"
	case r.State == views.ArtifactForeign:
		return "in the event of another program"
	case !r.Current:
		return "replaced"
	}
	return ""
}

// showUnreadable prints the sessions that could not be read to their end.
func showUnreadable(p *page.Page, all []views.Unreadable) {
	for _, u := range all {
		p.Text(p.Bad("✗ "), cmp.Or(u.Name, u.SessionID.String())+" could not be read to its end: "+u.Message)
	}
}

// newArtifactsShow returns "artifacts show".
func newArtifactsShow(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show DIGEST",
		Short: "Show an artifact and where it is used",
		Long: `Show an artifact: kind, type and size, who recorded it at which step, and its content. JSON
is indented, and of a long text the beginning is printed; 'waybill artifacts get' prints all
bytes. Control and invisible characters are shown as symbols.`,
		Example: "  waybill artifacts show 9f86d081884c\n  waybill artifacts show sha256:9f86d0… --json",
		Args:    cli.Exactly("DIGEST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			defer cli.LimitMemory()()
			return cli.Show(a, cmd, "artifact",
				func(ctx context.Context, o *cli.Store) (views.ArtifactDetails, error) {
					return o.Artifact(ctx, args[0])
				},
				func(p *page.Page, d views.ArtifactDetails) { showArtifact(a, p, d) })
		},
	}
}

// showArtifact prints an artifact with its uses and its content.
func showArtifact(a *cli.App, p *page.Page, d views.ArtifactDetails) {
	p.Line("%s", p.Bold(d.SHA256.String()))
	p.Text("", page.Name(cmp.Or(d.ArtifactKind, "no kind")+", "+cmp.Or(d.ContentType, "unknown type")+", "+
		page.Plural(int(d.Bytes), "byte")))
	for _, u := range d.Uses {
		who := string(u.RecordedBy.Kind)
		if u.RecordedBy.Ref != "" {
			who += " " + page.OneLine(u.RecordedBy.Ref)
		}
		where := "step " + cmp.Or(page.OneLine(cmp.Or(u.StepInstanceKey, u.StepID)), "that cannot be read")
		facts := []string{"  run " + page.ShortRun(u.RunID), where, "node " + page.ShortNode(u.NodeID),
			page.ClockTime(u.AtMs, "2 Jan 2006 15:04")}
		if who != "" {
			facts = append(facts, "recorded by "+who)
		}
		if note := artifactNote(u); note != "" {
			facts = append(facts, note)
		}
		p.Facts(facts...)
	}
	render.ClaimNote(p, slices.ContainsFunc(d.Uses, func(u views.ArtifactRow) bool { return u.RecordedBy.Ref != "" }))
	if d.MoreUses > 0 {
		p.Line("  and %d more", d.MoreUses)
	}
	if len(d.Uses) == 0 {
		p.Line("  No step of a session recorded it.")
	}
	showUnreadable(p, d.Unreadable)
	p.Line("")
	get := a.Command("artifacts", "get", d.SHA256.String())
	switch {
	case d.State == views.ArtifactErased:
		p.Text(p.Warn("! "), d.Erased)
	case d.State == views.ArtifactForeign:
		p.Text(p.Warn("! "), "Another program recorded it inside an event: the store has no file of it. "+
			a.Command("runs", "events", d.Uses[0].RunID.String())+" prints the event.")
	case d.Form == views.BinaryContent:
		p.Text("", "Binary content is not shown. Save it with "+get+" -o FILE")
	default:
		p.QuoteExactly("", indented(d), page.Plain)
		if d.CutBytes > 0 {
			p.Text(p.Warn("… "), page.Size(d.CutBytes)+" more: "+get)
		}
	}
}

// indented returns the content, JSON with one member a line.
func indented(d views.ArtifactDetails) string {
	var b bytes.Buffer
	if d.Form != views.JSONContent || json.Indent(&b, []byte(d.Content), "", "  ") != nil {
		return d.Content
	}
	return b.String()
}

// newArtifactsGet returns "artifacts get".
func newArtifactsGet(a *cli.App) *cobra.Command {
	var file string
	var force bool
	return cli.WithOptions(&cobra.Command{
		Use:   "get DIGEST",
		Short: "Print or save the bytes of an artifact",
		Long: `Print the bytes of an artifact on stdout, or save them in a file with -o. The digest is
recomputed before: of a damaged artifact nothing is written. To a pipe or file the bytes are exact.
At a terminal, control and invisible characters are written as \u escapes.`,
		Example: "  waybill artifacts get 9f86d081884c -o report.md\n  waybill artifacts get sha256:9f86d0… | jq .",
		Args:    cli.Exactly("DIGEST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.Flags.JSON && (file == "" || file == "-") {
				return cli.UsageFault(cmd, "the bytes and --json both go to stdout").
					Suggest("Give -o a file, or leave out --json.")
			}
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				r, ref, err := o.ArtifactBytes(ctx, args[0])
				if err != nil {
					return err
				}
				defer func() { _ = r.Close() }()
				if file == "" || file == "-" {
					return a.StoredStream(func(w io.Writer) error {
						if a.IsTerminal(a.Out) {
							w = carriageReturns{w}
						}
						return copied(w, r, nil)
					})
				}
				return saveArtifact(a, r, ref, file, force)
			})
		},
	},
		cli.Opt(&file, "output,o FILE", "write to FILE, - for stdout"),
		cli.Opt(&force, "force", "replace an existing file"))
}

// saveArtifact writes the bytes to a file, which has its name only when it is complete.
func saveArtifact(a *cli.App, r io.Reader, ref canon.Digest, file string, force bool) error {
	target, err := bundlefile.Create(file, force)
	if err != nil {
		return err
	}
	var n int64
	if err := copied(target, r, &n); err != nil {
		target.Abandon()
		return err
	}
	if err := target.Commit(); err != nil {
		return err
	}
	return a.Answer("artifact_file", document.ArtifactFile{SHA256: ref, File: file, Bytes: n}, func(p *page.Page) {
		p.Text(p.Good("✓ "), page.Plural(int(n), "byte")+" written to "+file)
	})
}

// copied copies the bytes and counts them. An error without a code is that of the writer.
func copied(w io.Writer, r io.Reader, n *int64) error {
	count, err := io.Copy(w, r)
	if n != nil {
		*n = count
	}
	if err != nil && fault.CodeOf(err) == fault.Internal {
		return fault.Wrap(err, fault.OutputFailed, "the artifact could not be written to stdout: %v", err).
			Suggest("The output is incomplete. Repeat the call, or write to a file with -o.")
	}
	return err
}

// carriageReturns escapes the returns of text at a terminal, which would overwrite a line.
type carriageReturns struct{ to io.Writer }

// Write implements io.Writer.
func (w carriageReturns) Write(p []byte) (int, error) {
	if _, err := w.to.Write(bytes.ReplaceAll(p, []byte("\r"), []byte(`\u000d`))); err != nil {
		return 0, err
	}
	return len(p), nil
}
