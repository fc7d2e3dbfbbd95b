package sorting_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/sorting"
)

// Lists with many equal elements, of lengths on both sides of what the algorithms sort by insertion, in random order and in
// nearly sorted order.
func TestSortsAsPackageSlices(t *testing.T) {
	type pair struct{ key, place int }
	compare := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	random := rand.New(rand.NewPCG(1, 2))
	for length := range 200 {
		list := make([]pair, length)
		for i := range list {
			list[i] = pair{random.IntN(1 + length/3), i}
			if length%2 == 0 {
				list[i].key = i / 3
			}
		}
		if length > 1 {
			list[random.IntN(length)].key = 0
		}
		got, want := slices.Clone(list), slices.Clone(list)
		sorting.By(got, compare)
		slices.SortFunc(want, compare)
		if !slices.Equal(got, want) {
			t.Fatalf("By of %d elements: %v, not %v", length, got, want)
		}
		got, want = slices.Clone(list), slices.Clone(list)
		sorting.Stable(got, compare)
		slices.SortStableFunc(want, compare)
		if !slices.Equal(got, want) {
			t.Fatalf("Stable of %d elements: %v, not %v", length, got, want)
		}
	}
}

var sizes = []int{10, 100, 10_000}

func BenchmarkBy(b *testing.B)         { benchmark(b, sorting.By[row]) }
func BenchmarkSlicesSort(b *testing.B) { benchmark(b, slices.SortFunc[[]row]) }

type row struct {
	at int64
	_  [6]int64
}

func benchmark(b *testing.B, sort func([]row, func(a, b row) int)) {
	for _, n := range sizes {
		list := make([]row, n)
		for i := range list {
			list[i].at = rand.Int64()
		}
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				sort(slices.Clone(list), func(a, b row) int { return cmp.Compare(a.at, b.at) })
			}
		})
	}
}
