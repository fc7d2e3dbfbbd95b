package crashfs

import (
	"iter"
	"maps"
	"slices"
)

// vectors yields the combinations of options that Crashes enumerates: one option for each choice,
// in the same order in every run. A combination may be yielded more than once.
func vectors(choices []choice, limit int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		total := 1
		for _, c := range choices {
			if total *= len(c.seqs); total > limit {
				bounded(choices, limit, yield)
				return
			}
		}
		// Each number below total is one vector, in a mixed radix: one digit for each choice.
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

// pairsFrom is the smallest limit with which pairs of options are enumerated: their number grows
// with the square of the number of choices.
const pairsFrom = 100

// bounded yields the combinations that find most mistakes when there are too many for all: prefixes
// in time, single losses, pairs of losses, and pseudo-random ones. Nothing lost is the last prefix,
// everything lost the first.
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
	// With j equal to i the options of a single choice are enumerated.
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
	// A fixed sequence of numbers, so that a failure is reproducible.
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

// asOf returns the vector in which every change up to a moment is kept, and no later one.
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

// pairs yields base with the choices i and j set to each combination of their options; i and j may
// be the same choice. It returns false when yield does.
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
