package workflows

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/complete"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/starter"
	"github.com/waybill/waybill/infra/discovery"
)

// newLong is what 'waybill workflows new --help' prints above the usage.
const newLong = `Create a workflow file to edit, in YAML, and a file of tests beside it. Both can be used
as they are: the workflow can be run, and 'waybill workflows test' performs the tests.

The templates: steps (notes, an input, a condition, a confirmation), code (a check and an
approval), release (commands and an approval), incident (a loop and an approval), review
(a loop that a decision ends), loop (a loop over a list).

With --from, copy another workflow under a new id, in its format (JSON or YAML); without
ID the copy is called project. followed by the last part of the original id. With
--from-run, make a workflow of the steps of a recorded run, with its test: values that
occur twice become inputs, and steps that were repeated are written out.

The file is created in .waybill/workflows in the working directory, where workflows are
found by id, or with -o in the given file; - is stdout, without tests. An ID that is the
name of a file, such as ship.yaml, is the file to create, with the id project.ship.
Existing files are never changed.`

// newNew returns "workflows new". It creates a workflow from a template with its tests, a copy with a
// new id, or what a recorded run did with the test of that run. The id must be valid for project
// workflows; otherwise the error is VALIDATION_ERROR. Existing files are never replaced.
//
// With -o - the workflow is printed on stdout and no answer about it follows.
func newNew(a *cli.App) *cobra.Command {
	var in newFlags
	cmd := &cobra.Command{
		Use:   "new [ID]",
		Short: "Create a workflow file to edit",
		Long:  newLong,
		Example: "  waybill workflows new team.release --template release\n" +
			"  waybill workflows new team.checklist --from wr.change_checklist -o list.yaml\n" +
			"  waybill workflows new team.again --from-run @last",
		Args: cli.AtMost("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.id = strings.Join(args, "") // at most one
			in.takeFile()
			if err := in.check(cmd, a, len(args) > 0); err != nil {
				return err
			}
			chosen, ok := starter.Of(cmp.Or(in.template, starter.Templates[0].Name))
			if !ok {
				return cli.UsageFault(cmd, "there is no template %q", in.template).Suggest("Write %s.", starter.Names())
			}
			return writeWorkflow(cmd.Context(), a, chosen, in)
		},
	}
	cli.WithOptions(cmd,
		cli.Opt(&in.from, "from FILE|ID", "copy FILE|ID instead of a template"),
		cli.Opt(&in.fromRun, "from-run RUN", "make a workflow, and its test, of the steps of RUN"),
		cli.OptOf(&in.template, "template NAME", starter.NameList(), "begin with template NAME: "+starter.Names()),
		cli.Opt(&in.out, "output,o FILE", "create FILE; - is stdout (default: in .waybill/workflows)"))
	_ = cmd.RegisterFlagCompletionFunc("from-run", complete.RunFlag(a))
	return cmd
}

// newFlags are the argument and the flags of "workflows new".
type newFlags struct{ id, from, fromRun, template, out string }

// check refuses combinations that have no meaning, and an invalid id.
func (in newFlags) check(cmd *cobra.Command, a *cli.App, hasID bool) error {
	given := 0
	for _, flag := range []string{in.from, in.fromRun, in.template} {
		if flag != "" {
			given++
		}
	}
	switch {
	// The workflow and the document cannot both be printed on stdout.
	case in.out == "-" && a.Flags.JSON:
		return cli.UsageFault(cmd, "-o - and --json cannot be combined: both write to stdout").
			Suggest("Omit --json, or give a file with -o.")
	case !hasID && in.from == "": // only a copy has a default id
		return cli.UsageFault(cmd, "'%s' needs ID", cmd.CommandPath()).
			Suggest("Give an ID, or copy a workflow with --from FILE|ID.")
	case given > 1:
		return cli.UsageFault(cmd, "--template, --from and --from-run cannot be combined").Suggest("Give one of them.")
	}
	if problem := source.NewIDProblem(source.SourceProject, in.id); problem != "" && hasID {
		return fault.New(fault.ValidationError, "%s", problem).
			Suggest("Write an id such as %s.", source.SuggestID(source.SourceProject, lastPart(in.id)))
	}
	return nil
}

// takeFile takes an argument that is the name of a file for the file to create: its id is project. and the name.
func (in *newFlags) takeFile() {
	if !cli.IsFile(in.id) {
		return
	}
	if in.out == "" {
		in.out = in.id
	}
	base := filepath.Base(in.id)
	in.id = source.SuggestID(source.SourceProject, "project."+strings.TrimSuffix(base, filepath.Ext(base)))
}

// lastPart returns the part of an id after the last dot.
func lastPart(id string) string {
	return id[strings.LastIndexByte(id, '.')+1:]
}

// draft is what is written: a workflow, and its tests unless it is a copy.
type draft struct {
	id, from    string
	data, tests []byte
	extension   string
	of          catalog.File // that was copied
	warnings    []string
}

