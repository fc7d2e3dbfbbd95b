package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

const workflowsLong = `A workflow is a file of steps, in JSON or YAML. Waybill finds workflows

  bundled    in the binary; their ids begin with wr.
  installed  in the store, brought by proposals that were applied
  user       in $XDG_CONFIG_HOME/waybill/workflows (~/.config/waybill/workflows)
  project    in .waybill/workflows and .workrail/workflows, from the working directory
             up to the root of its repository

and in any file that you name. No place hides another: two files with one id are an
error that names both.`

func newWorkflowsCommand(a *app) *cobra.Command {
	return newGroup("workflows", groupLook, "List, check, write and look into workflows", workflowsLong,
		newWorkflowsListCommand(a), newWorkflowsInspectCommand(a), newWorkflowsValidateCommand(a),
		newWorkflowsCompileCommand(a), newWorkflowsNewCommand(a))
}

// workflowRow is one workflow as programs see it (locks section 7): with what they
// need to tell people how a legacy id should be renamed.
type workflowRow struct {
	WorkflowID   string            `json:"workflowId"`
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	Version      string            `json:"version"`
	SourceKind   source.SourceKind `json:"sourceKind"`
	SourceRef    string            `json:"sourceRef"`
	IDStatus     string            `json:"idStatus,omitzero"`
	SuggestedID  string            `json:"suggestedId,omitzero"`
	Valid        bool              `json:"valid"`
	WorkflowHash canon.Digest      `json:"workflowHash,omitzero"`
	SameIDIn     []string          `json:"sameIdIn,omitzero"`
	// Problems are the first few in a list; ProblemCount counts all there are.
	Problems     []source.Problem `json:"problems"`
	ProblemCount int              `json:"problemCount"`
}

// rowOf is the row for an entry of the catalog, usable or not.
func rowOf(e catalog.Entry) workflowRow {
	return workflowRow{WorkflowID: e.ID, Name: e.Name, Description: e.Description, Version: e.Version,
		SourceKind: e.Kind, SourceRef: e.Ref,
		IDStatus: e.IDStatus, SuggestedID: e.SuggestedID, Valid: e.Valid(), WorkflowHash: e.Compiled.Hash(),
		SameIDIn: e.Twins, Problems: e.Problems,
		ProblemCount: len(e.Problems)}
}
