package startkey

import (
	"slices"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// Same compares the recorded start of a run with the plan of another one, in
// what a caller chooses: workflow, title, goal, tags, options, context and
// preferences. Observations describe the workspace at the moment of the call
// and may differ.
func Same(recorded *runs.Run, root *runs.Node, sent manifest.Plan) bool {
	// The plan's events are folded, so that both sides are compared in one
	// form.
	other := runs.NewSession()
	for _, e := range sent.Events {
		other.Apply(e)
	}
	run := other.Runs[recorded.ID]
	node := run.Node(root.ID)
	return run.Started.WorkflowHash == recorded.Started.WorkflowHash && run.Started.Title == recorded.Started.Title &&
		run.Started.Goal == recorded.Started.Goal && slices.Equal(run.Started.Tags, recorded.Started.Tags) &&
		run.Started.Options.Equal(recorded.Started.Options) &&
		node.Context.Equal(root.Context) && node.Preferences == root.Preferences
}
