package suite

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
)

// control returns a control file that contains the number n, and the members of an import mark: an
// inspection of the store decodes imported.json.
func control(t testing.TB, n int64) ports.Control {
	t.Helper()
	data, err := canon.ValueOf(struct {
		imported.Mark
		N int64 `json:"n"`
	}{imported.Mark{BundleID: "b", Events: 1, Head: canon.Sum(nil)}, n})
	must(t, err)
	return ports.Control{V: 1, Data: data}
}

// number returns the number in a control file, -1 for the zero Control.
func number(c ports.Control) int64 {
	var data struct {
		N int64 `json:"n"`
	}
	if c.V != 1 || canon.DecodeKnown(c.Data, &data) != nil {
		return -1
	}
	return data.N
}

// sessionControls: a session has two control files, ports.ImportedFile and ports.KeepFile.
//   - SessionControl of an absent file, session or store is the zero Control.
//   - UpdateSessionControl calls change with the current content and stores its result; an error of
//     change is returned as it is, and the file stays. An absent session is SESSION_NOT_FOUND.
//   - DropSessionControl removes a file; an absent file or session is no error.
//   - Any other name or kind is INTERNAL, a bug of the caller.
//   - Files of other sessions, the log and the list of sessions do not change.
func sessionControls(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r, other := context.Background(), open(0), NewSessionFixture(1), NewSessionFixture(2)
	files := []ports.ControlFile{ports.ImportedFile, ports.KeepFile}
	// want reads a file through a new handle; n is its number, -1 for an absent file.
	want := func(what string, fixture *SessionFixture, f ports.ControlFile, n int64) {
		t.Helper()
		got, err := open(0).SessionControl(ctx, fixture.Session, f)
		if err != nil || number(got) != n || n < 0 && got.V != 0 {
			t.Errorf("%s, %s: %+v, %v; want %d", what, f.Name, got, err, n)
		}
	}
	// set is a change that ignores the current content.
	set := func(n int64) func(ports.Control) (ports.Control, error) {
		return func(ports.Control) (ports.Control, error) { return control(t, n), nil }
	}
	want("in an absent store", r, ports.KeepFile, -1)
	heads := commit(t, s, r, 0)
	commit(t, s, other, 0)
	for i, f := range files {
		want("before the first update", r, f, -1)
		must(t, s.UpdateSessionControl(ctx, r.Session, f, set(int64(i))))
	}
	for i, f := range files {
		want("after the first update", r, f, int64(i))
		want("another session's", other, f, -1)
	}
	// A change receives the current content, also from another handle.
	must(t, open(0).UpdateSessionControl(ctx, r.Session, ports.KeepFile,
		func(old ports.Control) (ports.Control, error) {
			return control(t, number(old)+10), nil
		}))
	want("after the second update", r, ports.KeepFile, 11)
	// The change is computed, and then rejected by its own error: the file must not contain 99.
	refusal := errors.New("rejected")
	if err := s.UpdateSessionControl(ctx, r.Session, ports.KeepFile, func(ports.Control) (ports.Control, error) {
		return control(t, 99), refusal
	}); !errors.Is(err, refusal) {
		t.Errorf("an update whose change fails returned %v; want its error", err)
	}
	want("after a failed change", r, ports.KeepFile, 11)
	// The second removal finds no file.
	for range 2 {
		must(t, s.DropSessionControl(ctx, r.Session, ports.KeepFile))
		want("after the removal", r, ports.KeepFile, -1)
	}
	want("the other file of the session", r, ports.ImportedFile, 0)

	// A session without a commit: nothing to remove, and nothing that a file could belong to.
	absent := NewSessionFixture(3)
	must(t, s.DropSessionControl(ctx, absent.Session, ports.KeepFile))
	if err := s.UpdateSessionControl(ctx, absent.Session, ports.KeepFile, set(1)); !fault.Is(err,
		fault.SessionNotFound) {
		t.Errorf("updating a file of an absent session: %v; want SESSION_NOT_FOUND", err)
	}
	if list, err := s.Sessions(ctx); err != nil || len(list) != 2 {
		t.Errorf("control files created a session: %v, %v", list, err)
	}
	// Names and kinds belong together; a path out of the session's directory is no name.
	for _, f := range []ports.ControlFile{{}, {Name: "other.json", Kind: "other"}, {Name: "../keep", Kind: "keep"},
		{Name: "keep", Kind: "imported"}} {
		_, err := s.SessionControl(ctx, r.Session, f)
		if !fault.Is(err, fault.Internal) ||
			!fault.Is(s.UpdateSessionControl(ctx, r.Session, f, set(1)), fault.Internal) ||
			!fault.Is(s.DropSessionControl(ctx, r.Session, f), fault.Internal) {
			t.Errorf("%+v, which is not a control file of a session: %v; want INTERNAL", f, err)
		}
	}
	concurrentUpdates(t, open, r)
	if _, v := Read(t, s, r.Log, manifest.Head{}); v.Head != heads[0] || len(v.Findings) > 0 {
		t.Errorf("control files changed the log: %+v", v)
	}
}

