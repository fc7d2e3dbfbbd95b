package upkeep_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/storetest"
)

// TestRemoveLogRemovesThatHeadOnly: a log with another head stays, as one of a session does; a removed one reads as empty.
func TestRemoveLogRemovesThatHeadOnly(t *testing.T) {
	t.Parallel()
	dir, s, fixture := storeWithSession(t)
	ctx := context.Background()
	store, err := s.StoreID(ctx, ports.MayCreate)
	storetest.Fatal(t, err)
	log := idempotency.LogOf(store)
	var heads []manifest.Head
	for n := range int64(2) {
		storetest.Fatal(t, ports.WithHealthySession(ctx, s, s, log, manifest.Head{}, ports.Skip,
			func(w ports.Witness, v manifest.Verdict) error {
				r, _ := idempotency.New("k", "POST /x", canon.Sum(nil), 201, canon.Value{}, 1, n)
				e := event.New(log.Owner, n, event.Scope{}, event.Actor{Kind: event.Engine}, 1, r)
				head, err := s.Append(ctx, w, v.Head, manifest.Plan{Log: log, Events: []event.Event{e}})
				heads = append(heads, head)
				return err
			}))
	}
	remove := func(log manifest.Log, head manifest.Head) (gone bool, err error) {
		err = s.Exclusive(ctx, func(b ports.Sweeper) (err error) {
			gone, err = b.RemoveLog(ctx, log, head)
			return err
		})
		return gone, err
	}
	another := heads[1]
	another.Digest = canon.Sum([]byte("another"))
	for name, head := range map[string]manifest.Head{"an earlier head": heads[0], "another history": another, "the empty log": {}} {
		if gone, err := remove(log, head); gone || err != nil {
			t.Errorf("%s: %v, %v", name, gone, err)
		}
	}
	for _, other := range []manifest.Log{fixture.Log, {Root: "sessions", Owner: store.String(), Table: event.Opaque("sessions", "storeId")},
		{Root: "../idempotency", Owner: store.String(), Table: idempotency.Table},
		manifest.StoreLog(store, event.Opaque("keys", "storeId"))} {
		if gone, err := remove(other, manifest.Head{}); gone || !fault.Is(err, fault.Internal) {
			t.Errorf("%s: %v, %v", other.Root, gone, err)
		}
	}
	if gone, err := remove(log, heads[1]); !gone || err != nil {
		t.Errorf("%v, %v", gone, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "idempotency")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if v, err := s.Read(ctx, ports.ReadRequest{Log: log}, ports.Skip); err != nil || !v.Head.IsZero() || v.Health != manifest.Healthy {
		t.Errorf("%+v, %v", v, err)
	}
	for _, absent := range []manifest.Log{log, audit.LogOf(id.NewStore(id.Seed{9}))} {
		if gone, err := remove(absent, manifest.Head{}); !gone || err != nil {
			t.Errorf("%s: %v, %v", absent.Root, gone, err)
		}
	}
}
