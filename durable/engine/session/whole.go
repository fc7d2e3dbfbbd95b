package session

import (
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
)

// Whole calls read, which takes a part of a store that cannot be read for damage, or leaves it out. If
// the process had no file descriptor left meanwhile, nothing is known about that part: the error is
// STORE_IO instead of the result (docs/design.md#reading).
//
//go:noinline
func Whole[T any](s ports.Descriptors, read func() (T, error)) (T, error) {
	before := s.OutOfDescriptors()
	out, err := read()
	if err == nil {
		err = OutOfDescriptors(s, before)
	}
	return out, err
}

// OutOfDescriptors returns STORE_IO if the count is not the one of before.
func OutOfDescriptors(s ports.Descriptors, before int64) error {
	if s.OutOfDescriptors() == before {
		return nil
	}
	return fault.New(fault.StoreIO, "reading the store failed: too many open files").
		Suggest("Allow the process more open files (ulimit -n), or close programs, and run the command again.")
}
