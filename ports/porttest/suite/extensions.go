package suite

import (
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
		must(t, x.Under(s, func(logs []ports.Extended) error {
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
	must(t, x.Under(s, func(logs []ports.Extended) error {
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
	checkImported(t, x.ImportFixture, open)
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
