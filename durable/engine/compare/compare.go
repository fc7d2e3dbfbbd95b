// Package compare implements the use case that compares two runs of one workflow. It appends nothing.
// See package diff for what is compared.
package compare

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/diff"
	"github.com/waybill/waybill/projections/runs"
)

// RunDiff is the document "run_diff".
type RunDiff struct {
	A Run `json:"a"`
	B Run `json:"b"`
	// SameWorkflow reports that both runs follow the same version of the workflow.
	SameWorkflow bool `json:"sameWorkflow"`
	// ForkedAt is set where one run was forked from the other, at a node of its path: the paths are compared from
	// that node on.
	ForkedAt *id.Node `json:"forkedAt,omitzero"`
	// First is null where nothing differs.
	First *diff.First `json:"first"`
	Steps []diff.Step `json:"steps"`
}

// Run is one of the compared runs.
type Run struct {
	RunID        id.Run       `json:"runId"`
	SessionID    id.Session   `json:"sessionId"`
	Title        string       `json:"title"`
	WorkflowID   string       `json:"workflowId"`
	WorkflowHash canon.Digest `json:"workflowHash"`
	Status       runs.Status  `json:"status"`
	// Nodes is the number of nodes of the path that were compared.
	Nodes  int             `json:"nodes"`
	Health manifest.Health `json:"health"`
	// Partial reports that the session is damaged: the path is that of its valid beginning.
	Partial bool `json:"partial,omitzero"`
}

// Runs compares two runs, each named by a run id, a unique prefix of one, or @last. Errors: RUN_NOT_FOUND and
// RUN_AMBIGUOUS; VALIDATION_ERROR for one run twice and for runs of two workflows.
func Runs(ctx context.Context, v *views.Views, a, b string) (RunDiff, error) {
	one, nodesA, err := pathOf(ctx, v, a)
	if err != nil {
		return RunDiff{}, err
	}
	other, nodesB, err := pathOf(ctx, v, b)
	if err != nil {
		return RunDiff{}, err
	}
	switch {
	case one.RunID == other.RunID:
		return RunDiff{}, fault.New(fault.ValidationError, "%s and %s are the same run, %s", a, b, one.RunID).
			Suggest("Name another run: %s.", fault.Command{"runs", "list", "--workflow", one.WorkflowID})
	case one.WorkflowID != other.WorkflowID:
		return RunDiff{}, fault.New(fault.ValidationError,
			"the runs follow two workflows: %s follows %s, and %s follows %s", one.RunID, one.WorkflowID, other.RunID, other.WorkflowID).
			Suggest("Name two runs of one workflow: %s.", fault.Command{"runs", "list", "--workflow", one.WorkflowID})
	}
	out := RunDiff{SameWorkflow: one.Workflow.WorkflowHash == other.Workflow.WorkflowHash}
	nodesA, out.ForkedAt = sinceFork(nodesA, one, other)
	if out.ForkedAt == nil {
		nodesB, out.ForkedAt = sinceFork(nodesB, other, one)
	}
	out.A, out.B = runOf(one, nodesA), runOf(other, nodesB)
	out.First, out.Steps = diff.Compare(nodesA, nodesB)
	return out, nil
}

// sinceFork returns the path of a run from the node on at which fork was forked from it, and that node; the whole path
// and nil where it was not.
func sinceFork(path []diff.Node, of, fork views.RunDetails) ([]diff.Node, *id.Node) {
	f := fork.ForkedFrom
	if f == nil || f.IsReplay() || f.RunID != of.RunID {
		return path, nil
	}
	i := slices.IndexFunc(path, func(n diff.Node) bool { return n.NodeID == f.NodeID })
	if i < 0 {
		return path, nil // of another branch
	}
	return path[i:], &f.NodeID
}

// runOf describes a run.
func runOf(r views.RunDetails, path []diff.Node) Run {
	return Run{RunID: r.RunID, SessionID: r.SessionID, Title: r.Title, WorkflowID: r.WorkflowID,
		WorkflowHash: r.Workflow.WorkflowHash, Status: r.Status, Nodes: len(path), Health: r.Health, Partial: r.Partial}
}
