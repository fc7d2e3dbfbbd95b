package adapters

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// tick is longer than the unit in which a file system has the times of files.
const tick = 25 * time.Millisecond

// States is the suite of ports.SessionStates, over the store of a bench. States has every session that Sessions lists, in
// order, with a state that is not zero: equal as long as the session does not change, another one after a commit. known
// is called for each session with its position. An absent store has none. Others are reported where the bench can make
// some.
func States(t testing.TB, b suite.Bench, states ports.SessionStates) {
	ctx, r, other := context.Background(), suite.NewSessionFixture(1), suite.NewSessionFixture(2)
	observe := func(n int) map[id.Session]ports.SessionState {
		t.Helper()
		asked := make([]id.Session, n)
		got, err := states.States(ctx, func(i int, s id.Session) (folder [8]byte) { asked[i] = s; return folder })
		must(t, err)
		if len(got.Sessions) != n || got.AtNs == 0 {
			t.Fatalf("%d sessions are observed at %d; want %d", len(got.Sessions), got.AtNs, n)
		}
		list, err := b.Open(0).Sessions(ctx)
		must(t, err)
		out := map[id.Session]ports.SessionState{}
		for i, s := range got.Sessions {
			if s.Session != list[i] || asked[i] != list[i] || s.State == [16]byte{} || s.ChangedNs == 0 {
				t.Errorf("session %d is observed as %+v, and asked for as %s; want %s", i, s, asked[i], list[i])
			}
			out[s.Session] = s
		}
		return out
	}
	observe(0)
	head := commit(t, b.Open(0), r)
	commit(t, b.Open(0), other)
	before := observe(2)
	if again := observe(2); again[r.Session].State != before[r.Session].State {
		t.Error("the state of a session changed, and nothing of the session")
	}
	_, err := suite.Gate(b.Open(0), r.Advance(head.Next))
	must(t, err)
	after := observe(2)
	if after[r.Session].State == before[r.Session].State || after[other.Session].State != before[other.Session].State {
		t.Error("a commit does not change the state of its session, or that of another one")
	}
	if b.Unknown == nil {
		t.Skip("the bench of this store has no unknown entries")
	}
	b.Unknown("other-program")
	if got, err := states.States(ctx, func(int, id.Session) (folder [8]byte) { return }); err != nil || !got.Others ||
		len(got.Sessions) != 2 {
		t.Errorf("beside an unknown entry: %+v, %v", got, err)
	}
}

// Times is the suite of ports.SessionTimes, over the store of a bench: the session whose log changed last is the first.
func Times(t testing.TB, b suite.Bench, times ports.SessionTimes) {
	ctx, r, other := context.Background(), suite.NewSessionFixture(1), suite.NewSessionFixture(2)
	want := func(sessions ...id.Session) {
		t.Helper()
		got, err := times.LatestFirst(ctx)
		must(t, err)
		var order []id.Session
		for i, s := range got {
			if order = append(order, s.Session); s.ChangedMs == 0 || i > 0 && s.ChangedMs > got[i-1].ChangedMs {
				t.Errorf("session %d changed at %d", i, s.ChangedMs)
			}
		}
		if !slices.Equal(order, sessions) {
			t.Errorf("the order is %v; want %v", order, sessions)
		}
	}
	want()
	head := commit(t, b.Open(0), r)
	time.Sleep(tick)
	commit(t, b.Open(0), other)
	want(other.Session, r.Session)
	time.Sleep(tick)
	_, err := suite.Gate(b.Open(0), r.Advance(head.Next))
	must(t, err)
	want(r.Session, other.Session)
}

