package session

import (
	"cmp"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
)

// Whole calls read, which takes a part of a store that cannot be read for damage, or leaves it out. If
// the process had no file descriptor left meanwhile, or could not reach the store, nothing is known about that part: the error is
// that of Unavailable instead of the result (docs/design.md#reading).
//
//go:noinline
func Whole[T any](s ports.Availability, read func() (T, error)) (T, error) {
	before := s.Failures()
	out, err := read()
	if err == nil {
		err = Unavailable(s, before)
	}
	return out, err
}

// Search calls find, which leaves out what it cannot read. Where it finds nothing, or several, and a part of the store could not be
// opened or reached meanwhile, that may be what is looked for: the error is that of Unavailable.
//
//go:noinline
func Search[T any](s ports.Availability, find func() (T, error)) (T, error) {
	before := s.Failures()
	out, err := find()
	if fault.Is(err, fault.RunNotFound) || fault.Is(err, fault.RunAmbiguous) {
		err = cmp.Or(Unavailable(s, before), err)
	}
	return out, err
}

// Unavailable returns an error if the counts are not those of before: STORE_UNREACHABLE, or STORE_IO for a lack of file descriptors.
func Unavailable(s ports.Availability, before ports.Failures) error {
	switch now := s.Failures(); {
	case now.Connections != before.Connections:
		return fault.New(fault.StoreUnreachable, "reading the store failed: it cannot be reached")
	case now != before:
		return fault.New(fault.StoreIO, "reading the store failed: too many open files").
			Suggest("Allow the process more open files (ulimit -n), or close programs, and run the command again.")
	}
	return nil
}
