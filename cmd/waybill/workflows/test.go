package workflows

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/complete"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/trial"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
	"github.com/waybill/waybill/infra/discovery"
)

// testLong is what 'waybill workflows test --help' prints above the usage.
const testLong = `Perform the tests of a workflow. They are the cases in FILE.test.yaml (.yml, .json) beside
the workflow file: what is answered at each step, and what is expected of the run.

  cases:
    - name: a failed build is repeated
      answers:
        build: [{exit: 1}, {exit: 0}]
        sign-off: [{notes: Ready, approve: true}]
      expect: {path: [build, sign-off], status: complete}

Runs are decided in memory by the rules of every other run. No command is executed and
no store is used. Exit status 0: all cases hold; 1: one does not; 2: a file cannot be
true of the workflow; 6: there are no tests.

--coverage lists what no case reached. --from-run writes a file of tests with the case
of a recorded run.`

// testFlags are the flags of "workflows test".
type testFlags struct {
	coverage bool
	junit    string
	fromRun  string
	out      string
	force    bool
}

// newTest returns "workflows test". Without --from-run and --junit it writes nothing.
func newTest(a *cli.App) *cobra.Command {
	var in testFlags
	cmd := &cobra.Command{
		Use:   "test [FILE|ID]",
		Short: "Perform the tests of a workflow in memory",
		Long:  testLong,
		Example: "  waybill workflows test wr.change_checklist --coverage\n" +
			"  waybill workflows test ./release.yaml --junit tests.xml\n" +
			"  waybill workflows test --from-run @last -o release.test.yaml",
		Args: cli.AtMost("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case in.fromRun != "" && (in.coverage || in.junit != ""):
				return cli.UsageFault(cmd, "--from-run cannot be combined with --coverage and --junit").
					Suggest("Write the file first, and test the workflow then.")
			case in.fromRun == "" && (in.out != "" || in.force):
				return cli.UsageFault(cmd, "-o and --force belong to --from-run").Suggest("Give --from-run RUN, or --junit FILE.")
			case in.fromRun != "":
				return writeTests(cmd.Context(), a, strings.Join(args, ""), in)
			case len(args) == 0:
				return cli.UsageFault(cmd, "'%s' needs FILE or ID", cmd.CommandPath()).
					Suggest("Give a workflow, or write a file of tests with --from-run RUN.")
			}
			return performTests(cmd.Context(), a, args[0], in)
		},
	}
	cli.WithOptions(cmd,
		cli.Opt(&in.coverage, "coverage", "list the steps, branches and blockers that no case reached"),
		cli.Opt(&in.junit, "junit FILE", "write the results to FILE, as JUnit XML; it is replaced"),
		cli.Opt(&in.fromRun, "from-run RUN", "write a file of tests with the case of RUN"),
		cli.Opt(&in.out, "output,o FILE",
			"with --from-run, write to FILE; - is stdout (default: beside the workflow)"),
		cli.Opt(&in.force, "force", "with --from-run, replace an existing file"))
	_ = cmd.RegisterFlagCompletionFunc("from-run", complete.RunFlag(a))
	return cmd
}

// testsOf returns a workflow and its files of tests. ref is a workflow, or one of its files of tests, which is then
// the only one. Errors: those of a.Workflow, and TESTS_NOT_FOUND.
func testsOf(ctx context.Context, a *cli.App, ref string) (e catalog.Entry, tests []catalog.File, err error) {
	path, only := "", ""
	if cli.IsFile(ref) {
		path = ref
		if discovery.IsTests(ref) {
			if path, err = workflowBeside(ref); err != nil {
				return e, nil, err
			}
			only = filepath.Base(ref)
		}
		ref = path
	}
	if e, err = a.Workflow(ctx, ref); err != nil {
		return e, nil, err
	}
	finder, err := a.Finder(a.Attached(ctx).Folders()...)
	if err != nil {
		return e, nil, err
	}
	all, err := finder.TestFiles(e.File, path)
	for _, f := range all {
		if only == "" || filepath.Base(f.Ref) == only {
			tests = append(tests, f)
		}
	}
	if err == nil && len(tests) == 0 {
		err = noTests(finder, e, ref, path)
	}
	return e, tests, err
}

