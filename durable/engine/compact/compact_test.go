package compact_test

import (
	"fmt"
	"slices"
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

// TestTreeHasTheChildrenInOrder: also of a parent behind them, and a record whose parent is none is left out.
func TestTreeHasTheChildrenInOrder(t *testing.T) {
	parents := []int{-1, 0, 0, 5, 2, -1, -2, 0}
	tree := compact.NewTree(len(parents), func(i int) int { return parents[i] })
	if !slices.Equal(tree.Roots, []int{0, 5}) {
		t.Errorf("roots %v", tree.Roots)
	}
	for i := range parents {
		var want []int
		for c, p := range parents {
			if p == i {
				want = append(want, c)
			}
		}
		if got := slices.Collect(tree.Children(i)); !slices.Equal(got, want) {
			t.Errorf("children of %d: %v, want %v", i, got, want)
		}
	}
}
