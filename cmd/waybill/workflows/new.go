package workflows

import (
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
)

// newLong is what 'waybill workflows new --help' prints above the usage.
const newLong = `Write a workflow file to start from, in JSON: three steps that can be run as they are.
With --from, a copy of another workflow under an id of your own, in the form that it
has, ready to be changed; without ID it is called project and the name that it has.

The file goes to .waybill/workflows in the working directory, where it is found by its
id, or to the file that -o names; - is stdout. A file that is there is not touched.`

// newNew makes "workflows new". Without --from it writes a starter with three
// steps, else a copy under an id of its own. The id is checked by the rules for
// project workflows first. No file is ever replaced.
//
// With -o - the workflow goes to stdout, and there is no answer about it.
func newNew(a *cli.App) *cobra.Command {
	var from, out string
	cmd := &cobra.Command{
		Use:   "new [ID]",
		Short: "Write a workflow file to start from",
		Long:  newLong,
		Example: "  waybill workflows new team.release\n" +
			"  waybill workflows new team.checklist --from wr.change_checklist -o checklist.yaml",
		Args: cli.AtMost("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			// Both would write to stdout.
			if out == "-" && a.Flags.JSON {
				return cli.UsageFault(cmd, "-o - writes the workflow to stdout, and --json an answer about it").
					Suggest("Leave out --json, or name a file with -o.")
			}
			if len(args) == 0 {
				if from == "" {
					return cli.UsageFault(cmd, "'%s' needs ID", cmd.CommandPath()).
						Suggest("For a copy under a name of its own: --from FILE|ID.")
				}
				return writeWorkflow(cmd.Context(), a, "", from, out)
			}
			if problem := source.NewIDProblem(source.SourceProject, args[0]); problem != "" {
				return fault.New(fault.ValidationError, "%s", problem).
					Suggest("Write an id such as %s.", source.SuggestID(source.SourceProject, lastPart(args[0])))
			}
			return writeWorkflow(cmd.Context(), a, args[0], from, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "copy `FILE|ID` instead of writing the starter")
	f.StringVarP(&out, "output", "o", "", "write to `FILE`; - is stdout")
	return cmd
}

// lastPart is the part of an id after the last dot, for use in a suggestion.
func lastPart(id string) string {
	return id[strings.LastIndexByte(id, '.')+1:]
}

// writeWorkflow makes the text, checks that it could be run where it goes, and
// writes it. Without out it goes to the folder of the project, where it is
// found by its id; elsewhere it is named by its path.
//
// A copy of a workflow that does not validate is refused, with the command that
// names its problems.
func writeWorkflow(ctx context.Context, a *cli.App, id, from, out string) error {
	// The starter is JSON, since every editor can check it with the schema.
	data, ending := source.Starter(id, titleOf(id)), ".json"
	with, err := a.Library(ctx, from)
	if err != nil {
		return err
	}
	if from != "" {
		// A copy keeps the language of its source.
		e, err := copied(ctx, a, from)
		if err != nil {
			return err
		}
		if id == "" {
			id = source.SuggestID(source.SourceProject, e.ID)
		}
		if data, err = source.Copy(e.Data, id); err != nil {
			return fault.Wrap(err, fault.WorkflowInvalid, "%s cannot be copied: %s", from, err).
				Suggest("Correct it first: 'waybill workflows validate %s'.", from)
		}
		ending = endingOf(e)
	}
	// What could not be run is not written.
	if err := catalog.Read(catalog.File{Kind: source.SourceProject, Ref: "the new file", Data: data}, with).
		Usable(); err != nil {
		return err
	}
	if out == "-" {
		return a.Write(data)
	}
	// How the new workflow is named by 'run'.
	runnable := out
	if out == "" {
		runnable = id // it is found by its id there
		out = filepath.Join(".waybill", "workflows", id+ending)
	}
	if err := writeNew(out, data); err != nil {
		return err
	}
	return a.Answer("workflow_file", document.WorkflowFile{WorkflowID: id, File: filepath.ToSlash(out)},
		func(p *page.Page) {
			p.Line("%s %s", p.Good("✓"), page.Clean(out))
			p.Line("Change it, and check it with: %s", a.Command("workflows", "validate", out))
			p.Line("Run it with: %s", a.Command("run", runnable))
		})
}

// copied is the workflow to copy. A file that is invalid only because its id is
// reserved for bundled workflows can be copied all the same: the copy gets
// another id. All other problems would be copied with it, and are an error.
func copied(ctx context.Context, a *cli.App, from string) (catalog.Entry, error) {
	e, err := a.AnyWorkflow(ctx, from)
	if err != nil || e.Valid() {
		return e, err
	}
	if as, err := checkSource(ctx, a, from, source.SourceBundled); err == nil && as.Valid() {
		return as, nil
	}
	return e, e.Usable()
}

// endingOf is the ending of a copy: that of the file, and .yaml for a bundled
// one, whose ref has none.
func endingOf(e catalog.Entry) string {
	ending := strings.ToLower(filepath.Ext(e.Ref))
	if !cli.IsFile("x" + ending) {
		return ".yaml"
	}
	return ending
}

// titleOf makes a name for people of an id: "team.fix-bugs" is "Fix bugs".
func titleOf(id string) string {
	words := strings.Fields(strings.NewReplacer("_", " ", "-", " ").Replace(lastPart(id)))
	text := strings.Join(words, " ")
	if text == "" {
		return id
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// writeNew writes a file that does not exist yet, with its folders. A file that
// exists is refused by the system itself, so that no other process can be in
// between. The file has the mode that the user's umask gives.
func writeNew(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fault.Wrap(err, fault.StoreIO, "%s cannot be made: %v", filepath.Dir(name), cli.PlainCause(err)).
			Suggest("Name another file with -o.")
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.ValidationError, "%s is there already", name).
			Suggest("Name another file with -o, or take that one away.")
	}
	if err == nil {
		_, err = file.Write(data)
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
	}
	if err != nil {
		return fault.Wrap(err, fault.StoreIO, "%s cannot be written: %v", name, cli.PlainCause(err)).
			Suggest("Name a file that you may write.")
	}
	return nil
}
