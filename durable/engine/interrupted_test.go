package engine_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/bundlefile"
)

// TestCleanupEndsAtEachPoint: a cleanup whose context ends at any of the points at which it reports progress is incomplete
// in a valid store, reports what it removed, and another one removes the rest.
func TestCleanupEndsAtEachPoint(t *testing.T) {
	t.Parallel()
	parts := map[upkeep.GCPart]int{}
	for at := 1; ; at++ {
		w := newCleanupFixture(t)
		for i := range 3 {
			if a := w.start(twoSteps); i == 2 { // it has an object that the others do not have
				a = w.must(a, advance.Request{Notes: "done", Artifacts: []advance.Artifact{advance.JSONArtifact(set("kind", "result"))}})
				w.delete(a.Session.SessionID.String())
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		points := 0
		req := upkeep.GCRequest{Apply: true, EmptyTrash: true, Progress: func(part upkeep.GCPart, done, all int64) {
			if done < 0 || done > all {
				t.Errorf("%d of %d %s", done, all, part)
			}
			if points++; points == at {
				parts[part]++
				cancel()
			}
		}}
		r, err := w.g.GC(ctx, engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: w.clock + 100*dayMs}, req)
		cancel()
		if points < at {
			break
		}
		w.sound(manifest.OrphanObject)
		left := w.gc(100, upkeep.GCRequest{Apply: true, EmptyTrash: true})
		w.sound(manifest.OrphanObject)
		if n := len(r.Sessions) + len(left.Sessions); err == nil && at == 1 || n != 2 {
			t.Errorf("ended at point %d: %v; %d sessions are removed, then %d", at, err, len(r.Sessions), len(left.Sessions))
		}
		if w.gc(200, upkeep.GCRequest{Apply: true, EmptyTrash: true}); len(w.files("sessions"))+len(w.files("snapshots")) > 0 {
			t.Errorf("ended at point %d: sessions or objects remain", at)
		}
	}
	for _, part := range []upkeep.GCPart{upkeep.GCReadsLogs, upkeep.GCRemovesSessions, upkeep.GCRemovesObjects} {
		if parts[part] == 0 {
			t.Errorf("%s do not count as progress", part)
		}
	}
}

// TestImportEndsAtEachPoint: an import whose context ends at any of the points at which it reports progress leaves no session,
// in a valid store, and can be repeated.
func TestImportEndsAtEachPoint(t *testing.T) {
	t.Parallel()
	b, err := bundlefile.Spool(t.Context(), bytes.NewReader(travelled(t)), bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	checked, written := 0, 0
	for at := 1; ; at++ {
		w := newFixture(t)
		ctx, cancel := context.WithCancel(t.Context())
		points := 0
		point := func(of *int) {
			if points++; points == at {
				*of++
				cancel()
			}
		}
		req := travel.ImportRequest{Checked: func(verify.VerifyProgress) { point(&checked) },
			Written: func(int64, int64) { point(&written) }}
		_, err := w.g.Import(ctx, w.by(), b, req)
		cancel()
		if points < at {
			break
		}
		if !fault.Is(err, fault.Interrupted) && !errors.Is(err, context.Canceled) {
			t.Errorf("ended at point %d: %v", at, err)
		}
		all, err := w.g.Sessions(t.Context())
		if err != nil || len(all) > 0 {
			t.Errorf("ended at point %d: the sessions are %v, %v", at, all, err)
		}
		w.sound(manifest.OrphanObject)
		if doc, err := w.g.Import(t.Context(), w.by(), b, travel.ImportRequest{}); err != nil || doc.Relation != travel.NewSession {
			t.Errorf("after an end at point %d: %s, %v", at, doc.Relation, err)
		}
		w.sound(manifest.OrphanObject)
	}
	if checked == 0 || written == 0 {
		t.Errorf("%d points while it is checked, %d while it is written", checked, written)
	}
}