// concurrentUpdates: updates of a control file are atomic. No update takes place between the
// reading and the writing of another one, so several handles that count up lose no step.
func concurrentUpdates(t testing.TB, open func(time.Duration) Store, r *SessionFixture) {
	const writers, each = 4, 5
	var all sync.WaitGroup
	for range writers {
		s := open(time.Minute)
		all.Go(func() {
			for range each {
				if err := s.UpdateSessionControl(context.Background(), r.Session, ports.KeepFile,
					func(old ports.Control) (ports.Control, error) {
						return control(t, max(number(old), 0)+1), nil
					}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	// A lost update makes the number smaller than the number of updates.
	all.Wait()
	got, err := open(0).SessionControl(context.Background(), r.Session, ports.KeepFile)
	if err != nil || number(got) != writers*each {
		t.Errorf("after %d updates the number is %d, %v", writers*each, number(got), err)
	}
}

// configFile is a control file of the store. Its content is not that of settings: the suite does not interpret it.
var configFile = ports.ControlFile{Name: "config.json", Kind: "config"}

// controls: Control of an absent file or store is the zero Control. UpdateControl creates the store, calls change with
// the current content and stores its result; an error of change is returned as it is, and the file stays. No update
// takes place between the reading and the writing of another one. A damaged file is STORE_CORRUPT for both.
func controls(t testing.TB, b Bench) {
	ctx, s := context.Background(), b.Open(0)
	want := func(what string, n int64) {
		t.Helper()
		got, err := b.Open(0).Control(ctx, configFile)
		if err != nil || number(got) != n || n < 0 && got.V != 0 {
			t.Errorf("%s: %+v, %v; want %d", what, got, err, n)
		}
	}
	plus := func(more int64) func(ports.Control) (ports.Control, error) {
		return func(old ports.Control) (ports.Control, error) { return control(t, max(number(old), 0)+more), nil }
	}
	want("in an absent store", -1)
	if got, err := s.StoreID(ctx, ports.ReadOnly); err != nil || !got.IsZero() {
		t.Errorf("reading a control file created the store %q, %v", got, err)
	}
	must(t, s.UpdateControl(ctx, configFile, plus(7)))
	want("after the first update", 7)
	if got, err := b.Open(0).StoreID(ctx, ports.ReadOnly); err != nil || got.IsZero() {
		t.Errorf("after an update the store has the id %q, %v", got, err)
	}
	refusal := errors.New("rejected")
	if err := s.UpdateControl(ctx, configFile, func(ports.Control) (ports.Control, error) {
		return control(t, 99), refusal
	}); !errors.Is(err, refusal) {
		t.Errorf("an update whose change fails returned %v; want its error", err)
	}
	want("after a failed change", 7)
	const writers, each = 4, 5
	var all sync.WaitGroup
	for range writers {
		s := b.Open(time.Minute)
		all.Go(func() {
			for range each {
				if err := s.UpdateControl(ctx, configFile, plus(1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	want("after concurrent updates", 7+writers*each)
	needs(t, b.Damage != nil, "damage")
	b.Damage.Control(configFile)
	if c, err := b.Open(0).Control(ctx, configFile); !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("a damaged control file is %+v, %v; want STORE_CORRUPT", c, err)
	}
	if err := b.Open(0).UpdateControl(ctx, configFile, plus(1)); !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("updating a damaged control file: %v; want STORE_CORRUPT", err)
	}
}
