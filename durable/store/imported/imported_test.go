package imported_test

import (
	"reflect"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/imported"
)

// TestMarksAreReadAsTheyWereWritten: a mark of version 1 without an interval is about the first events.
func TestMarksAreReadAsTheyWereWritten(t *testing.T) {
	head := canon.Sum([]byte("head"))
	old, err := canon.Parse([]byte(`{"atMs":7,"bundleId":"b","events":12,"head":"` + head.String() +
		`","logs":{"annotations":3},"salvage":true,"later":1}`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := imported.Read(old)
	if err != nil || m.Span(imported.Own) != (imported.Span{Events: 12}) || m.Span("annotations") != (imported.Span{Events: 3}) {
		t.Fatalf("%+v, %v", m, err)
	}
	m = m.WithSpan(imported.Own, imported.Span{From: 4, Events: 20}).WithSpan("annotations", imported.Span{From: 2, Events: 5})
	m.Pending = map[string]int64{imported.Own: 12, "annotations": 0}
	again, err := imported.Read(m.Value())
	if err != nil || !reflect.DeepEqual(again, m) {
		t.Errorf("%+v, %v, want %+v", again, err, m)
	}
	for _, wrong := range []imported.Mark{m.WithSpan(imported.Own, imported.Span{From: 21, Events: 20}),
		m.WithSpan(imported.Own, imported.Span{From: -1, Events: 20}), m.WithSpan(imported.Own, imported.Span{}),
		m.WithSpan("annotations", imported.Span{From: 9, Events: 5})} {
		if _, err := imported.Read(wrong.Value()); !fault.Is(err, fault.StoreCorrupt) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

// TestMarksAreCutToTheirLogs: of an import that did not finish, nothing of a log remains that the log does not have.
func TestMarksAreCutToTheirLogs(t *testing.T) {
	m := imported.Mark{Head: canon.Sum(nil), Pending: map[string]int64{imported.Own: 10, "annotations": 3}}.
		WithSpan(imported.Own, imported.Span{From: 10, Events: 15}).WithSpan("annotations", imported.Span{From: 3, Events: 6})
	if !m.IsBeyond(imported.Own, 20) || !m.IsBeyond("annotations", 6) || m.IsBeyond("other", 0) {
		t.Error("a pending log is not beyond its end")
	}
	cut := m.CutTo(imported.Own, 10)
	if s := cut.Span(imported.Own); !s.IsEmpty() || s.Has(10) || cut.IsBeyond(imported.Own, 10) {
		t.Errorf("%+v", s)
	}
	if _, err := imported.Read(cut.Value()); err != nil {
		t.Error(err)
	}
	if !cut.IsBeyond("annotations", 3) || len(m.Pending) != 2 {
		t.Error("the cut changed another log")
	}
	if whole := m.CutTo(imported.Own, 15); whole.Span(imported.Own) != m.Span(imported.Own) {
		t.Errorf("%+v", whole)
	}
}

// TestSpansAreWidened: a later import never takes an event out of the interval.
func TestSpansAreWidened(t *testing.T) {
	a, b := imported.Span{From: 4, Events: 7}, imported.Span{From: 9, Events: 12}
	for _, s := range []imported.Span{a.Widened(b), b.Widened(a)} {
		if s != (imported.Span{From: 4, Events: 12}) || s.Has(3) || !s.Has(8) || s.Has(12) {
			t.Errorf("%+v", s)
		}
	}
	if a.Widened(imported.Span{}) != a || (imported.Span{}).Widened(a) != a || (imported.Span{From: 5, Events: 5}).Widened(b) != b {
		t.Error("an empty interval changes another one")
	}
}
