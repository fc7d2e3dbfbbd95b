// Package report implements the command 'waybill runs report', which writes all that is recorded of a run as one file, and
// the reports of many runs with a page that lists them.
//
// Package pages makes the pages. Start reading at New.
package report

import (
	"cmp"
	"context"
	"io"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/current"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/pages"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/infra/bundlefile"
	"github.com/waybill/waybill/projections/markup"
)

// memoryLimitBytes is the soft memory limit: a report of 2,000 steps keeps 25 MiB, and the process needs 62 MiB.
const memoryLimitBytes = 48 << 20

// reportFormat is the closed set of formats of a report.
type reportFormat string

const (
	htmlFormat     reportFormat = "html"
	markdownFormat reportFormat = "markdown"
	jsonFormat     reportFormat = "json"
)

// endings are the ends of the names of the files, by format.
var endings = map[reportFormat]string{htmlFormat: ".report.html", markdownFormat: ".report.md",
	jsonFormat: ".report.json"}

// reportLong is what 'waybill runs report --help' prints above the usage.
const reportLong = `Write all that is recorded of a run as one file to hand on: its steps with prompts, notes and
output, the graph, decisions and approvals, open gaps, artifacts with digests, the timeline,
annotations, and what 'waybill verify' says of its session. Without RUN, write the latest run.
Nothing is changed in the store.

The HTML file is complete in itself: it has no script and loads nothing. It follows the
light or dark setting of the reader, and can be printed. Text of notes and outputs cannot
become part of the page. Without -o, the file is named after the run.

The report has what the store has, also what a secret was not recognized in: read it before
you hand it on. Of a very long run the report says what it leaves out.

With --controls, write a page for a review of how the run was made: who did what, what was shown,
checks, decisions, whether performers and approvers were separate, and how to verify each.

With --index, write the reports of all runs to the directory DIR, and index.html with links to
them. --status, --workflow and --since select runs as in 'waybill runs list'.`

// reportInput has the values of the flags of report.
type reportInput struct {
	file, index     string
	since           string
	format          reportFormat
	force, controls bool
	selection       lists.Selection
}

// New returns the command "runs report". It changes nothing in the store.
func New(a *cli.App) *cobra.Command {
	in := reportInput{}
	return cli.WithOptions(&cobra.Command{
		Use:   "report [RUN]",
		Short: "Write a run as one file to hand on",
		Long:  reportLong,
		Example: "  waybill runs report -o report.html\n  waybill runs report k3j2a7 --format markdown -o -\n" +
			"  waybill runs report k3j2a7 --controls -o controls.html\n" +
			"  waybill runs report --index reports --since 7d",
		Args: cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.check(a, cmd, args); err != nil {
				return err
			}
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				defer cli.LimitHeapAt(memoryLimitBytes)()
				ctx, stop := signal.NotifyContext(ctx, cli.StopSignals()...)
				defer stop()
				if in.index != "" {
					return writeIndex(ctx, a, o, in)
				}
				return writeReport(ctx, a, o, cli.RunArg(args), in)
			})
		},
	},
		cli.Opt(&in.file, "output,o FILE", "write to FILE, - for stdout (default RUN.report.html)"),
		cli.OneOf(&in.format, "format FORMAT", []reportFormat{htmlFormat, markdownFormat, jsonFormat},
			"write the report in FORMAT: html, markdown or json (default html)"),
		cli.Opt(&in.force, "force", "replace existing files"),
		cli.Opt(&in.controls, "controls", "write the page for a review instead, in HTML"),
		cli.Opt(&in.index, "index DIR", "write the reports of all runs to DIR, with index.html"),
		cli.ManyOf(&in.selection.Status, "status STATUS", lists.Statuses(),
			"with --index: only runs with STATUS, may be repeated: "+page.JoinWords(lists.Statuses())),
		cli.Opt(&in.selection.Workflow, "workflow ID", "with --index: only runs of the workflow ID"),
		cli.Opt(&in.since, "since TIME",
			"with --index: only runs with an event since TIME: a date, a time, or a duration before now"))
}

