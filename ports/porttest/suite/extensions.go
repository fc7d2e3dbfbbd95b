package suite

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
)

// ExtensionFixture is a session of a store that another store continued: what a bundle that came home contains.
type ExtensionFixture struct {
	*ImportFixture
	// Own and Side are how many segments of each log the store has already.
	Own, Side int
	Lease     int64 // under which it is extended, as Plan.Lease
}

// NewExtensionFixture returns the n-th fixture with the given number of advances; the store has the first own segments
// and side ones of its notes.
func NewExtensionFixture(t testing.TB, n, advances, own, side int) *ExtensionFixture {
	t.Helper()
	return &ExtensionFixture{ImportFixture: NewImportFixture(t, n, advances), Own: own, Side: side}
}

// OwnHeads returns the head of the session's log before the extension, and after it.
func (x *ExtensionFixture) OwnHeads() (before, after manifest.Head) {
	return x.Heads[x.Own-1], x.ImportFixture.Head()
}

// SideHeads returns the head of the notes before the extension, and after it.
func (x *ExtensionFixture) SideHeads() (before, after manifest.Head) {
	var head manifest.Head
	for i, seg := range x.Notes {
		if i == x.Side {
			before = head
		}
		head = head.After(seg.Group, seg)
	}
	if x.Side == len(x.Notes) {
		before = head
	}
	return before, head
}

// Prepare imports what the store has already.
func (x *ExtensionFixture) Prepare(s ports.SessionImporter) error {
	first := *x.ImportFixture
	first.Segments, first.Notes = x.Segments[:x.Own], x.Notes[:x.Side]
	_, err := first.Import(s, ports.Control{V: imported.Version, Data: x.Mark(imported.Span{Events: 1}, imported.Span{}).Value()})
	return err
}

// Mark returns an import mark with the intervals of both logs.
func (x *ExtensionFixture) Mark(own, side imported.Span) imported.Mark {
	return imported.Mark{BundleID: "bundle", Head: canon.Sum(nil)}.WithSpan(imported.Own, own).WithSpan("notes", side)
}

// Came returns the intervals of both logs that the extension adds.
func (x *ExtensionFixture) Came() (own, side imported.Span) {
	before, after := x.OwnHeads()
	sideBefore, sideAfter := x.SideHeads()
	return imported.Span{From: before.Next, Events: after.Next}, imported.Span{From: sideBefore.Next, Events: sideAfter.Next}
}

// extendable is what an extension requires of a store.
type extendable interface {
	ports.Logs
	ports.Locks
	ports.SessionImporter
}

// Extend extends the session while both logs are locked.
func (x *ExtensionFixture) Extend(s extendable) error {
	return x.under(s, func(logs []ports.Extended) (err error) {
		ctx := context.Background()
		a, err := s.BeginExtension(ctx, x.Session, logs)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.End()) }()
		for _, o := range x.Objects {
			if err := a.Object(ctx, o.Kind, o.Ref(), bytes.NewReader(o.Bytes)); err != nil {
				return err
			}
		}
		for _, seg := range x.Segments[x.Own:] {
			if err := a.Segment(ctx, "", seg); err != nil {
				return err
			}
		}
		for _, seg := range x.Notes[x.Side:] {
			if err := a.Segment(ctx, "notes", seg); err != nil {
				return err
			}
		}
		own, side := x.Came()
		if err := a.Control(ctx, ports.ImportedFile, ports.Control{V: imported.Version,
			Data: x.Mark(own, side).Value()}); err != nil {
			return err
		}
		placed, err := a.Commit(ctx)
		if err == nil && !placed {
			err = errors.New("the extension was not placed")
		}
		return err
	})
}

// under calls fn with the witnesses of both logs.
func (x *ExtensionFixture) under(s extendable, fn func([]ports.Extended) error) error {
	ctx, notes := context.Background(), SessionNotes(x.Session)
	own, _ := x.OwnHeads()
	side, _ := x.SideHeads()
	return ports.WithHealthySession(ctx, s, s, x.Log, manifest.Head{}, ports.Skip,
		func(w ports.Witness, v manifest.Verdict) error {
			return ports.WithHealthySession(ctx, s, s, notes, manifest.Head{}, ports.Skip,
				func(other ports.Witness, _ manifest.Verdict) error {
					return fn([]ports.Extended{{Log: x.Log, Witness: w, At: own, Lease: x.Lease}, {Log: notes, Witness: other, At: side}})
				})
		})
}

// extensions: a session is extended by events that continue its logs, all of them or none, under their locks.
func extensions(t testing.TB, open func(time.Duration) Store) {
	ctx := context.Background()
	x := NewExtensionFixture(t, 1, 3, 2, 1)
	must(t, x.Prepare(open(0)))
	refused := map[string]func(ports.SessionImport) error{
		"a segment that does not continue the log": func(a ports.SessionImport) error { return a.Segment(ctx, "", x.Segments[3]) },
		"a segment of another log":                 func(a ports.SessionImport) error { return a.Segment(ctx, "other", x.Segments[2]) },
		"another control file": func(a ports.SessionImport) error {
			return a.Control(ctx, ports.KeepFile, ports.Control{V: 1, Data: canon.OfMembers()})
		},
		"no mark": func(a ports.SessionImport) error {
			if err := a.Segment(ctx, "", x.Segments[2]); err != nil {
				return nil
			}
			_, err := a.Commit(ctx)
			return err
		},
	}
	for name, call := range refused {
		s := open(0)
		must(t, x.under(s, func(logs []ports.Extended) error {
			a, err := s.BeginExtension(ctx, x.Session, logs)
			must(t, err)
			if err := call(a); !fault.Is(err, fault.Internal) {
				t.Errorf("%s: %v", name, err)
			}
			return a.End()
		}))
		before, _ := x.OwnHeads()
		if _, v := Read(t, open(0), x.Log, manifest.Head{}); v.Head != before || len(v.Findings) > 0 {
			t.Errorf("%s: the log is %+v", name, v)
		}
	}
	var stale []ports.Extended
	s := open(0)
	must(t, x.under(s, func(logs []ports.Extended) error {
		stale = logs
		moved := slices.Clone(logs)
		moved[0].At = x.Heads[0]
		if _, err := s.BeginExtension(ctx, x.Session, moved); !fault.Is(err, fault.StoreConflict) {
			t.Errorf("behind another head: %v", err)
		}
		return nil
	}))
	if _, err := s.BeginExtension(ctx, x.Session, stale); !errors.Is(err, ports.ErrWitness) {
		t.Errorf("without the locks: %v", err)
	}
	must(t, x.Extend(open(0)))
	x.checkImported(t, open)
	c, err := open(0).SessionControl(ctx, x.Session, ports.ImportedFile)
	must(t, err)
	mark, err := imported.Read(c.Data)
	own, side := x.Came()
	if err != nil || mark.Span(imported.Own) != own || mark.Span("notes") != side || len(mark.Pending) > 0 {
		t.Errorf("the mark is %+v, %v", mark, err)
	}
	if err := x.Extend(open(0)); !fault.Is(err, fault.StoreConflict) {
		t.Errorf("extended twice: %v", err)
	}
	if _, err := Gate(open(0), x.Advance(x.ImportFixture.Head().Next)); err != nil {
		t.Errorf("the session does not continue: %v", err)
	}
}
