package sample

import (
	"slices"
	"testing"
)

// of returns a Cases value that does not depend on flags.
func of(block int, state uint64) *Cases { return &Cases{block: block, state: state} }

func TestSampleSelectsOneCaseOfEachBlock(t *testing.T) {
	const block, n = 7, 7 * 50
	chosen := slices.Collect(of(block, 3).Of(n))
	if len(chosen) != n/block || chosen[0] != 0 {
		t.Fatalf("%d cases of %d, the first is %d", len(chosen), n, chosen[0])
	}
	positions := map[int]bool{}
	for i, at := range chosen {
		if at/block != i {
			t.Errorf("case %d is not in block %d", at, i)
		}
		positions[at%block] = true
	}
	if len(positions) < block/2 {
		t.Errorf("only the positions %v of a block are used", positions)
	}
	if again := slices.Collect(of(block, 3).Of(n)); !slices.Equal(again, chosen) {
		t.Error("the same seed selects other cases")
	}
	if other := slices.Collect(of(block, 4).Of(n)); slices.Equal(other, chosen) {
		t.Error("another seed selects the same cases")
	}
}

func TestBlockOfOneSelectsEveryCase(t *testing.T) {
	c := of(1, 0)
	if n := len(slices.Collect(c.Of(40))); n != 40 || c.tried != 40 || c.seen != 40 {
		t.Errorf("%d cases, %d tried of %d; want 40", n, c.tried, c.seen)
	}
	if none := (*Cases)(nil); !none.Try() {
		t.Error("a nil Cases skips a case")
	}
}
