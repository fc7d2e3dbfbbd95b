package similar

import (
	"math"
	"slices"
)

// sample keeps the sampleMax smallest distinct values that were added. Values at or above
// bound are skipped; when the buffer of twice sampleMax is full, cut drops the larger half.
type sample struct {
	values []uint64
	bound  uint64
}

// newSample allocates the buffer once: add never grows it, since cut runs when it is full.
func newSample() sample {
	return sample{values: make([]uint64, 0, 2*sampleMax), bound: math.MaxUint64}
}

// add records one value. Order and repetition of values do not affect the result.
func (s *sample) add(v uint64) {
	if v >= s.bound {
		return
	}
	if s.values = append(s.values, v); len(s.values) == cap(s.values) {
		s.cut()
	}
}

// cut sorts the values and keeps the smallest sampleMax distinct ones. At most half of the
// buffer stays in use, so repeated values cannot keep it full.
func (s *sample) cut() {
	slices.Sort(s.values)
	s.values = slices.Compact(s.values)
	if len(s.values) > sampleMax {
		s.values = s.values[:sampleMax]
		s.bound = s.values[sampleMax-1]
	}
}

// done returns the sample in ascending order. The caller must not add values afterwards.
func (s *sample) done() []uint64 {
	s.cut()
	return slices.Clip(s.values)
}
