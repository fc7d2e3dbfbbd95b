package compact_test

import (
	"fmt"
	"testing"

	"github.com/waybill/waybill/durable/engine/compact"
)

func TestListKeepsItsRecords(t *testing.T) {
	var l compact.List[int]
	for i := range 5000 {
		l.Add(i)
		*l.At(i) *= 2
	}
	for i := range 5000 {
		if got := *l.At(i); got != 2*i {
			t.Fatalf("record %d is %d", i, got)
		}
	}
	if l.Len() != 5000 {
		t.Errorf("%d records", l.Len())
	}
}

func TestWordsNumberEachTextOnce(t *testing.T) {
	var w compact.Words[string]
	for round := range 2 {
		for i := range 2000 {
			if n := w.Of(fmt.Sprint("text ", i), false); int(n) != i || w.Text(n) != fmt.Sprint("text ", i) {
				t.Fatalf("round %d: text %d has the number %d", round, i, n)
			}
		}
	}
	if a, b := w.Of("own", true), w.Of("own", true); a == b || w.Text(a) != "own" || w.Text(b) != "own" {
		t.Errorf("texts of one record have the numbers %d and %d", a, b)
	}
}
