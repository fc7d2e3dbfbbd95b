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
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/starter"
)

// newLong is what 'waybill workflows new --help' prints above the usage.
const newLong = `Create a workflow file to edit: a JSON file with three steps that can be run as it is.
The template "steps" shows notes, an input, a condition and a confirmation, "code" a change
of code with a check and an approval. With --from, copy another workflow under a new id,
in its format (JSON or YAML); without ID the copy is called project. followed by the last
part of the original id.

The file is created in .waybill/workflows in the working directory, where workflows are
found by id, or with -o in the given file; - is stdout. Existing files are never changed.`

// newNew returns "workflows new". Without --from it creates a starter workflow with three
// steps, otherwise a copy with a new id. The id must be valid for project workflows;
// otherwise the error is VALIDATION_ERROR. Existing files are never replaced.
//
// With -o - the workflow is printed on stdout and no answer about it follows.
func newNew(a *cli.App) *cobra.Command {
	var from, template, out string
	cmd := &cobra.Command{
		Use:   "new [ID]",
		Short: "Create a workflow file to edit",
		Long:  newLong,
		Example: "  waybill workflows new team.release\n" +
			"  waybill workflows new team.fix --template code\n" +
			"  waybill workflows new team.checklist --from wr.change_checklist -o checklist.yaml",
		Args: cli.AtMost("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			// The workflow and the document cannot both be printed on stdout.
			if out == "-" && a.Flags.JSON {
				return cli.UsageFault(cmd, "-o - and --json cannot be combined: both write to stdout").
					Suggest("Omit --json, or give a file with -o.")
			}
			// Only a copy has a default id.
			if len(args) == 0 && from == "" {
				return cli.UsageFault(cmd, "'%s' needs ID", cmd.CommandPath()).
					Suggest("Give an ID, or copy a workflow with --from FILE|ID.")
			}
			chosen, ok := starter.Of(cmp.Or(template, starter.Templates[0].Name))
			if !ok {
				return cli.UsageFault(cmd, "there is no template %q", template).Suggest("Write %s.", starter.Names())
			}
			if template != "" && from != "" {
				return cli.UsageFault(cmd, "--template and --from cannot be combined").Suggest("Give one of the two.")
			}
			id := strings.Join(args, "") // at most one
			if problem := source.NewIDProblem(source.SourceProject, id); problem != "" && len(args) > 0 {
				return fault.New(fault.ValidationError, "%s", problem).
					Suggest("Write an id such as %s.", source.SuggestID(source.SourceProject, lastPart(id)))
			}
			return writeWorkflow(cmd.Context(), a, chosen, id, from, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "copy `FILE|ID` instead of the starter workflow")
	f.StringVar(&template, "template", "", "begin with template `NAME`: "+starter.Names())
	f.StringVarP(&out, "output", "o", "", "create `FILE`; - is stdout (default: in .waybill/workflows)")
	return cmd
}

// lastPart returns the part of an id after the last dot.
func lastPart(id string) string {
	return id[strings.LastIndexByte(id, '.')+1:]
}

// writeWorkflow creates the text of the workflow, validates it as a project workflow, and
// writes it. Without out it goes to .waybill/workflows, where it is found by its id; a file
// elsewhere is used by its path.
//
// A copy of an invalid workflow is WORKFLOW_INVALID; the suggestion is the command that lists
// the problems.
func writeWorkflow(ctx context.Context, a *cli.App, template starter.Template, id, from, out string) error {
	// The starter is JSON, since every editor can validate it with the schema.
	data, extension := template.File(id, titleOf(id)), ".json"
	var e catalog.Entry
	if from != "" {
		// A copy keeps the format of its source.
		var err error
		if e, err = copied(ctx, a, from); err != nil {
			return err
		}
		if id == "" {
			id = source.SuggestID(source.SourceProject, e.ID)
		}
		if data, err = source.Copy(e.Data, id); err != nil {
			return fault.Wrap(err, fault.WorkflowInvalid, "%s cannot be copied: %s", from, err).
				Suggest("Correct it first: %s.", fault.Command{"workflows", "validate", from})
		}
		extension = extensionOf(e)
	}
	// An invalid workflow is not written.
	if err := cli.CheckNewFile(ctx, a, from, e.File, data); err != nil {
		return err
	}
	if out == "-" {
		return a.WriteStored(data)
	}
	// The argument of 'run' for the new workflow.
	runnable := out
	if out == "" {
		runnable = id // workflows in this directory are found by id
		out = filepath.Join(".waybill", "workflows", id+extension)
	}
	if err := writeNew(out, data); err != nil {
		return err
	}
	return a.Answer("workflow_file", document.WorkflowFile{WorkflowID: id, File: filepath.ToSlash(out)},
		func(p *page.Page) {
			p.Line("%s %s", p.Good("✓"), page.OneLine(out))
			p.Line("Edit it, and validate it with: %s", a.Command("workflows", "validate", out))
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

// writeNew creates a file and its directories. The system call fails if the file exists
// (O_EXCL), so that a file created concurrently is not overwritten; the error is then
// VALIDATION_ERROR. Other errors are STORE_IO. The file gets the mode of the user's umask.
func writeNew(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fault.Wrap(err, fault.StoreIO, "%s cannot be created: %v", filepath.Dir(name), cli.PlainCause(err)).
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
