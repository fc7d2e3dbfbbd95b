package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/filestore"
)

// listing is a store that counts how often its sessions are listed.
type listing struct {
	*filestore.Store
	lists int
}

func (l *listing) Sessions(ctx context.Context) ([]id.Session, error) {
	l.lists++
	return l.Store.Sessions(ctx)
}

// TestRunIsFoundWithoutAList: a run that was found, or started here, is found by its id without another list of the
// sessions; an unknown one and one that was removed are searched for.
func TestRunIsFoundWithoutAList(t *testing.T) {
	w := newFixture(t)
	a, other := w.start(twoSteps), w.start(twoSteps)
	s, err := openUnsynced(w, w.dir, filestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	store := &listing{Store: s}
	e := engine.New(store)
	find := func(run id.Run) error {
		at, err := e.Locate(context.Background(), run.String())
		if err == nil && at.Run != run {
			t.Errorf("%s, want %s", at.Run, run)
		}
		return err
	}
	for range 3 {
		if err := find(a.Session.RunID); err != nil {
			t.Fatal(err)
		}
	}
	if store.lists != 1 {
		t.Errorf("%d lists for one run", store.lists)
	}
	if err := find(other.Session.RunID); err != nil || store.lists != 2 {
		t.Error(err, store.lists)
	}
	if err := find(id.NewRun(id.Seed{99})); !fault.Is(err, fault.RunNotFound) {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "sessions", a.Session.SessionID.String())); err != nil {
		t.Fatal(err)
	}
	if err := find(a.Session.RunID); !fault.Is(err, fault.RunNotFound) {
		t.Errorf("the run of a removed session: %v", err)
	}
}
