package advance

import (
	"slices"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// observe appends the observations that pass their checks. Repeated ones are dropped too,
// since events of equal dedupeKey would collide.
func (s *segment) observe(all []event.ObservationRecorded) (dropped int) {
	seen := map[string]bool{}
	for _, o := range all {
		key := o.DedupeKey(s.owner, event.Scope{})
		if o.Check(event.Scope{}) != nil || seen[key] {
			dropped++
			continue
		}
		seen[key] = true
		s.engine(event.Scope{}, o)
	}
	return dropped
}

// observe appends those observations of branch and commit that the log does not have. The root of the repository
// stays the one in which the session was started (docs/design.md#observations).
func (d *attempt) observe() {
	d.seg.observe(slices.DeleteFunc(slices.Clone(d.a.Observations), func(o event.ObservationRecorded) bool {
		if o.Key != "git_branch" && o.Key != "git_head_sha" {
			return true
		}
		have := d.f.Observed(o.Key)
		return len(have) >= limits.ObservedValuesMax || slices.Contains(have, o.Value.Value)
	}))
}

// OverBudget counts the observations of an attempt that are not recorded because a value is over its budget.
func (a Attempt) OverBudget() (n int) {
	for _, o := range a.Observations {
		if o.Check(event.Scope{}) != nil {
			n++
		}
	}
	return n
}
