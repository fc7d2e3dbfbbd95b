package reason

import (
	"cmp"
	"strings"

	"github.com/waybill/waybill/durable/limits"
)

// Unmet is one requirement that is not satisfied. In a mode that blocks it becomes a blocker and a
// gap; with autonomy full_auto_never_stop it becomes a gap only (docs/design.md#reasons). Message
// and Fix end up in stored events.
type Unmet struct {
	Code    Code
	Pointer Pointer
	Message string // what is wrong, with what was expected
	Fix     string // what to do next
	// Loop is the loop that cannot start, continue or end; zero: another requirement.
	Loop LoopFact
	// Kind is the kind of the artifacts that show what is wrong, NotesRef for notes; "": no output shows it.
	Kind string
	// Check is the check whose result is missing or does not pass; nil: another requirement.
	Check *CheckFact
	// Earlier: texts over their budgets are cut anywhere, as earlier versions did.
	Earlier bool
}

// Blocker returns u as a blocker. Texts over their budgets end behind a whole rule of a list, with the marker of
// limits.TruncationMarker and the name of what u points to.
func (u Unmet) Blocker() Blocker {
	return Blocker{
		Check: u.Check, Code: u.Code.Blocker(), Loop: u.Loop, Pointer: u.Pointer,
		Message:      u.shorten(u.Message, limits.MessageBytesMax),
		SuggestedFix: u.shorten(u.Fix, limits.SuggestedFixBytesMax),
	}
}

// listed separates the rules in a message.
const listed = "; "

// shorten returns a text of at most n bytes.
func (u Unmet) shorten(text string, n int) string {
	if u.Earlier {
		return Clip(text, n)
	}
	if len(text) <= n {
		return text
	}
	end := limits.TruncationMarker + " " + cmp.Or(u.Pointer.text(), string(u.Pointer.Kind))
	// A rule that ends at the limit is whole.
	head := Clip(text, n-len(end)+len(listed))
	if i := strings.LastIndex(head, listed); i > 0 {
		return head[:i] + end
	}
	return Clip(text, n-len(end)) + end
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
