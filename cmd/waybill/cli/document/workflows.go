package document

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// WorkflowRow is one workflow of the catalog, usable or not. IDStatus and SuggestedID say how
// a legacy id should be renamed (docs/design.md#workflow-ids). SameIDIn lists other files with
// the same id; an id with such files cannot be used.
type WorkflowRow struct {
	WorkflowID  string            `json:"workflowId"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Version     string            `json:"version"`
	SourceKind  source.SourceKind `json:"sourceKind"`
	SourceRef   string            `json:"sourceRef"`
	// Source is plugin:NAME for a workflow of an attached folder, else the kind. ShadowedBy is the
	// bundled file that the id means instead. Aliases are former ids of a bundled workflow. Replaces names the
	// file that an installed workflow replaced, ReplacedBy the installed one that the id means instead of a file.
	Source     string   `json:"source,omitzero"`
	ShadowedBy string   `json:"shadowedBy,omitzero"`
	Replaces   string   `json:"replaces,omitzero"`
	ReplacedBy string   `json:"replacedBy,omitzero"`
	Aliases    []string `json:"aliases,omitzero"`
	// CanonicalID is the id of a bundled workflow that was named by an alias.
	CanonicalID  string       `json:"canonicalId,omitzero"`
	IDStatus     string       `json:"idStatus,omitzero"`
	SuggestedID  string       `json:"suggestedId,omitzero"`
	Valid        bool         `json:"valid"`
	WorkflowHash canon.Digest `json:"workflowHash,omitzero"`
	SameIDIn     []string     `json:"sameIdIn,omitzero"`
	// Problems may be truncated to the first ones; ProblemCount counts all.
	Problems     []source.Problem `json:"problems"`
	ProblemCount int              `json:"problemCount"`
}

// RowOf returns the row for an entry of the catalog, with all problems.
func RowOf(e catalog.Entry) WorkflowRow {
	return WorkflowRow{WorkflowID: e.ID, Name: e.Name, Description: e.Description, Version: e.Version,
		SourceKind: e.Kind, SourceRef: e.Ref, Source: e.Source(), ShadowedBy: e.ShadowedBy, Replaces: e.Origin(),
		ReplacedBy: e.ReplacedBy, Aliases: e.Aliases, CanonicalID: e.CanonicalID(),
		IDStatus: e.IDStatus, SuggestedID: e.SuggestedID, Valid: e.Valid(), WorkflowHash: e.Compiled.Hash(),
		SameIDIn: e.Duplicates, Problems: e.Problems,
		ProblemCount: len(e.Problems)}
}

// Inspection is the document "workflow": the row and the content of a workflow. As in the
// compiled workflow, Loops is a flat list: a step of type loop, in Steps or in a body, refers
// to the loop with its id. Nested bodies would make the schema of a step recursive.
type Inspection struct {
	WorkflowRow
	Preconditions []string          `json:"preconditions"`
	Inputs        []source.Input    `json:"inputs"`
	Steps         []compile.Step    `json:"steps"`
	Loops         []compile.Loop    `json:"loops"`
	Commands      []catalog.Command `json:"commands"`
	// Uses is what the workflow uses besides its own text, and what each put in.
	Uses []catalog.Use `json:"uses"`
	// SourceText is the file as it is written, absent unless it was asked for.
	SourceText string `json:"sourceText,omitzero"`
	// Truncated states what was truncated and which command prints all of it; "" if nothing.
	Truncated string `json:"truncated,omitzero"`
}

// InspectionOf returns the document for a usable entry of the catalog, with complete prompts.
func InspectionOf(e catalog.Entry) Inspection {
	w := e.Compiled
	return Inspection{WorkflowRow: RowOf(e), Preconditions: w.Preconditions, Inputs: w.Inputs, Steps: w.Steps,
		Loops: w.Loops, Commands: catalog.Commands(w), Uses: catalog.Uses(w)}
}

// Workflows is the document "workflows": the catalog of the working directory.
type Workflows struct {
	Workflows []WorkflowRow `json:"workflows"`
}

// problemsListed bounds the problems of one workflow in a list. One invalid file can have
// hundreds; 'workflows validate' lists all of them.
const problemsListed = 3

// WorkflowsOf returns the list of entries, each with at most problemsListed problems. Errors
// come before warnings, since they are why a workflow cannot be used. The entries are not
// modified.
func WorkflowsOf(entries []catalog.Entry) Workflows {
	doc := Workflows{Workflows: []WorkflowRow{}}
	for _, e := range entries {
		row := RowOf(e)
		if len(row.Problems) > problemsListed {
			bySeverity := func(a, b source.Problem) int { return rank(a) - rank(b) }
			row.Problems = slices.Clone(row.Problems)
			sorting.Stable(row.Problems, bySeverity)
			row.Problems = row.Problems[:problemsListed]
		}
		doc.Workflows = append(doc.Workflows, row)
	}
	return doc
}

// rank orders problems by severity, errors first.
func rank(p source.Problem) int {
	if p.Severity == problem.Error {
		return 0
	}
	return 1
}
