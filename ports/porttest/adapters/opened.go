package adapters

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// Handles are those of a store that does not exist yet.
type Handles struct {
	// Open opens the store, as another process would have it; Elsewhere opens another store.
	Open, Elsewhere func() ports.Store
	// Held counts what the handles of the store hold open of it; nil where the test cannot see it.
	Held func() int
}

// Opened is the suite of what ports.Store has beside the ports of package suite. A store exists from its first commit on.
// Its handles have one name, which no other store has; their performers exclude each other, and they have the same files
// of hooks and the same payloads. A handle that is closed holds nothing.
func Opened(t testing.TB, h Handles) {
	ctx, r, first, second := context.Background(), suite.NewSessionFixture(1), h.Open(), h.Open()
	exists := func(when string, want bool) {
		t.Helper()
		for _, s := range []ports.Store{first, second, h.Open()} {
			if got, err := s.Exists(ctx); err != nil || got != want {
				t.Errorf("%s: the store exists: %v, %v; want %v", when, got, err, want)
			}
		}
	}
	exists("before the first commit", false)
	commit(t, first, r)
	exists("after a commit", true)
	if first.Name() == "" || first.Name() != second.Name() || first.Name() == h.Elsewhere().Name() {
		t.Errorf("handles of a store are named %q and %q, and another store %q", first.Name(), second.Name(), h.Elsewhere().Name())
	}
	for _, s := range []ports.Store{first, second} {
		if s.Performers() == nil || s.Hooks() == nil || s.Payloads() == nil {
			t.Fatalf("a store has the performers %v, the hooks %v and the payloads %v", s.Performers(), s.Hooks(), s.Payloads())
		}
	}
	must(t, ports.WithHold(ctx, first.Performers(), r.Session, func(ports.Hold) error {
		if _, err := second.Performers().Hold(ctx, r.Session); !fault.Is(err, fault.RunBusy) {
			t.Errorf("a performer beside that of another handle: %v; want RUN_BUSY", err)
		}
		return nil
	}))
	must(t, first.Hooks().Save(ctx, ports.AllRuns, []byte("a list")))
	if got, err := second.Hooks().Saved(ctx, ports.AllRuns, 100); err != nil || string(got) != "a list" {
		t.Errorf("a list that another handle saved: %q, %v", got, err)
	}
	must(t, first.Payloads().Save([]byte("a text")))
	if got, err := second.Payloads().List(); err != nil || len(got) != 1 || string(got[0]) != "a text" {
		t.Errorf("a payload that another handle saved: %q, %v", got, err)
	}
	closed(t, h, r)
}

// closed: a handle that is closed holds nothing, and others are as before.
func closed(t testing.TB, h Handles, r *suite.SessionFixture) {
	t.Helper()
	read := func(s ports.Store) {
		t.Helper()
		if v, err := s.Read(context.Background(), ports.ReadRequest{Log: r.Log}, ports.Skip); err != nil || v.Head.Next == 0 {
			t.Errorf("the log is %+v, %v", v, err)
		}
	}
	stays := h.Open()
	read(stays)
	if h.Held == nil {
		must(t, h.Open().Close())
		read(stays)
		return
	}
	before, s := h.Held(), h.Open()
	if read(s); h.Held() <= before {
		t.Fatal("nothing is seen of what a handle holds open")
	}
	must(t, s.Close())
	if after := h.Held(); after != before {
		t.Errorf("a handle that is closed holds %d", after-before)
	}
	read(stays)
}

// Payloads is the suite of ports.Payloads, over the store of a bench that does not exist yet: none are kept before the
// store exists, and none is a reason to create it. All that are kept are listed, the newest first.
func Payloads(t testing.TB, b suite.Bench, open func() ports.Payloads) {
	list := func(want ...string) {
		t.Helper()
		got, err := open().List()
		must(t, err)
		if !slices.EqualFunc(got, want, func(a []byte, b string) bool { return string(a) == b }) {
			t.Errorf("the payloads are %.20q; want %.20q", got, want)
		}
	}
	list()
	_ = open().Save([]byte("early")) // whether it is an error is not a part of the port
	if s, err := b.Open(0).StoreID(context.Background(), ports.ReadOnly); err != nil || !s.IsZero() {
		t.Errorf("a payload created the store %s, %v", s, err)
	}
	list()
	commit(t, b.Open(0), suite.NewSessionFixture(1))
	list()
	long := string(bytes.Repeat([]byte("long "), 1000))
	for _, text := range []string{"one", long, "three"} {
		must(t, open().Save([]byte(text)))
	}
	list("three", long, "one")
}

// Place is the suite of ports.StorePlace, over the store of a bench that does not exist yet. Nothing that is asked of the
// place creates the store. pid is the process that the handles of the bench are of.
func Place(t testing.TB, b suite.Bench, place ports.StorePlace, pid int) {
	ctx, r := context.Background(), suite.NewSessionFixture(1)
	is := func(when string, exists, sessions bool, left doctor.Leftovers) {
		t.Helper()
		if p := place.Probe(ctx); p.InStore != exists || !p.Excludes || !p.RenameKeepsExisting || len(p.SyncMs) == 0 || p.Dir == "" ||
			p.Why+p.Write+p.Read+p.Sync+p.SyncDir+p.Lock+p.RenameError+p.Unremoved != "" {
			t.Errorf("%s: what a store relies on is %+v", when, p)
		}
		if s := place.Describe(); s.Dir == "" || exists != (s.Kind == doctor.Directory) || !exists && s.Kind != doctor.Missing {
			t.Errorf("%s: the place is %+v", when, s)
		}
		if place.HasSessions() != sessions {
			t.Errorf("%s: there are sessions: %v", when, !sessions)
		}
		got := place.Leftovers()
		if (got.TrashBytes > 0) != (left.Trashed > 0) {
			t.Errorf("%s: the trash has %d bytes", when, got.TrashBytes)
		}
		if got.TrashBytes = 0; got != left {
			t.Errorf("%s: the leftovers are %+v; want %+v", when, got, left)
		}
		if held, _ := place.InUse(ctx); held {
			t.Errorf("%s: the store is in use", when)
		}
	}
	is("before the first commit", false, false, doctor.Leftovers{Checked: true})
	s := b.Open(0)
	commit(t, s, r)
	is("after a commit", true, true, doctor.Leftovers{Checked: true})
	must(t, s.Exclusive(ctx, func(ports.Sweeper) error {
		if held, by := place.InUse(ctx); !held || by != 0 && by != pid {
			t.Errorf("during a cleanup: the store is in use: %v, by %d; want %d", held, by, pid)
		}
		return nil
	}))
	if b.Leftover != nil {
		b.Leftover()
		is("after an operation that did not end", true, true, doctor.Leftovers{Checked: true, Temporary: 1})
	}
	_, err := s.Discard(ctx, r.Session, 1, canon.OfMembers(), func() error { return nil })
	must(t, err)
	want := doctor.Leftovers{Checked: true, Trashed: 1}
	if b.Leftover != nil {
		want.Temporary = 1
	}
	is("after a deletion", true, false, want)
}
