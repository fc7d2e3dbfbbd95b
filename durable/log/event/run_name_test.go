package event_test

import (
	"testing"

	"github.com/waybill/waybill/durable/log/event"
)

// TestNameOfARun: a blank title or goal would be an empty place in a list.
func TestNameOfARun(t *testing.T) {
	for _, c := range []struct{ title, goal, want string }{
		{"Title", "Goal", "Title"}, {"", "Goal", "Goal"}, {" \t", " Goal", " Goal"}, {"", "\u00a0\n", ""}, {"", "", ""},
	} {
		if got := (event.RunStarted{Title: c.title, Goal: c.goal}).Name(); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.title, c.goal, got, c.want)
		}
	}
}
