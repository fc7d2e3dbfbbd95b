package views

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/projections/diff"
	"github.com/waybill/waybill/projections/runs"
)

// PathOf returns a run with the nodes of its path in their order, the last one at the preferred tip, as they are
// compared with those of another run. Its facts are those of Run. Errors are those of Run.
func PathOf(ctx context.Context, o *Views, ref string) (RunDetails, []diff.Node, error) {
	run, err := o.Run(ctx, ref)
	if err != nil {
		return run, nil, err
	}
	rows := slices.DeleteFunc(slices.Clone(run.Steps), func(s StepRow) bool { return s.NodeID == nil })
	sorting.By(rows, func(a, b StepRow) int {
		return cmp.Compare(a.visit.node.CreatedIndex, b.visit.node.CreatedIndex)
	})
	obs := &observer{v: o}
	nodes := []diff.Node{}
	for _, s := range rows {
		nodes = append(nodes, obs.compared(ctx, s, run.Status))
	}
	for _, t := range run.Tips {
		// The end of a run has no pending step.
		if t.Preferred && !slices.ContainsFunc(rows, func(s StepRow) bool { return *s.NodeID == t.NodeID }) {
			nodes = append(nodes, diff.Node{NodeID: t.NodeID, Title: endTitle, Outcome: outcomeOf(run.Status),
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
func (o *observer) compared(ctx context.Context, s StepRow, status runs.Status) diff.Node {
	n := diff.Node{StepInstanceKey: s.StepInstanceKey, Title: s.Title, NodeID: *s.NodeID, Outcome: outcomeOf(status),
		Attempts: s.Attempts, Notes: s.Notes, NotesDigest: s.FullNotes, Outputs: []diff.Output{}, Context: s.visit.node.Context}
	if s.Notes != "" && s.FullNotes.IsZero() {
		n.NotesDigest = canon.Sum([]byte(s.Notes))
	}
	if s.State == StepDone {
		n.Outcome = diff.Done
		for _, tried := range s.visit.tried {
			if slices.ContainsFunc(tried.OpenGaps, func(g runs.Gap) bool { return g.Severity == event.Critical }) {
				n.Outcome = diff.DoneWithGaps
			}
		}
	}
	for _, x := range s.Artifacts {
		is := event.OutputPayload{ArtifactKind: x.ArtifactKind, ContentType: x.ContentType}
		if !x.Current || is.IsFullNotes() || x.ArtifactKind == runs.ApprovalKind || x.ArtifactKind == event.DecisionKind {
			continue // replaced, or notes, or a decision of a person
		}
		n.Outputs = append(n.Outputs, diff.Output{ArtifactKind: x.ArtifactKind, ContentType: x.ContentType, SHA256: x.SHA256,
			Compared: o.withoutTimes(ctx, x)})
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
func (o *observer) withoutTimes(ctx context.Context, x ArtifactRow) canon.Digest {
	members, ok := timed[x.ArtifactKind]
	if !ok || x.State != ArtifactStored {
		return canon.Digest{}
	}
	data, err := o.v.store.Object(ctx, manifest.Artifact, x.SHA256)
	if err != nil {
		return canon.Digest{}
	}
	v, err := canon.Parse(data)
	if err != nil || v.Kind() != canon.Object {
		return canon.Digest{}
	}
	for _, name := range members {
		v = v.Without(name)
	}
	return canon.Sum(v.JCS())
}