// Guard is the suite of ports.GuardFiles, over the store of a bench whose handles announce what they change. Stamps has
// each session with a commit, and another stamp after the next one. A list is saved as a whole, each under its name, and
// read up to a number of bytes; in a store that does not exist nothing is saved. Nothing is known of the changes since a
// mark that is no mark; since a mark, the sessions are named that changed.
func Guard(t testing.TB, b suite.Bench, files ports.GuardFiles) {
	ctx, r, other := context.Background(), suite.NewSessionFixture(1), suite.NewSessionFixture(2)
	saved := func(what string, l ports.GuardList, most int64, want string) {
		t.Helper()
		if got, err := files.Saved(ctx, l, most); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", what, got, err, want)
		}
	}
	if err := files.Save(ctx, ports.AllRuns, []byte("early")); err == nil {
		t.Error("a list was saved in a store that does not exist")
	}
	saved("in an absent store", ports.AllRuns, 100, "")
	head := commit(t, b.Open(0), r)
	commit(t, b.Open(0), other)
	must(t, files.Save(ctx, ports.AllRuns, []byte("one, which is longer")))
	must(t, files.Save(ctx, ports.LatestRuns, []byte("another list")))
	must(t, files.Save(ctx, ports.AllRuns, []byte("two")))
	saved("the list", ports.AllRuns, 100, "two")
	saved("its beginning", ports.AllRuns, 2, "tw")
	saved("the other list", ports.LatestRuns, 100, "another list")

	before := stamps(t, files)
	first, err := files.Changes(ctx, "no mark")
	if err != nil || first.Known || first.Mark == "" || strings.Contains(first.Mark, "\n") {
		t.Fatalf("changes since what is no mark: %+v, %v; want none known, and a mark", first, err)
	}
	_, err = suite.Gate(b.Open(0), r.Advance(head.Next))
	must(t, err)
	if c, err := files.Changes(ctx, first.Mark); err != nil || !slices.Contains(c.Changed, r.Session) ||
		slices.Contains(c.Changed, other.Session) {
		t.Errorf("changes after a commit: %+v, %v; want %s", c, err, r.Session)
	}
	after := stamps(t, files)
	if len(before) != 2 || len(after) != 2 || before[r.Session] == after[r.Session] ||
		before[other.Session] != after[other.Session] {
		t.Errorf("the stamps are %v, and were %v before a commit to %s", after, before, r.Session)
	}
}

// stamps returns the stamps of all sessions.
func stamps(t testing.TB, files ports.GuardFiles) map[id.Session]string {
	t.Helper()
	all, err := files.Stamps(context.Background())
	must(t, err)
	out := map[id.Session]string{}
	for _, s := range all {
		if s.Stamp == "" || strings.ContainsAny(s.Stamp, " \n\t") || s.ChangedMs == 0 {
			t.Errorf("a stamp is %+v", s)
		}
		out[s.Session] = s.Stamp
	}
	return out
}

// Bundle is the suite of what a ports.Bundle has beside a store, for an exported session: Session, Each and Envelope. The
// bundle has the logs and objects of the session, and no other session.
func Bundle(t testing.TB, x *suite.ImportFixture, b ports.Bundle) {
	ctx := context.Background()
	if b.Session() != x.Session || b.Envelope().SessionID != x.Session.String() || b.Envelope().BundleID == "" {
		t.Errorf("the bundle has session %s, and says %+v; want %s", b.Session(), b.Envelope(), x.Session)
	}
	if list, err := b.Sessions(ctx); err != nil || !slices.Equal(list, []id.Session{x.Session}) {
		t.Errorf("sessions of the bundle: %v, %v", list, err)
	}
	v, err := b.Read(ctx, ports.ReadRequest{Log: x.Log}, ports.Skip)
	if err != nil || v.Head.Next != x.Head().Next || v.Health != manifest.Healthy {
		t.Errorf("the log in the bundle is %+v, %v", v, err)
	}
	found := map[string]bool{}
	for _, kind := range manifest.ObjectKinds() {
		last := ""
		for ref := range b.Each(kind) {
			if ref.String() <= last {
				t.Errorf("%s %s follows %s", kind, ref, last)
			}
			last = ref.String()
			found[string(kind)+last] = true
		}
	}
	for _, o := range x.Objects {
		if !found[string(o.Kind)+o.Ref().String()] && o.Kind != manifest.Artifact {
			t.Errorf("the bundle does not list the %s %s", o.Kind, o.Ref())
		}
	}
	if _, err := b.Append(ctx, ports.Witness{}, manifest.Head{}, manifest.Plan{Log: x.Log}); err == nil {
		t.Error("a bundle was appended to")
	}
}

// commit commits the start of a session, and returns the head after it.
func commit(t testing.TB, s suite.Store, r *suite.SessionFixture) manifest.Head {
	t.Helper()
	head, err := suite.Gate(s, r.Start())
	must(t, err)
	return head
}

// must fails the test at once on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
