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

// control is a control file that holds a number, and the members that the mark of an import must
// have: an inspection reads marks.
func control(t testing.TB, n int64) ports.Control {
	t.Helper()
	data, err := canon.ValueOf(struct {
		imported.Mark
		N int64 `json:"n"`
	}{imported.Mark{BundleID: "b", Events: 1, Head: canon.Sum(nil)}, n})
	must(t, err)
	return ports.Control{V: 1, Data: data}
}

// number is the inverse of control; -1 is none.
func number(c ports.Control) int64 {
	var data struct {
		N int64 `json:"n"`
	}
	if c.V != 1 || canon.DecodeKnown(c.Data, &data) != nil {
		return -1
	}
	return data.N
}

func sessionControls(t *testing.T, open func(time.Duration) Store) {
	ctx, s, r, other := context.Background(), open(0), NewStory(1), NewStory(2)
	files := []ports.ControlFile{ports.ImportedFile, ports.KeepFile}
	want := func(what string, story *Story, f ports.ControlFile, n int64) {
		t.Helper()
		got, err := open(0).SessionControl(ctx, story.Session, f)
		if err != nil || number(got) != n || n < 0 && got.V != 0 {
			t.Errorf("%s, %s: %+v, %v; want %d", what, f.Name, got, err, n)
		}
	}
	set := func(n int64) func(ports.Control) (ports.Control, error) {
		return func(ports.Control) (ports.Control, error) { return control(t, n), nil }
	}
	want("in a store that is not there", r, ports.KeepFile, -1)
	heads := commit(t, s, r, 0)
	commit(t, s, other, 0)
	for i, f := range files {
		want("before any", r, f, -1)
		must(t, s.UpdateSessionControl(ctx, r.Session, f, set(int64(i))))
	}
	for i, f := range files {
		want("the first", r, f, int64(i))
		want("another session's", other, f, -1)
	}
	must(t, open(0).UpdateSessionControl(ctx, r.Session, ports.KeepFile,
		func(old ports.Control) (ports.Control, error) {
			return control(t, number(old)+10), nil
		}))
	want("changed", r, ports.KeepFile, 11)
	refusal := errors.New("not that")
	if err := s.UpdateSessionControl(ctx, r.Session, ports.KeepFile, func(ports.Control) (ports.Control, error) {
		return control(t, 99), refusal
	}); !errors.Is(err, refusal) {
		t.Errorf("a change that was refused said %v", err)
	}
	want("after a refusal", r, ports.KeepFile, 11)
	for range 2 {
		must(t, s.DropSessionControl(ctx, r.Session, ports.KeepFile))
		want("dropped", r, ports.KeepFile, -1)
	}
	want("the one beside it", r, ports.ImportedFile, 0)

	stranger := NewStory(3)
	must(t, s.DropSessionControl(ctx, stranger.Session, ports.KeepFile))
	if err := s.UpdateSessionControl(ctx, stranger.Session, ports.KeepFile, set(1)); !fault.Is(err,
		fault.SessionNotFound) {
		t.Errorf("of a session that is not there: %v; want SESSION_NOT_FOUND", err)
	}
	if list, err := s.Sessions(ctx); err != nil || len(list) != 2 {
		t.Errorf("control files made a session: %v, %v", list, err)
	}
	for _, f := range []ports.ControlFile{{}, {Name: "other.json", Kind: "other"}, {Name: "../keep", Kind: "keep"},
		{Name: "keep", Kind: "imported"}} {
		_, err := s.SessionControl(ctx, r.Session, f)
		if !fault.Is(err, fault.Internal) ||
			!fault.Is(s.UpdateSessionControl(ctx, r.Session, f, set(1)), fault.Internal) ||
			!fault.Is(s.DropSessionControl(ctx, r.Session, f), fault.Internal) {
			t.Errorf("%+v is no control file of a session: %v", f, err)
		}
	}
	countTogether(t, open, r)
	if _, v := Read(t, s, r.Log, manifest.Head{}); v.Head != heads[0] || len(v.Findings) > 0 {
		t.Errorf("control files changed the log: %+v", v)
	}
}

// countTogether: no update comes between another's reading and writing.
func countTogether(t *testing.T, open func(time.Duration) Store, r *Story) {
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
	all.Wait()
	got, err := open(0).SessionControl(context.Background(), r.Session, ports.KeepFile)
	if err != nil || number(got) != writers*each {
		t.Errorf("after %d updates: %d, %v", writers*each, number(got), err)
	}
}
