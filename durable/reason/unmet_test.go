package reason_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// TestBlockersEndBehindARule: a text over its budget keeps whole rules only, and names what it is about.
func TestBlockersEndBehindARule(t *testing.T) {
	a, b, c := strings.Repeat("a", 200), strings.Repeat("b", 200), strings.Repeat("c", 200)
	const end = limits.TruncationMarker + " wr.validationCriteria"
	fits := limits.MessageBytesMax - len(end)
	for name, row := range map[string]struct{ text, want string }{
		"within the budget":     {a + "; " + b, a + "; " + b},
		"the third is too long": {a + "; " + b + "; " + c, a + "; " + b + end},
		"a rule that just fits": {strings.Repeat("x", fits) + "; " + c, strings.Repeat("x", fits) + end},
		"one byte too long":     {a + "; " + strings.Repeat("x", fits-len(a)-1) + "; " + c, a + end},
		"one rule alone":        {strings.Repeat("x", 600), strings.Repeat("x", fits) + end},
	} {
		u := reason.Unmet{Code: reason.InvalidOutput, Pointer: reason.OutputContract(reason.CriteriaRef), Message: row.text}
		if got := u.Blocker().Message; got != row.want || len(got) > limits.MessageBytesMax {
			t.Errorf("%s: %d bytes %q", name, len(got), got)
		}
		u.Earlier = true
		if got := u.Blocker().Message; got != reason.Clip(row.text, limits.MessageBytesMax) {
			t.Errorf("%s, earlier: %q", name, got)
		}
	}
}
