package advance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/snapshot"
)

// stored returns the facts with the digest of their encoded state.
func stored(t testing.TB, f advance.Facts) advance.Facts {
	t.Helper()
	bytes, err := f.State.Encode()
	if err != nil {
		t.Fatal(err)
	}
	f.SnapshotRef = canon.Sum(bytes)
	return f
}

func checkpoint(t testing.TB, f advance.Facts, r advance.Request) (manifest.Plan, error) {
	t.Helper()
	plan, err := advance.Checkpoint(compiled(t), stored(t, f),
		advance.Attempt{ID: id.NextAttempt(root, id.OpCheckpoint, 0), Request: r, Actor: agent, AtMs: 99})
	if err == nil {
		if _, err := manifest.EncodeSegment(plan.Log, plan.Events); err != nil {
			t.Fatal(err)
		}
	}
	return plan, err
}

func artifact(kind, value string) advance.Artifact {
	return advance.JSONArtifact(canon.OfMembers(
		canon.Member{Name: "kind", Value: canon.OfString(kind)},
		canon.Member{Name: "value", Value: canon.OfString(value)}))
}

func TestCheckpointCreatesSiblingNode(t *testing.T) {
	r := advance.Request{Notes: strings.Repeat("é", limits.NotesBytesMax),
		Artifacts: []advance.Artifact{artifact("b", "1"), artifact("a", "2"), artifact("b", "1")}}
	plan, err := checkpoint(t, at("plain"), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(kinds(plan),
		" "); got != "node_created edge_created node_output_appended node_output_appended node_output_appended "+
		"node_output_appended" {
		t.Fatal(got)
	}
	attempt := id.NextAttempt(root, id.OpCheckpoint, 0)
	point := id.ChildNode(root, attempt, id.OpCheckpoint)
	created, edge := plan.Events[0].Data.(event.NodeCreated), plan.Events[1].Data.(event.EdgeCreated)
	if plan.Events[0].Scope.NodeID != point || created.NodeKind != event.CheckpointNode ||
		*created.ParentNodeID != root ||
		created.SnapshotRef != stored(t, at("plain")).SnapshotRef {
		t.Errorf("%+v", plan.Events[0])
	}
	if edge.EdgeKind != event.CheckpointEdge || edge.FromNodeID != root || edge.ToNodeID != point ||
		edge.Cause != (event.Cause{EventID: plan.Events[0].ID, Kind: event.CheckpointCreated}) {
		t.Errorf("%+v", edge)
	}
	var sums []string
	for i, e := range plan.Events[2:] {
		o := e.Data.(event.NodeOutputAppended)
		if e.Scope.NodeID != point || o.OutputID != id.FromAttempt(attempt, id.OpCheckpoint).Output(i) ||
			(e.Actor == agent) == o.Payload.IsFullNotes() {
			t.Errorf("%+v", e)
		}
		sums = append(sums, o.Payload.SHA256.String())
	}
	recap := plan.Events[2].Data.(event.NodeOutputAppended)
	if recap.OutputChannel != event.Recap || !strings.HasSuffix(recap.Payload.NotesMarkdown, limits.TruncationMarker) {
		t.Errorf("%+v", recap)
	}
	if !slices.IsSorted(sums[1:]) || len(plan.Objects) != 3 {
		t.Error("artifacts are not sorted by digest, or not distinct:", sums, len(plan.Objects))
	}
}

func TestCheckpointsThatAreRefused(t *testing.T) {
	done := at("plain")
	done.State = snapshot.Done()
	for name, tc := range map[string]struct {
		facts advance.Facts
		req   advance.Request
		want  string
	}{
		"empty":       {at("plain"), advance.Request{}, "empty"},
		"blank notes": {at("plain"), advance.Request{Notes: " \n"}, "empty"},
		"with context": {at("plain"),
			advance.Request{Notes: "x", Context: canon.OfMembers(canon.Member{Name: "k", Value: canon.OfBool(true)})},
			"context"},
		"with preferences": {at("plain"),
			advance.Request{Notes: "x", Preferences: []event.PreferenceChange{{Key: "autonomy", Value: "guided"}}},
			"preferences"},
		"not UTF-8": {at("plain"), advance.Request{Notes: "\xff"}, "UTF-8"},
		"an approval": {at("plain"),
			advance.Request{Artifacts: []advance.Artifact{artifact(advance.ApprovalKind, "")}}, "approve"},
		"whole notes": {at("plain"),
			advance.Request{Artifacts: []advance.Artifact{artifact(event.FullNotesKind, "")}}, "the engine writes"},
		"notes over 1 MiB": {at("plain"), advance.Request{Notes: strings.Repeat("x", limits.WholeNotesBytesMax+1)},
			"1048577 bytes"},
		"complete": {done, advance.Request{Notes: "x"}, "complete"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := checkpoint(t, tc.facts, tc.req)
			if !fault.Is(err, fault.ValidationError) || !strings.Contains(err.Error(), tc.want) {
				t.Fatal(err)
			}
		})
	}
}
