package engine_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
)

// TestSalvageExportsUpToTheFirstMissingObject: where an object is gone, the segments before the
// first one that requires it are exported, the bundle states that it is a salvage, and another
// store imports it.
func TestSalvageExportsUpToTheFirstMissingObject(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	type lost struct {
		kind manifest.ObjectKind
		ref  canon.Digest
		at   int64 // the first event that needs it
	}
	remove := func(dir string, l lost) error {
		return os.Remove(filepath.Join(dir, manifest.ObjectDir(l.kind), manifest.ObjectName(l.kind, l.ref)))
	}
	damage := func(dir string, l lost) error {
		return os.WriteFile(filepath.Join(dir, manifest.ObjectDir(l.kind), manifest.ObjectName(l.kind, l.ref)),
			[]byte("{}"), 0o600)
	}
	for name, tt := range map[string]struct {
		kind manifest.ObjectKind
		nth  int // of the events that name one
		lose func(dir string, l lost) error
		code manifest.FindingCode
	}{
		"a snapshot is missing":  {manifest.Snapshot, 2, remove, manifest.ObjectMissing},
		"a snapshot is damaged":  {manifest.Snapshot, 1, damage, manifest.ObjectDamaged},
		"an artifact is missing": {manifest.Artifact, 0, remove, manifest.ObjectMissing},
		"the first state":        {manifest.Snapshot, 0, remove, manifest.ObjectMissing},
		"the workflow":           {manifest.Workflow, 0, damage, manifest.ObjectDamaged},
	} {
		w := newFixture(t)
		a := w.start(longOne)
		first := w.events(a)
		a = w.must(a, note("one"))
		w.must(a, advance.Request{Notes: "two",
			Artifacts: []advance.Artifact{{ContentType: "text/plain", Bytes: []byte("bytes")}}})
		events, _, err := w.g.Events(ctx, a.Session.RunID.String())
		if err != nil {
			t.Fatal(err)
		}
		var found []lost
		for _, e := range events {
			switch p := e.Data.(type) {
			case event.NodeCreated:
				found = append(found, lost{manifest.Snapshot, p.SnapshotRef, e.Index})
			case event.RunStarted:
				found = append(found, lost{manifest.Workflow, p.WorkflowHash, e.Index})
			case event.NodeOutputAppended:
				if p.OutputChannel == event.Artifact {
					found = append(found, lost{manifest.Artifact, p.Payload.SHA256, e.Index})
				}
			}
		}
		var l lost
		nth := 0
		for _, f := range found {
			if f.kind == tt.kind {
				if nth == tt.nth {
					l = f
				}
				nth++
			}
		}
		if err := tt.lose(w.dir, l); err != nil {
			t.Fatal(name, err)
		}
		ask := travel.ExportRequest{Ref: a.Session.SessionID.String(), ExportedAt: "now", AppVersion: "test"}
		var b bytes.Buffer
		if _, err := w.g.Export(ctx, id.Seed{1}, ask, &b); err == nil {
			t.Errorf("%s: exported as if it were whole", name)
		}
		b.Reset()
		ask.Salvage = true
		out, err := w.g.Export(ctx, id.Seed{1}, ask, &b)
		if l.at < int64(first) {
			if !fault.Is(err, fault.SessionUnhealthy) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(name, err)
		}
		if out.Salvage == nil || out.Salvage.Health != manifest.Healthy || len(out.Salvage.Findings) != 1 ||
			out.Salvage.Findings[0].Code != tt.code || *out.Salvage.Findings[0].Event != l.at {
			t.Errorf("%s: the label is %+v", name, out.Salvage)
		}
		if out.Events > l.at || out.Events < int64(first) || tt.nth == 2 && out.Events == int64(first) {
			t.Errorf("%s: %d events were salvaged; event %d is the first lost one, %d existed before", name,
				out.Events, l.at, first)
		}
		if got := take(t, newFixture(t).g, b.Bytes(), false); got.Relation != travel.NewSession ||
			got.Events != out.Events {
			t.Errorf("%s: imported as %+v", name, got)
		}
	}
}

// TestSalvageOfAHealthySession is an ordinary export, without a word about damage.
func TestSalvageOfAHealthySession(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.must(w.start(longOne), note("one"))
	var b bytes.Buffer
	out, err := w.g.Export(context.Background(), id.Seed{1}, travel.ExportRequest{Ref: a.Session.SessionID.String(),
		ExportedAt: "at 1", AppVersion: "test", Salvage: true}, &b)
	if err != nil || out.Salvage != nil || !bytes.Equal(b.Bytes(), export(t, w.g, a.Session.SessionID, 1)) {
		t.Errorf("%+v %v", out, err)
	}
}
