// Package sample selects the cases that a test tries of an enumeration, and counts them.
//
// A test that enumerates crash states, faults or changed bytes asks a Cases value before
// each case. By default one case in several is tried: the enumeration is divided into
// blocks of equal size, and a random number from a fixed seed selects one case of every
// block, so that the sample is spread over the whole enumeration and is the same in every
// run. With -exhaustive (or WAYBILL_EXHAUSTIVE=1) every case is tried; 'make exhaustive'
// does that for all packages. With -short the blocks are larger.
//
// Each Cases value logs one line at the end of its test, "cases: N of M", with the seed
// and the size of a block. 'make exhaustive' adds these lines up. A test that selects no
// case at all fails.
//
// The package does not enumerate anything itself. No package of the product imports it.
package sample

import (
	"flag"
	"hash/fnv"
	"iter"
	"os"
	"strconv"
	"sync"
	"testing"
)

// DefaultSeed is the seed of a run without -sample.seed and WAYBILL_SAMPLE_SEED.
const DefaultSeed = 1

// shortFactor is how many times larger a block is with -short.
const shortFactor = 10

var (
	exhaustive = flag.Bool("exhaustive", isSet("WAYBILL_EXHAUSTIVE"),
		"try every case of every enumeration (default: WAYBILL_EXHAUSTIVE)")
	seed = flag.Uint64("sample.seed", number("WAYBILL_SAMPLE_SEED", DefaultSeed),
		"seed that selects the cases of a sample (default: WAYBILL_SAMPLE_SEED, or 1)")
)

// isSet reports whether an environment variable is neither empty nor 0.
func isSet(name string) bool { return os.Getenv(name) != "" && os.Getenv(name) != "0" }

// number returns the value of an environment variable, or otherwise where it is no number.
func number(name string, otherwise uint64) uint64 {
	n, err := strconv.ParseUint(os.Getenv(name), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

// Exhaustive reports whether every case is to be tried.
func Exhaustive() bool { return *exhaustive }

// Cases selects from one enumeration and counts what it selects. Its methods may be
// called from several goroutines.
type Cases struct {
	block int
	state uint64

	mu          sync.Mutex
	next        int // position in the current block
	pick        int // position in the current block that is tried
	seen, tried int
}

// OneIn selects one case of each block of the given size. The first case of an enumeration is
// always selected. The name of the test is part of the seed: two tests that enumerate the
// same cases select different ones.
func OneIn(t testing.TB, block int) *Cases {
	t.Helper()
	name := fnv.New64a()
	_, _ = name.Write([]byte(t.Name()))
	switch {
	case Exhaustive():
		block = 1
	case testing.Short():
		block *= shortFactor
	}
	c := &Cases{block: max(block, 1), state: name.Sum64() ^ *seed*0x9e3779b97f4a7c15}
	t.Cleanup(func() { c.report(t) })
	return c
}

// All selects every case in every run. A short enumeration uses it so that its cases are counted
// with those of the others.
func All(t testing.TB) *Cases {
	t.Helper()
	c := &Cases{block: 1}
	t.Cleanup(func() { c.report(t) })
	return c
}

// report logs the line that 'make exhaustive' adds up, and fails a test that tried no case.
func (c *Cases) report(t testing.TB) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.block == 1 {
		t.Logf("cases: %d of %d", c.tried, c.seen)
	} else {
		t.Logf("cases: %d of %d (one in %d, seed %d)", c.tried, c.seen, c.block, *seed)
	}
	if c.tried == 0 && !t.Failed() && !t.Skipped() {
		t.Error("no case was tried")
	}
}

// Try counts one more case and reports whether it is to be tried. A nil Cases selects
// every case and counts nothing.
func (c *Cases) Try() bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	selected := c.next == c.pick
	if c.next++; c.next == c.block {
		c.next, c.pick = 0, int(c.random()%uint64(c.block))
	}
	c.seen++
	if selected {
		c.tried++
	}
	return selected
}

// Of yields the numbers of the selected cases of 0 to n-1.
func (c *Cases) Of(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if c.Try() && !yield(i) {
				return
			}
		}
	}
}

// random returns the next number of a splitmix64 sequence.
func (c *Cases) random() uint64 {
	c.state += 0x9e3779b97f4a7c15
	z := c.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
