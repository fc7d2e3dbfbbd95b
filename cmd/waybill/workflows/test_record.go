package workflows

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/trial"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
)

// record returns a recorded run as a case.
func record(ctx context.Context, a *cli.App, ref string) (trial.Recording, error) {
	return cli.Ask(ctx, a, func(ctx context.Context, o *cli.Store) (trial.Recording, error) { return o.Recorder.Record(ctx, ref) })
}

// holds performs cases of a workflow and returns why they do not hold, "" if they do.
func holds(ctx context.Context, a *cli.App, e catalog.Entry, text []byte) (string, error) {
	f, problems := workflowtest.Parse("recorded.test.yaml", text, e.Compiled)
	if len(problems) > 0 {
		return problems[0].Message, nil
	}
	r, err := trial.Trial{Workflow: e.Compiled, Store: cli.MemoryStore}.Run(ctx, f, nil)
	for _, c := range r.Cases {
		if !c.OK {
			return c.Failures[0].Message, err
		}
	}
	return "", err
}

// writeTests writes the file of tests of a recorded run, and tries it with the workflow as it is now. Without ref
// that is the workflow that the id of the run means.
func writeTests(ctx context.Context, a *cli.App, ref string, in testFlags) error {
	if in.out == "-" && a.Flags.JSON {
		return fault.New(fault.UsageError, "-o - and --json cannot be combined: both write to stdout").
			Suggest("Omit --json, or give a file with -o.")
	}
	r, err := record(ctx, a, in.fromRun)
	if err != nil {
		return err
	}
	path := ""
	if cli.IsFile(ref) {
		path = ref
	}
	if ref == "" {
		ref = r.Workflow.WorkflowID
	}
	e, err := a.Workflow(ctx, ref)
	if err != nil && (in.out == "" || path != "") {
		return err
	}
	if err == nil && e.ID != r.Workflow.WorkflowID {
		return fault.New(fault.ValidationError, "the run is of the workflow %s, and %s is %s", r.Workflow.WorkflowID, ref, e.ID).
			Suggest("Name the workflow of the run, or another run.")
	}
	out := in.out
	if out == "" {
		if out, err = testPath(ctx, a, e, path); err != nil {
			return err
		}
	}
	f := workflowtest.File{Cases: []workflowtest.Case{r.Case}}
	text := f.Text("Tests of " + r.Workflow.WorkflowID + ", from a recorded run. Perform them with 'waybill workflows test'.")
	if out == "-" {
		return a.WriteStored(text)
	}
	doc := document.TestWritten{File: filepath.ToSlash(out), RunID: r.Run.String(), OK: e.ID != "", Warnings: append([]string{}, r.Warnings...)}
	if e.ID != "" {
		why, err := holds(ctx, a, e, text)
		if err != nil {
			return err
		}
		if why != "" {
			doc.OK = false
			doc.Warnings = append(doc.Warnings, "The case does not hold of the workflow as it is now: "+why+".")
		}
	}
	if err := writeFile(out, text, in.force); err != nil {
		return err
	}
	return a.Answer("workflow_test_file", doc, func(p *page.Page) {
		p.Line("%s %s", p.Good("✓"), page.OneLine(out))
		for _, w := range doc.Warnings {
			p.Text(p.Warn("!")+" ", w)
		}
		if e.ID != "" && in.out == "" {
			p.Line("Perform it with: %s", a.Command("workflows", "test", ref))
		}
	})
}

// testPath returns where the tests of a workflow belong. USAGE_ERROR for a workflow that is in no directory.
func testPath(ctx context.Context, a *cli.App, e catalog.Entry, path string) (string, error) {
	finder, err := a.Finder(a.Attached(ctx).Folders()...)
	if err != nil {
		return "", err
	}
	at := ""
	if e.Attached == "" || path != "" {
		at = finder.TestPath(e.File, path)
	}
	if at == "" {
		return "", fault.New(fault.UsageError, "the workflow %s is not in a directory of yours, so that a file of tests has no place beside it", e.ID).
			Suggest("Give the file with -o FILE.")
	}
	if dir, err := os.Getwd(); err == nil && path == "" {
		if rel, err := filepath.Rel(dir, at); err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return at, nil
}

// draftOfRun returns a workflow of the steps of a recorded run, with the test of that run. VALIDATION_ERROR if the
// test does not hold of it.
func draftOfRun(ctx context.Context, a *cli.App, in newFlags) (draft, error) {
	d := draft{id: in.id, extension: ".yaml"}
	if strings.EqualFold(filepath.Ext(in.out), ".json") {
		return d, fault.New(fault.UsageError, "a workflow of a run is written in YAML, and %s is a name of JSON", in.out).
			Suggest("Give a file that ends in .yaml.")
	}
	r, err := record(ctx, a, in.fromRun)
	if err != nil {
		return d, err
	}
	if len(r.Visits) == 0 {
		return d, fault.New(fault.ValidationError, "run %s has shown no step", r.Run).Suggest("Name another run.")
	}
	made := r.Draft(d.id, titleOf(d.id))
	d.data, d.warnings = made.Workflow, made.Warnings
	d.tests = made.Tests.Text("What the recorded run did. Perform it with 'waybill workflows test'.")
	_, w, problems := compile.File("draft.yaml", source.SourceProject, d.data)
	if source.HasErrors(problems) {
		return d, nil // reported before the file is written
	}
	why, err := holds(ctx, a, catalog.Entry{Compiled: w}, d.tests)
	if err == nil && why != "" {
		err = fault.New(fault.ValidationError, "the steps of run %s do not make a workflow that does the same: %s", r.Run, why).
			Suggest("Copy the workflow of the run with %s.", fault.Command{"workflows", "new", d.id, "--from", r.Workflow.WorkflowID})
	}
	return d, err
}
