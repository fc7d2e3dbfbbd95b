package event

import (
	"cmp"
	"strconv"

	"github.com/waybill/waybill/durable/limits"
)

// RunPaused holds a run: until RunResumed with the same N it takes no further steps
// (docs/design.md#pauses). The one attempt of a step that was being performed is recorded.
type RunPaused struct {
	// Drain lets the run take the attempt at its current step first, by any caller: the pause is in
	// force from then on. Without it the pause is in force at once.
	Drain bool `json:"drain,omitzero"`
	// N is 1 for the first pause of the run, and counts the later ones.
	N      int64  `json:"n"`
	Reason string `json:"reason"`
}

// Kind is "run_paused".
func (RunPaused) Kind() string { return "run_paused" }

// DedupeKey allows one event for each pause of a run.
func (p RunPaused) DedupeKey(owner string, s Scope) string {
	return "run_paused:" + owner + ":" + s.RunID.String() + ":" + strconv.FormatInt(p.N, 10)
}

// Check returns an error for a pause without a number, and for a reason that is empty or too long.
func (p RunPaused) Check(Scope) error {
	return cmp.Or(errorIf(p.N < 1, "n is not positive"), within("reason of %d bytes", len(p.Reason), 1, limits.SummaryBytesMax))
}

// RunResumed ends a pause.
type RunResumed struct {
	N      int64  `json:"n"` // that of the pause
	Reason string `json:"reason,omitzero"`
}

// Kind is "run_resumed".
func (RunResumed) Kind() string { return "run_resumed" }

// DedupeKey allows one event for each pause of a run.
func (r RunResumed) DedupeKey(owner string, s Scope) string {
	return "run_resumed:" + owner + ":" + s.RunID.String() + ":" + strconv.FormatInt(r.N, 10)
}

// Check returns an error for a number that no pause has, and for a reason that is too long.
func (r RunResumed) Check(Scope) error {
	return cmp.Or(errorIf(r.N < 1, "n is not positive"), within("reason of %d bytes", len(r.Reason), 0, limits.SummaryBytesMax))
}
