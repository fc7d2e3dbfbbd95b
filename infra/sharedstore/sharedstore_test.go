package sharedstore_test

import (
	"os"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/infra/sharedstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/adapters"
	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// opener returns what opens an empty store, with the settings of this machine in a directory.
func opener(t testing.TB) func(time.Duration) *sharedstore.Store {
	address, err := pgstore.Parse(pgtest.URL(t))
	if err == nil {
		_, err = pgstore.Init(t.Context(), address, pgstore.Options{LockWait: time.Minute}, pgstore.Roles{})
	}
	if err != nil {
		t.Fatal(err)
	}
	// The files of hooks are made in a store that exists.
	machine := t.TempDir()
	own, err := filestore.OpenDir(machine, filestore.Options{})
	if err == nil {
		_, err = own.StoreID(t.Context(), ports.MayCreate)
		_ = own.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return func(wait time.Duration) *sharedstore.Store {
		s := sharedstore.Open(address, machine, pgstore.Options{LockWait: wait})
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
}

func TestContract(t *testing.T) {
	open, other := opener(t), opener(t)
	adapters.Opened(t, adapters.Handles{Open: func() ports.Store { return open(0) }, Elsewhere: func() ports.Store { return other(0) }})
}

// TestHooksSeeSessions: the files of hooks have the sessions of the database, and a look behind a mark has those that changed since, with
// some that changed shortly before.
func TestHooksSeeSessions(t *testing.T) {
	ctx, open := t.Context(), opener(t)
	hooks := open(0).Hooks()
	sessions := func(stamps []ports.SessionStamp) (out []id.Session) {
		for _, one := range stamps {
			out = append(out, one.Session)
		}
		return out
	}
	none, err := hooks.Changes(ctx, "")
	if err != nil || none.Known || len(none.Changed) > 0 {
		t.Errorf("without a mark, an empty store has the changes %+v, %v; want none known", none, err)
	}
	first, second := suite.NewSessionFixture(1), suite.NewSessionFixture(2)
	head := gate(t, open(0), first.Start())
	stamps, err := hooks.Stamps(ctx)
	if err != nil || len(stamps) != 1 || stamps[0].Session != first.Session || stamps[0].Stamp == "" {
		t.Fatalf("a store of one session has the stamps %+v, %v", stamps, err)
	}
	begun, err := hooks.Changes(ctx, "no mark of this store")
	if err != nil || begun.Known || begun.Mark == "" || len(begun.Changed) > 0 {
		t.Fatalf("behind an unknown mark the changes are %+v, %v; want none known, and a mark", begun, err)
	}
	gate(t, open(0), second.Start())
	gate(t, open(0), first.Advance(head.Next))
	now, err := hooks.Stamps(ctx)
	if got := sessions(now); err != nil || len(got) != 2 || got[0] != first.Session || got[1] != second.Session {
		t.Errorf("the sessions are %v, %v; want the one that changed last first", got, err)
	}
	if len(now) > 0 && now[0].Stamp == stamps[0].Stamp {
		t.Error("the stamp of a session is that of before a commit")
	}
	changed, err := hooks.Changes(ctx, begun.Mark)
	if err != nil || !changed.Known || len(changed.Changed) != 2 || changed.Mark == "" {
		t.Errorf("behind a mark the changes are %+v, %v; want both sessions", changed, err)
	}
}

// TestFilesOfNoMachine: while this machine has no settings for the store, what hooks and signing would save is left out, without an error.
func TestFilesOfNoMachine(t *testing.T) {
	address, err := pgstore.Parse(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	machine := t.TempDir()
	s := sharedstore.Open(address, machine, pgstore.Options{})
	defer s.Close()
	list := ports.GuardList("list")
	if err := s.Hooks().Save(t.Context(), list, []byte("{}")); err != nil {
		t.Errorf("a list: %v", err)
	}
	if b, err := s.Hooks().Saved(t.Context(), list, 100); err != nil || b != nil {
		t.Errorf("the list is %s, %v", b, err)
	}
	if err := s.Payloads().Save([]byte("{}")); err != nil {
		t.Errorf("a text: %v", err)
	}
	if all, err := s.Payloads().List(); err != nil || len(all) != 0 {
		t.Errorf("the texts are %s, %v", all, err)
	}
	if left, err := os.ReadDir(machine); err != nil || len(left) > 0 {
		t.Errorf("the directory has %v, %v", left, err)
	}
}

// gate commits a plan.
func gate(t testing.TB, s suite.Store, p manifest.Plan) manifest.Head {
	t.Helper()
	head, err := suite.Gate(s, p)
	if err != nil {
		t.Fatal(err)
	}
	return head
}