// draftOf returns what is written: from a template, a recorded run or another workflow. A file whose name is
// that of JSON gets JSON.
func draftOf(ctx context.Context, a *cli.App, template starter.Template, in newFlags) (draft, error) {
	d := draft{id: in.id, extension: ".yaml"}
	var err error
	switch {
	case in.fromRun != "":
		return draftOfRun(ctx, a, in)
	case in.from != "":
		// A copy keeps the format of its source.
		e, err := copied(ctx, a, in.from)
		if err != nil {
			return d, err
		}
		if d.id == "" {
			d.id = source.SuggestID(source.SourceProject, e.ID)
		}
		if d.data, err = source.Copy(e.Data, d.id); err != nil {
			return d, fault.Wrap(err, fault.WorkflowInvalid, "%s cannot be copied: %s", in.from, err).
				Suggest("Correct it first: %s.", fault.Command{"workflows", "validate", in.from})
		}
		d.extension, d.from, d.of = extensionOf(e), in.from, e.File
	case strings.EqualFold(filepath.Ext(in.out), ".json"):
		d.tests = template.Tests()
		d.data, err = template.JSON(d.id, titleOf(d.id))
	default:
		d.data, d.tests = template.File(d.id, titleOf(d.id)), template.Tests()
	}
	return d, err
}

// writeWorkflow creates the text of the workflow, validates it as a project workflow, and
// writes it, with its tests beside it. Without -o it goes to .waybill/workflows, where it is found by its id; a
// file elsewhere is used by its path.
//
// A copy of an invalid workflow is WORKFLOW_INVALID; the suggestion is the command that lists
// the problems.
func writeWorkflow(ctx context.Context, a *cli.App, template starter.Template, in newFlags) error {
	d, err := draftOf(ctx, a, template, in)
	if err != nil {
		return err
	}
	// An invalid workflow is not written.
	if err := cli.CheckNewFile(ctx, a, d.from, d.of, d.data); err != nil {
		return err
	}
	if in.out == "-" {
		return a.WriteStored(d.data)
	}
	// The argument of 'run' for the new workflow.
	out, runnable := in.out, in.out
	if out == "" {
		runnable = d.id // workflows in this directory are found by id
		out = filepath.Join(".waybill", "workflows", d.id+d.extension)
	}
	tests := ""
	if d.tests != nil {
		tests = discovery.TestNames(out)[0]
		if _, err := os.Lstat(tests); err == nil {
			return fault.New(fault.ValidationError, "%s already exists", tests).
				Suggest("Give another file with -o, or remove the existing one.")
		}
	}
	if err := writeNew(out, d.data); err != nil {
		return err
	}
	if d.tests != nil {
		if err := writeNew(tests, d.tests); err != nil {
			return err
		}
	}
	return a.Answer("workflow_file", document.WorkflowFile{WorkflowID: d.id, File: filepath.ToSlash(out),
		Tests: filepath.ToSlash(tests), Warnings: d.warnings},
		func(p *page.Page) {
			p.Line("%s %s", p.Good("✓"), page.OneLine(out))
			if tests != "" {
				p.Line("%s %s", p.Good("✓"), page.OneLine(tests))
			}
			for _, w := range d.warnings {
				p.Text(p.Warn("!")+" ", w)
			}
			p.Line("Edit it, and validate it with: %s", a.Command("workflows", "validate", out))
			if tests != "" {
				p.Line("Perform its tests with: %s", a.Command("workflows", "test", runnable))
			}
			p.Line("Run it with: %s", a.Command("run", runnable))
		})
}

// copied returns the workflow to copy. A file that is invalid only because its id is reserved
// for bundled workflows can be copied, since the copy gets another id. Other problems would be
// copied too and are WORKFLOW_INVALID.
func copied(ctx context.Context, a *cli.App, from string) (catalog.Entry, error) {
	e, err := a.WorkflowOrProblems(ctx, from)
	if err != nil || e.Valid() {
		return e, err
	}
	if as, err := a.WorkflowAs(ctx, from, source.SourceBundled); err == nil && as.Valid() {
		return as, nil
	}
	return e, e.Usable()
}

// extensionOf returns the file extension of a copy: that of the source file, or .yaml for a
// bundled workflow, whose ref has none.
func extensionOf(e catalog.Entry) string {
	extension := strings.ToLower(filepath.Ext(e.Ref))
	if !cli.IsFile("x" + extension) {
		return ".yaml"
	}
	return extension
}

// titleOf returns a name for people for an id: "Fix bugs" for "team.fix-bugs".
func titleOf(id string) string {
	words := strings.Fields(strings.NewReplacer("_", " ", "-", " ").Replace(lastPart(id)))
	text := strings.Join(words, " ")
	if text == "" {
		return id
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// writeNew creates a file, and the directory of the project's workflows if it is in there; another directory has to
// exist, since a missing one is usually a typing error. The system call fails if the file exists
// (O_EXCL), so that a file created concurrently is not overwritten; the error is then
// VALIDATION_ERROR. Other errors are STORE_IO. The file gets the mode of the user's umask.
func writeNew(name string, data []byte) error {
	dir := filepath.Dir(name)
	inProject := strings.HasSuffix("/"+filepath.ToSlash(dir), "/.waybill/workflows")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && !inProject {
		return fault.Wrap(err, fault.StoreIO, "%s cannot be written: the directory %s does not exist", name, dir).
			Suggest("Create the directory, or give another file with -o.")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fault.Wrap(err, fault.StoreIO, "%s cannot be created: %v", dir, cli.PlainCause(err)).
			Suggest("Give another file with -o.")
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.ValidationError, "%s already exists", name).
			Suggest("Give another file with -o, or remove the existing one.")
	}
	if err == nil {
		// Close may report a failed write, so its error counts too.
		_, err = file.Write(data)
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
	}
	if err != nil {
		return fault.Wrap(err, fault.StoreIO, "%s cannot be written: %v", name, cli.PlainCause(err)).
			Suggest("Give the path of a writable file.")
	}
	return nil
}
