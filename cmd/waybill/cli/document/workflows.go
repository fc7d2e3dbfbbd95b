package document

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// WorkflowRow is one workflow of the catalog as programs read it, usable or
// not, with what they need to tell people how a legacy id should be renamed.
type WorkflowRow struct {
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

// RowOf is the row for an entry of the catalog, usable or not.
func RowOf(e catalog.Entry) WorkflowRow {
	return WorkflowRow{WorkflowID: e.ID, Name: e.Name, Description: e.Description, Version: e.Version,
		SourceKind: e.Kind, SourceRef: e.Ref,
		IDStatus: e.IDStatus, SuggestedID: e.SuggestedID, Valid: e.Valid(), WorkflowHash: e.Compiled.Hash(),
		SameIDIn: e.Twins, Problems: e.Problems,
		ProblemCount: len(e.Problems)}
}

// Inspection is the document "workflow": its row, and what is in it. Loops are as
// in the compiled workflow: a step of type loop, in Steps or in a body, means
// the one of them that has its id. One list keeps the schema of a step whole, where a
// body within a step would be a type within itself.
type Inspection struct {
	WorkflowRow
	Preconditions []string          `json:"preconditions"`
	Inputs        []source.Input    `json:"inputs"`
	Steps         []compile.Step    `json:"steps"`
	Loops         []compile.Loop    `json:"loops"`
	Commands      []catalog.Command `json:"commands"`
	// Truncated says what was cut, and what has it whole; "" where nothing was.
	Truncated string `json:"truncated,omitzero"`
}

// InspectionOf is the document for a usable entry of the catalog.
func InspectionOf(e catalog.Entry) Inspection {
	w := e.Compiled
	return Inspection{WorkflowRow: RowOf(e), Preconditions: w.Preconditions, Inputs: w.Inputs, Steps: w.Steps,
		Loops: w.Loops, Commands: catalog.Commands(w)}
}

// Workflows is the document "workflows": the catalog as it is seen from the
// working directory.
type Workflows struct {
	Workflows []WorkflowRow `json:"workflows"`
}

// problemsListed is how many problems a list has of one workflow. One broken
// file has hundreds; 'workflows validate' names them all.
const problemsListed = 3

// WorkflowsOf is the list of entries, each with its first problems. Errors come
// before warnings, since they say why it cannot be used. The entries are not
// changed.
func WorkflowsOf(entries []catalog.Entry) Workflows {
	doc := Workflows{Workflows: []WorkflowRow{}}
	for _, e := range entries {
		row := RowOf(e)
		if len(row.Problems) > problemsListed {
			row.Problems = slices.Clone(row.Problems)
			slices.SortStableFunc(row.Problems, func(a, b source.Problem) int { return rank(a) - rank(b) })
			row.Problems = row.Problems[:problemsListed]
		}
		doc.Workflows = append(doc.Workflows, row)
	}
	return doc
}

// rank orders problems: errors first.
func rank(p source.Problem) int {
	if p.Severity == problem.Error {
		return 0
	}
	return 1
}
