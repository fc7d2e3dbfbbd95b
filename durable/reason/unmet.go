package reason

import "github.com/waybill/waybill/durable/limits"

// Unmet is one requirement that is not satisfied, with its reason: in a blocking
// mode it becomes a blocker and a gap, where the run never stops a gap alone
// (locks section 3).
type Unmet struct {
	Code    Code
	Pointer Pointer
	Message string // what is wrong, with what was expected
	Fix     string // what to do next
}

// Blocker is u within the budgets of the locks.
func (u Unmet) Blocker() Blocker {
	return Blocker{
		Code: u.Code.Blocker(), Pointer: u.Pointer,
		Message:      Clip(u.Message, limits.MessageBytesMax),
		SuggestedFix: Clip(u.Fix, limits.SuggestedFixBytesMax),
	}
}

// Same reports one reason at one place: it is disclosed once, however often it is met.
func (u Unmet) Same(other Unmet) bool { return u.Code == other.Code && u.Pointer == other.Pointer }
