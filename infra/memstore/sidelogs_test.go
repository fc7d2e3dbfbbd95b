package memstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
)

// A session's own log is not a side log, neither of the session nor of the store.
func TestSideLogsExcludeSessionLog(t *testing.T) {
	ctx := context.Background()
	s := memstore.NewDisk(id.Seed{1}).Open(time.Second)
	session := id.NewSession(id.Seed{2})
	for _, log := range []manifest.Log{manifest.SessionEvents(session),
		manifest.SessionSide(session,
			event.NewTable("notes", "sessionId", event.Row[event.SessionCreated](event.NoScope)))} {
		err := ports.WithHealthySession(ctx, s, s, log, manifest.Head{}, ports.Skip,
			func(w ports.Witness, v manifest.Verdict) error {
				e := event.New(log.Owner, 0, event.Scope{}, event.Actor{Kind: event.Engine}, 1, event.SessionCreated{})
				_, err := s.Append(ctx, w, v.Head, manifest.Plan{Log: log, Events: []event.Event{e}})
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	store, err := s.StoreID(ctx, ports.MayCreate)
	if err != nil {
		t.Fatal(err)
	}
	for owner, want := range map[string][]string{session.String(): {"notes"}, store.String(): nil} {
		if got, err := s.SideLogs(ctx, owner); err != nil || !slices.Equal(got, want) {
			t.Errorf("the side logs of %s are %q, %v; want %q", owner, got, err, want)
		}
	}
}
