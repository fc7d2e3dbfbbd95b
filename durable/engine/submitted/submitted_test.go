package submitted_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine/submitted"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/big"
	"github.com/waybill/waybill/projections/runs"
)

// TestNodesOfArtifactsAreThoseOfTheWholeFold: of a session with more nodes than a window has, also of artifacts at its
// beginning; of no others the nodes are kept.
func TestNodesOfArtifactsAreThoseOfTheWholeFold(t *testing.T) {
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "store")
	w, err := big.Write(dir, 9_000, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := filestore.OpenDir(dir, filestore.Options{LockWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var whole *runs.Fold
	if _, err := s.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(w.Session)}, ports.Into(&whole, runs.NewFold)); err != nil {
		t.Fatal(err)
	}
	keep := func(a submitted.Artifact) bool { return a.Payload.ByteLength%2 == 0 }
	found, v, err := submitted.Read(ctx, s, w.Session, 5000, keep)
	if err != nil || v.Health != manifest.Healthy || found.More || len(found.Outputs) < 50 || !found.Fold.Partial() {
		t.Fatalf("%d artifacts, %s, more %v, %v", len(found.Outputs), v.Health, found.More, err)
	}
	for _, a := range found.Outputs {
		n, want := found.Node(a), whole.Runs[a.Scope.RunID].Node(a.Scope.NodeID)
		current := func(o runs.Output) bool { return o.Index == a.Index }
		if n == nil || n.SnapshotRef != want.SnapshotRef ||
			slices.ContainsFunc(n.Outputs, current) != slices.ContainsFunc(want.Outputs, current) {
			t.Fatalf("event %d: the node is %+v, want %+v", a.Index, n, want)
		}
	}
	if n := found.Node(submitted.Artifact{Event: event.Event{Scope: event.Scope{RunID: found.Fold.Order[0]}}}); n != nil {
		t.Errorf("the node of no artifact is %+v", n)
	}
	if few, _, err := submitted.Read(ctx, s, w.Session, 10, keep); err != nil || !few.More || len(few.Outputs) != 10 {
		t.Errorf("%d artifacts of at most 10, more %v, %v", len(few.Outputs), few.More, err)
	}
}
