package reason

import "github.com/waybill/waybill/durable/limits"

// Unmet is one requirement that is not satisfied. In a mode that blocks it becomes a blocker and a
// gap; with autonomy full_auto_never_stop it becomes a gap only (docs/design.md#reasons). Message
// and Fix end up in stored events.
type Unmet struct {
	Code    Code
	Pointer Pointer
	Message string // what is wrong, with what was expected
	Fix     string // what to do next
	// Check is the check whose result is missing or does not pass; nil: another requirement.
	Check *CheckFact
}

// Blocker returns u as a blocker, its texts clipped to their budgets.
func (u Unmet) Blocker() Blocker {
	return Blocker{
		Check: u.Check, Code: u.Code.Blocker(), Pointer: u.Pointer,
		Message:      Clip(u.Message, limits.MessageBytesMax),
		SuggestedFix: Clip(u.Fix, limits.SuggestedFixBytesMax),
	}
}

// ReportOf returns the report of requirements that are not satisfied; see NewReport.
func ReportOf(all []Unmet) Report {
	blockers := make([]Blocker, len(all))
	for i, u := range all {
		blockers[i] = u.Blocker()
	}
	return NewReport(blockers)
}

// Same reports whether u and other have the same reason and pointer. Such requirements are recorded
// as one gap: that of a step, however many of its checks fail.
func (u Unmet) Same(other Unmet) bool { return u.Code == other.Code && u.Pointer == other.Pointer }
