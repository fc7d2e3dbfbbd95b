package crashfs

import (
	"iter"
	"maps"
	"slices"
)

// vectors are the combinations of options to try; see Crashes.
func vectors(choices []choice, limit int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		total := 1
		for _, c := range choices {
			if total *= len(c.seqs); total > limit {
				bounded(choices, limit, yield)
				return
			}
		}
		for n := range total {
			vector := make([]int, len(choices))
			for i, c := range choices {
				vector[i] = n % len(c.seqs)
				n /= len(c.seqs)
			}
			if !yield(vector) {
				return
			}
		}
	}
}

// pairsFrom is the limit below which pairs are left out as well.
const pairsFrom = 100

// bounded tries the combinations that show most mistakes: single losses, pairs of them, and cuts in
// time.
func bounded(choices []choice, limit int, yield func([]int) bool) {
	lost, kept := make([]int, len(choices)), make([]int, len(choices))
	moments := map[int]bool{}
	for i, c := range choices {
		kept[i] = len(c.seqs) - 1
		for _, seq := range c.seqs {
			moments[seq] = true
		}
	}
	for _, moment := range slices.Sorted(maps.Keys(moments)) {
		if !yield(asOf(choices, moment)) {
			return
		}
	}
	for _, base := range [][]int{lost, kept} {
		for i := range choices {
			others := len(choices)
			if limit < pairsFrom {
				others = i + 1
			}
			for j := i; j < others; j++ {
				if !pairs(choices, base, i, j, yield) {
					return
				}
			}
		}
	}
	// A fixed sequence of numbers: a failure must be reproducible.
	random := uint64(0x9e3779b97f4a7c15)
	for range limit {
		vector := make([]int, len(choices))
		for i, c := range choices {
			random = random*6364136223846793005 + 1442695040888963407
			vector[i] = int(random>>33) % len(c.seqs)
		}
		if !yield(vector) {
			return
		}
	}
}

// asOf takes everything that had happened by a moment, and nothing later.
func asOf(choices []choice, moment int) []int {
	vector := make([]int, len(choices))
	for i, c := range choices {
		for option, seq := range c.seqs {
			if seq <= moment {
				vector[i] = option
			}
		}
	}
	return vector
}

// pairs changes two choices of a base to every option; i and j may be one.
func pairs(choices []choice, base []int, i, j int, yield func([]int) bool) bool {
	for a := range choices[i].seqs {
		if i == j {
			vector := slices.Clone(base)
			vector[i] = a
			if !yield(vector) {
				return false
			}
			continue
		}
		for b := range choices[j].seqs {
			vector := slices.Clone(base)
			vector[i], vector[j] = a, b
			if !yield(vector) {
				return false
			}
		}
	}
	return true
}
