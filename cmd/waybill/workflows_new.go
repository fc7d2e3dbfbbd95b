package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/catalog"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow"
)

const workflowsNewLong = `Write a workflow file to start from, in JSON: three steps that can be run as they are.
With --from, a copy of another workflow under an id of your own, in the form that it
has, ready to be changed.

The file goes to .waybill/workflows in the working directory, where it is found by its
id, or to the file that -o names; - is stdout. A file that is there is not touched.`

// newWorkflow is the document "workflow_file".
type newWorkflow struct {
	WorkflowID string `json:"workflowId"`
	File       string `json:"file"`
}

func newWorkflowsNewCommand(a *app) *cobra.Command {
	var from, out string
	cmd := &cobra.Command{
		Use:     "new ID",
		Short:   "Write a workflow file to start from",
		Long:    workflowsNewLong,
		Example: "  waybill workflows new team.release\n  waybill workflows new team.checklist --from wr.change_checklist -o checklist.yaml",
		Args:    exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "-" && a.common.json {
				return usageFault(cmd, "-o - writes the workflow to stdout, and --json an answer about it").Suggest("Leave out --json, or name a file with -o.")
			}
			if problem := workflow.NewIDProblem(workflow.SourceProject, args[0]); problem != "" {
				return fault.New(fault.ValidationError, "%s", problem).Suggest("Write an id such as %s.", workflow.SuggestID(workflow.SourceProject, lastPart(args[0])))
			}
			return a.newWorkflow(cmd.Context(), args[0], from, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "copy `FILE|ID` instead of writing the starter")
	f.StringVarP(&out, "output", "o", "", "write to `FILE`; - is stdout")
	return cmd
}

// lastPart is what of an id may go into a suggestion.
func lastPart(id string) string {
	return id[strings.LastIndexByte(id, '.')+1:]
}

func (a *app) newWorkflow(ctx context.Context, id, from, out string) error {
	data, ending := workflow.Starter(id, titleOf(id)), ".json"
	if from != "" {
		e, err := a.anyWorkflow(ctx, from)
		if err != nil {
			return err
		}
		if err := e.Usable(); err != nil {
			return err
		}
		if data, err = workflow.Copy(e.Data, id); err != nil {
			return fault.Wrap(err, fault.WorkflowInvalid, "%s cannot be copied: %s", from, err).Suggest("Correct it first: 'waybill workflows validate %s'.", from)
		}
		if ending = strings.ToLower(filepath.Ext(e.Ref)); ending == "" {
			ending = ".yaml" // bundled ones are
		}
	}
	if err := a.usableCopy(ctx, data); err != nil {
		return err
	}
	if out == "-" {
		return a.write(data)
	}
	runnable := out
	if out == "" {
		runnable = id // it is found by its id there
		out = filepath.Join(".waybill", "workflows", id+ending)
	}
	if err := writeNew(out, data); err != nil {
		return err
	}
	return a.answer("workflow_file", newWorkflow{id, filepath.ToSlash(out)}, func(p *page) {
		p.line("%s %s", p.good("✓"), clean(out))
		p.line("Change it, and check it with: %s", a.command("workflows", "validate", out))
		p.line("Run it with: %s", a.command("run", runnable))
	})
}

// usableCopy refuses to write what could not be run: a copy of a broken file.
func (a *app) usableCopy(ctx context.Context, data []byte) error {
	all, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	files := make([]catalog.File, 0, len(all.Entries))
	for _, e := range all.Entries {
		if e.Data != nil {
			files = append(files, catalog.File{Kind: e.Kind, Ref: e.Ref, Data: e.Data})
		}
	}
	return catalog.Read(catalog.File{Kind: workflow.SourceProject, Ref: "the new file", Data: data}, catalog.NewLibrary(files, catalog.Bindings{})).Usable()
}

// titleOf is a name for people from the second part of an id.
func titleOf(id string) string {
	words := strings.Fields(strings.NewReplacer("_", " ", "-", " ").Replace(lastPart(id)))
	text := strings.Join(words, " ")
	if text == "" {
		return id
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// writeNew writes a file that is not there yet.
func writeNew(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fault.Wrap(err, fault.StoreIO, "%s cannot be made: %v", filepath.Dir(name), plainCause(err)).Suggest("Name another file with -o.")
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.ValidationError, "%s is there already", name).Suggest("Name another file with -o, or take that one away.")
	}
	if err == nil {
		_, err = file.Write(data)
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
	}
	if err != nil {
		return fault.Wrap(err, fault.StoreIO, "%s cannot be written: %v", name, plainCause(err)).Suggest("Name a file that you may write.")
	}
	return nil
}