// noTests is TESTS_NOT_FOUND with the name that a file of tests would have.
func noTests(finder *discovery.Finder, e catalog.Entry, ref, path string) error {
	f := fault.New(fault.TestsNotFound, "%s has no tests", ref)
	if at := finder.TestPath(e.File, path); at != "" {
		f.Suggest("Write them in %s, or %s.", filepath.Base(at), fault.Command{"workflows", "test", ref, "--from-run", "RUN"})
	}
	return f.With("workflowId", e.ID)
}

// workflowBeside returns the workflow file of a file of tests.
func workflowBeside(tests string) (string, error) {
	stem := discovery.StemOfTests(tests)
	for _, name := range []string{stem, stem + ".yaml", stem + ".yml", stem + ".json"} {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name, nil
		}
	}
	return "", fault.New(fault.WorkflowNotFound, "%s is a file of tests, and there is no workflow %s.yaml, .yml or .json beside it", tests, stem).
		Suggest("Give the file of tests the name of the workflow, with .test before the extension.")
}

// performTests performs all cases and prints the result, which is also the exit status.
func performTests(ctx context.Context, a *cli.App, ref string, in testFlags) error {
	e, tests, err := testsOf(ctx, a, ref)
	if err != nil {
		return err
	}
	doc := document.TestReport{OK: true, WorkflowID: e.ID, SourceRef: e.Ref, WorkflowHash: e.Compiled.Hash()}
	reached := trial.NewCoverage(e.Compiled)
	status, performed := fault.ExitDone, 0
	for _, file := range tests {
		result, err := performFile(ctx, a, e, file, reached)
		if err != nil {
			return err
		}
		doc.Files = append(doc.Files, result)
		performed += len(result.Cases) + len(result.Problems)
		switch {
		case len(result.Problems) > 0:
			status = fault.ExitUsage
		case result.Failed > 0 && status == fault.ExitDone:
			status = fault.ExitFailed
		}
	}
	if performed == 0 {
		return fault.New(fault.TestsNotFound, "%s has no cases", tests[0].Ref).Suggest("Add a case below cases.")
	}
	doc.OK = status == fault.ExitDone
	if in.coverage && status != fault.ExitUsage { // what was not performed reached nothing
		report := reached.Report()
		doc.Coverage = &report
	}
	if in.junit != "" {
		if err := writeJUnit(in.junit, doc); err != nil {
			return err
		}
	}
	return a.AnswerVerdict("workflow_test", doc, func(p *page.Page) { showTests(p, doc) }, status)
}

// performFile performs the cases of a file. A file that cannot be read has that problem.
func performFile(ctx context.Context, a *cli.App, e catalog.Entry, file catalog.File, reached *trial.Coverage) (document.TestFile, error) {
	out := document.TestFile{File: filepath.ToSlash(file.Ref), Problems: []workflowtest.Problem{}, Report: trial.Report{Cases: []trial.CaseResult{}}}
	if file.Err != nil {
		out.Problems = append(out.Problems, workflowtest.Problem{Message: file.Err.Error(), Fix: "Make the file readable, or remove it."})
		return out, nil
	}
	parsed, problems := workflowtest.Parse(file.Ref, file.Data, e.Compiled)
	for _, p := range problems {
		p.Message, p.Fix = redact.Text(p.Message, nil), redact.Text(p.Fix, nil) // they quote the file
		out.Problems = append(out.Problems, p)
	}
	if len(problems) > 0 {
		return out, nil
	}
	var err error
	out.Report, err = trial.Trial{Workflow: e.Compiled, Store: cli.MemoryStore}.Run(ctx, parsed, reached)
	return out, err
}