// check refuses flags that contradict each other.
func (in *reportInput) check(a *cli.App, cmd *cobra.Command, args []string) (err error) {
	in.selection.SinceMs, err = cli.SinceMs(a, cmd, in.since)
	in.format = cmp.Or(in.format, htmlFormat)
	selects := len(in.selection.Status) > 0 || in.selection.Workflow != "" || in.since != ""
	switch {
	case err != nil:
		return err
	case in.controls && in.format != htmlFormat:
		return cli.UsageFault(cmd, "--controls is a page, and --format %s is none", in.format).
			Suggest("The document of --format json has the same facts as its member controls.")
	case in.index != "" && (len(args) > 0 || in.file != "" || in.format != htmlFormat || in.controls):
		return cli.UsageFault(cmd,
			"--index writes the pages of all runs: RUN, -o, --format and --controls cannot be combined with it")
	case in.index == "" && selects:
		return cli.UsageFault(cmd, "--status, --workflow and --since select the runs of --index")
	}
	return nil
}

// readReport reads the report of one run.
func readReport(ctx context.Context, a *cli.App, o *cli.Store, ref string) (report.Report, error) {
	r, err := o.Reports.Report(ctx, ref, report.Options{MadeAtMs: a.NowMs(), Version: a.Version})
	if ctx.Err() != nil {
		return r, fault.New(fault.Interrupted, "interrupted; no report was written").Suggest("Repeat the call.")
	}
	if err == nil {
		r.Run = current.Run(ctx, a, o, r.Run)
	}
	return r, err
}

// render writes a report in the format of the call.
func (in reportInput) render(w io.Writer, r report.Report) error {
	switch {
	case in.controls:
		return markup.Render(w, pages.Controls(r))
	case in.format == markdownFormat:
		return pages.Markdown(w, r)
	case in.format == jsonFormat:
		data, err := canon.Marshal(r)
		if err != nil {
			return err
		}
		_, err = w.Write(invisible.EscapeJSON([]byte(`{"v":1,"kind":"report","data":` + string(data) + "}\n")))
		return err
	}
	return markup.Render(w, pages.Report(r))
}

// writeReport writes the report of one run and answers with the document "report_file". With -o - stdout has the
// report alone.
func writeReport(ctx context.Context, a *cli.App, o *cli.Store, ref string, in reportInput) error {
	r, err := readReport(ctx, a, o, ref)
	if err != nil {
		return err
	}
	if in.file == "-" {
		if err := a.StoredStream(func(w io.Writer) error { return in.render(w, r) }); err != nil {
			return outputFault(err)
		}
		return nil
	}
	doc := document.ReportFile{RunID: r.Run.RunID, Format: string(in.format), LeftOut: r.LeftOut,
		File: cmp.Or(in.file, r.Run.RunID.String()+endings[in.format])}
	again := fault.Command{"runs", "report", r.Run.RunID.String(), "-o", command.Word(doc.File), "--force"}
	target, _, err := create(a, doc.File, in.force, again)
	if err != nil {
		return err
	}
	if err := place(target, in, r); err != nil {
		return err
	}
	return a.Answer("report_file", doc, func(p *page.Page) { showReportFile(p, r, doc) })
}

// outputFault is OUTPUT_FAILED for an error of stdout.
func outputFault(err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}
	return fault.Wrap(err, fault.OutputFailed, "the report could not be written to stdout: %v", err).
		Suggest("The output is incomplete. Repeat the call, or write to a file with -o.")
}

// create starts a file. For one that exists it asks a person at the terminal; elsewhere the error is RUN_WAITING with
// the command again, which replaces it. replaces reports that an existing file may be replaced.
func create(a *cli.App, name string, force bool, again fault.Command) (target *bundlefile.Target, replaces bool,
	err error) {
	target, err = bundlefile.Create(name, force)
	if !bundlefile.IsExisting(err) {
		return target, force, err
	}
	if !a.AtTerminal() {
		return nil, false, fault.New(fault.RunWaiting, "%s already exists, and was not replaced", name).
			Suggest("Name another file with -o, or replace it with %s.", again)
	}
	if err := a.Asked(func(p *page.Page) { p.Text("", name+" already exists.") }, "Replace it?"); err != nil {
		return nil, false, err
	}
	target, err = bundlefile.Create(name, true)
	return target, true, err
}

// place writes a report to a file and gives the file its name.
func place(target *bundlefile.Target, in reportInput, r report.Report) error {
	if err := in.render(target, r); err != nil {
		target.Abandon()
		return err
	}
	return target.Commit()
}

