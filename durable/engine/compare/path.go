package compare

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/projections/diff"
	"github.com/waybill/waybill/projections/runs"
)

// pathOf returns a run with the nodes of its path in their order, the last one at the preferred tip, as they are compared
// with those of another run. Errors are those of views.Views.Run.
func pathOf(ctx context.Context, v *views.Views, ref string) (views.RunDetails, []diff.Node, error) {
	reading, err := views.ReadRun(ctx, v, ref, "")
	if err != nil {
		return views.RunDetails{}, nil, err
	}
	nodes, at := []diff.Node{}, []int{}
	status := reading.Head().Status
	run, err := reading.Each(ctx, func(s views.ShownStep) error {
		if s.NodeID == nil {
			return nil
		}
		i, _ := slices.BinarySearch(at, s.Stop) // they come in this order, unless something was recorded later at an earlier one
		at, nodes = slices.Insert(at, i, s.Stop), slices.Insert(nodes, i, compared(ctx, v, s, status))
		return nil
	})
	if err != nil {
		return run, nil, err
	}
	for _, t := range run.Tips {
		// The end of a run has no pending step.
		if t.Preferred && !slices.ContainsFunc(nodes, func(n diff.Node) bool { return n.NodeID == t.NodeID }) {
			nodes = append(nodes, diff.Node{NodeID: t.NodeID, Title: views.EndTitle, Outcome: outcomeOf(run.Status),
				Outputs: []diff.Output{}, Context: run.Context})
		}
	}
	for i := range nodes {
		nodes[i].Position, nodes[i].ContextDigest = i+1, canon.Sum(nodes[i].Context.JCS())
	}
	return run, nodes, nil
}

// outcomeOf returns the outcome of the last node of a run.
func outcomeOf(s runs.Status) diff.Outcome {
	if s == runs.InProgress {
		return diff.Pending
	}
	return diff.Outcome(s)
}

// compared returns what of a step is compared.
func compared(ctx context.Context, v *views.Views, s views.ShownStep, status runs.Status) diff.Node {
	n := diff.Node{StepInstanceKey: strings.Clone(s.StepInstanceKey), Title: strings.Clone(s.Title),
		NodeID: *s.NodeID, Outcome: outcomeOf(status),
		Attempts: s.Attempts, Notes: strings.Clone(s.Notes), NotesDigest: s.FullNotes, Outputs: []diff.Output{}, Context: s.Context}
	if s.Notes != "" && s.FullNotes.IsZero() {
		n.NotesDigest = canon.Sum([]byte(s.Notes))
	}
	if s.State == views.StepDone {
		if n.Outcome = diff.Done; s.CriticalGaps {
			n.Outcome = diff.DoneWithGaps
		}
	}
	for _, x := range s.Artifacts {
		is := event.OutputPayload{ArtifactKind: x.ArtifactKind, ContentType: x.ContentType}
		if !x.Current || is.IsFullNotes() || x.ArtifactKind == runs.ApprovalKind || x.ArtifactKind == event.DecisionKind {
			continue // replaced, or notes, or a decision of a person
		}
		n.Outputs = append(n.Outputs, diff.Output{ArtifactKind: x.ArtifactKind, ContentType: x.ContentType, SHA256: x.SHA256,
			Compared: withoutTimes(ctx, v, x)})
	}
	for _, d := range s.Decisions {
		if d.Decision == event.Approved {
			n.ApprovedBy = append(n.ApprovedBy, d.By)
		}
	}
	return n
}

// timed are the members of results that differ each time a step is performed, by the kind of the result.
var timed = map[string][]string{command.Kind: {"durationMs"}, check.Kind: {"attemptId", "durationMs"},
	wait.Kind: {"dueAtMs", "overAtMs"}}

// withoutTimes returns the digest of a result without the members that differ each time; zero for other artifacts and
// for one that cannot be read.
func withoutTimes(ctx context.Context, v *views.Views, x views.ArtifactRow) canon.Digest {
	members, ok := timed[x.ArtifactKind]
	if !ok || x.State != views.ArtifactStored {
		return canon.Digest{}
	}
	result, err := views.ContentOf(ctx, v, x)
	if err != nil || result.Kind() != canon.Object {
		return canon.Digest{}
	}
	for _, name := range members {
		result = result.Without(name)
	}
	return canon.Sum(result.JCS())
}
