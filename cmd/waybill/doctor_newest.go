package main

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/id"
)

// newestBy sorts sessions by a time, the latest first, and gives the first few and the
// latest time.
func newestBy(all []id.Session, most int, at func(id.Session) int64) (out []id.Session, latest int64) {
	times := make(map[id.Session]int64, len(all))
	for _, s := range all {
		times[s] = at(s)
		latest = max(latest, times[s])
	}
	out = slices.Clone(all)
	slices.SortStableFunc(out, func(a, b id.Session) int { return cmp.Compare(times[b], times[a]) })
	return out[:min(most, len(out))], latest
}