// showReportFile prints which file was written.
func showReportFile(p *page.Page, r report.Report, doc document.ReportFile) {
	p.Text(p.Good("✓ "), "Report of “"+page.OneLine(r.Run.Title)+"” written to "+doc.File)
	if !r.Verification.OK {
		p.Text(p.Bad("! "), "The verification of its session failed; the report says so.")
	}
	for _, l := range doc.LeftOut {
		p.Text(p.Dim("… "), page.Itoa(l.Count)+" of "+string(l.Part)+" left out, see the report.")
	}
}

// indexFile is the page that lists the reports of a directory.
const indexFile = "index.html"

// writeIndex writes the reports of the selected runs and a page that lists them. A run that cannot be reported is
// listed with the reason. The page gets its name last, so that it never links to a report that does not exist yet.
func writeIndex(ctx context.Context, a *cli.App, o *cli.Store, in reportInput) error {
	rows, failed, err := selectAll(ctx, o, in.selection)
	if err != nil {
		return err
	}
	if err := bundlefile.Folder(in.index); err != nil {
		return err
	}
	path := func(name string) string { return in.index + "/" + name }
	again := fault.Command{"runs", "report", "--index", command.Word(in.index), "--force"}
	list, replaces, err := create(a, path(indexFile), in.force, again)
	if err != nil {
		return err
	}
	in.force = replaces // the reports that the page lists as well
	doc := document.ReportIndex{Directory: in.index, File: path(indexFile), Reports: []document.ReportFile{},
		Failed: failed}
	written := map[string]string{}
	for _, row := range rows {
		name := row.RunID.String() + ".html"
		r, err := readReport(ctx, a, o, row.RunID.String())
		if err == nil {
			var target *bundlefile.Target
			if target, err = bundlefile.Create(path(name), in.force); err == nil {
				err = place(target, in, r)
			}
			if err != nil {
				list.Abandon()
				return stopped(err, len(doc.Reports), path(name), again)
			}
			written[row.RunID.String()] = name
			doc.Reports = append(doc.Reports, document.ReportFile{RunID: row.RunID, File: path(name),
				Format: string(htmlFormat), LeftOut: r.LeftOut})
			continue
		}
		if ctx.Err() != nil {
			list.Abandon()
			return err
		}
		doc.Failed = append(doc.Failed, pages.Failed{Name: row.RunID.String(), Reason: fault.Of(err).Message})
	}
	x := pages.Index{Rows: rows, Failed: doc.Failed, MadeAtMs: a.NowMs(), Version: a.Version,
		File: func(r views.RunSummary) (string, bool) {
			name, ok := written[r.RunID.String()]
			return name, ok
		}}
	if err := markup.Render(list, x.Node()); err != nil {
		list.Abandon()
		return err
	}
	if err := list.Commit(); err != nil {
		return err
	}
	return a.Answer("report_index", doc, func(p *page.Page) { showIndex(p, doc) })
}

// stopped says how many reports were written before an error.
func stopped(err error, written int, name string, again fault.Command) error {
	if bundlefile.IsExisting(err) {
		err = fault.New(fault.RunWaiting, "%s already exists, and was not replaced", name).
			Suggest("Name another directory, or replace the files with %s.", again)
	}
	f := *fault.Of(err)
	f.Message += "; " + page.Plural(written, "report") + " written before, and no " + indexFile
	return &f
}

// selectAll returns all runs of a selection, and the sessions that cannot be read.
func selectAll(ctx context.Context, o *cli.Store, s lists.Selection) (rows []views.RunSummary, failed []pages.Failed,
	err error) {
	failed = []pages.Failed{}
	for {
		chosen, err := lists.SelectRuns(ctx, o.Lists, s)
		if err != nil {
			return nil, nil, err
		}
		if s.Cursor == "" {
			for _, u := range chosen.Unreadable {
				failed = append(failed, pages.Failed{Name: cmp.Or(u.Name, u.SessionID.String()), Reason: u.Message})
			}
		}
		rows = append(rows, chosen.Runs...)
		if s.Cursor = chosen.NextCursor; s.Cursor == "" {
			return rows, failed, nil
		}
	}
}

// showIndex prints how many reports were written.
func showIndex(p *page.Page, doc document.ReportIndex) {
	p.Text(p.Good("✓ "), page.Plural(len(doc.Reports), "report")+" written to "+doc.Directory+", listed in "+doc.File)
	for _, f := range doc.Failed {
		p.Text(p.Bad("✗ "), f.Name+": "+f.Reason)
	}
}
