package installable

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/shape"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Workflow is one workflow source in an artifact.
type Workflow struct {
	Pointer string // position of the source: "" or, in a pack, /workflows/0
	Source  canon.Value
}

// Workflows returns the workflow sources of an installed artifact, in its order: the artifact
// itself, the workflows of a pack, or none for a pack of chains.
func Workflows(artifact canon.Value) []Workflow {
	if _, one := artifact.Get("steps"); one {
		return []Workflow{{"", artifact}}
	}
	var out []Workflow
	for _, at := range (problem.SourceValue{Value: artifact}).Member("workflows").Items() {
		out = append(out, Workflow{at.Pointer, at.Value})
	}
	return out
}

// workflowPackShape is a pack of workflow sources. Each source is checked like a file of its
// own.
func workflowPackShape() shape.Object {
	return shape.Object{What: "a workflow pack", Fields: packKeys(ownPackName,
		shape.Field{"engines", shape.AnyObject, optional},
		shape.Field{"workflows", shape.List{Of: shape.AnyObject, Min: 1, Key: "id"}, required})}
}

// checkWorkflows checks any of the three forms: one workflow, a pack of workflows, a pack of
// chains.
func checkWorkflows(at problem.SourceValue, o Options, report problem.Report) {
	switch form(at, report, "steps", "workflows", "chains") {
	case "steps":
		checkWorkflow(at, o, report)
	case "workflows":
		workflowPackShape().Check(at, report)
		checkEngines(at.Member("engines"), report)
		for _, source := range at.Member("workflows").Items() {
			if source.Value.Kind() == canon.Object {
				checkWorkflow(source, o, report)
			}
		}
	case "chains":
		checkChains(at, report)
	}
}

// checkWorkflow applies the catalog's rules for a file to one source: it must compile, and
// its id must not be that of a bundled workflow. The size is checked first, since compilation
// takes time.
func checkWorkflow(at problem.SourceValue, o Options, report problem.Report) {
	if n := len(at.Value.JCS()); n > limits.SourceBytesMax {
		report.Error(at, "Split the workflow.", "a workflow has at most %d bytes, got %d", limits.SourceBytesMax, n)
		return
	}
	src, found := source.Of(source.SourceInstalled, at)
	// Compilation of an invalid source would report consequences of problems already found.
	if src.Valid {
		_, more := compile.Compile(src, o.Library)
		found = append(found, more...)
	}
	for _, p := range found {
		report(p)
	}
}
