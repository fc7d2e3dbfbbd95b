package big

import (
	"fmt"

	"github.com/waybill/waybill/durable/id"
)

// WriteMany makes a store in dir, which must not hold one, with sessions of one run each that advanced by a number of
// steps. Each session is one segment. Snapshots and the workflow are the same objects for all of them; the notes of the
// last step name the session by its number, as "session-17".
func WriteMany(dir string, sessions, steps int) error {
	c, err := create(dir)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for i := range sessions {
		s := id.Seed{42, byte(i), byte(i >> 8), byte(i >> 16)}
		w, err := newWriter(dir, s, c, true)
		if err != nil {
			return err
		}
		w.known, w.atMs = known, firstMs+int64(i)*60_000
		if err := w.begin(); err != nil {
			return err
		}
		for n := range steps {
			w.ending = ""
			if n == steps-1 {
				w.ending = fmt.Sprintf(" This is session-%d.", i)
			}
			if err := w.advance(); err != nil {
				return err
			}
		}
		if err := w.close(); err != nil {
			return err
		}
	}
	return nil
}
