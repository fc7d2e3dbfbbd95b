package similar

import (
	"math"
	"slices"
)

// sample keeps the smallest distinct values of those that are added: what is not below the
// bound is passed over, and when twice the number has gathered half of it goes.
type sample struct {
	values []uint64
	bound  uint64
}

func newSample() sample {
	return sample{values: make([]uint64, 0, 2*sampleMax), bound: math.MaxUint64}
}

func (s *sample) add(v uint64) {
	if v >= s.bound {
		return
	}
	if s.values = append(s.values, v); len(s.values) == cap(s.values) {
		s.cut()
	}
}

// cut leaves the smallest, in order. Many copies of few values cannot fill it for good:
// what is left is at most half.
func (s *sample) cut() {
	slices.Sort(s.values)
	s.values = slices.Compact(s.values)
	if len(s.values) > sampleMax {
		s.values = s.values[:sampleMax]
		s.bound = s.values[sampleMax-1]
	}
}

// done is the sample; nothing may be added behind it.
func (s *sample) done() []uint64 {
	s.cut()
	return slices.Clip(s.values)
}
