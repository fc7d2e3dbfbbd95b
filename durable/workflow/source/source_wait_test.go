package source

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/problem"
)

// waits is a step that waits, with more members of its action and of itself.
func waits(action, members string) string {
	return `, {"id": "a", "title": "T", "action": {"kind": "wait"` + action + `}` + members + `}`
}

// TestWaits: a wait has one moment, and its step requires nothing of a performer.
func TestWaits(t *testing.T) {
	const at, hour = "/steps/1/action", `, "for": "1h"`
	checkRows(t, problem.Error, []row{
		{"", waits("", ""), at, "exactly one of for and until", `"for"`},
		{"", waits(`, "for": "1h", "until": "2026-12-01T09:00:00Z"`, ""), at, "exactly one of for and until", `"until"`},
		{"", waits(`, "for": "1 hour"`, ""), at + "/for", `a period such as "2d"`, "Write"},
		{"", waits(`, "for": "30m1h"`, ""), at + "/for", `a period such as "2d"`, "Write"},
		{"", waits(`, "for": "0s"`, ""), at + "/for", `a period such as "2d"`, "Write"},
		{"", waits(`, "for": 3600`, ""), at + "/for", `a period such as "2d"`, "Write"},
		{"", waits(`, "for": "367d"`, ""), at + "/for", "longer than 366d", "shorter"},
		{"", waits(`, "until": "tomorrow"`, ""), at + "/until", "an instant with its zone", "2026"},
		{"", waits(`, "until": "2026-12-01T09:00:00"`, ""), at + "/until", "an instant with its zone", "2026"},
		{"", waits(`, "until": "{{a}}T09:00:00Z"`, ""), at + "/until", "one placeholder alone", "{{releaseAt}}"},
		{"", waits(`, "until": "{{wr.a}}"`, ""), at + "/until", "one placeholder alone", "{{releaseAt}}"},
		{"", waits(`, "until": "{{`+strings.Repeat("a", 256)+`}}"`, ""), at + "/until", "1 to 256", "Write"},
		{"", waits(hour+`, "argv": ["make"]`, ""), at + "/argv", "a wait has no key", "Remove"},
		{"", command(`"argv": ["make"], "for": "1h"`), at + "/for", "a command has no key", ""},
		{"", waits(hour, `, "outputs": {"a": "stdout"}`), "/steps/1/outputs", "outputs are what a command sets", "action"},
		{"", waits(hour, `, "notesRequired": true`), "/steps/1/notesRequired", "a step that waits", "before or behind"},
		{"", waits(hour, `, "requireConfirmation": true`), "/steps/1/requireConfirmation", "a step that waits", "before or behind"},
		{"", waits(hour, `, "requireConfirmation": {"kind": "human_approval"}`), "/steps/1/requireConfirmation", "a step that waits", ""},
		{"", waits(hour, `, "outputContract": {"contractRef": "wr.contracts.loop_control"}`), "/steps/1/outputContract", "a step that waits", ""},
	})
	for _, good := range []string{waits(hour, ""), waits(`, "until": "2026-12-01T09:00:00+01:00"`, `, "prompt": "The embargo."`),
		waits(`, "until": "1999-12-01T09:00:00Z"`, `, "requireConfirmation": false`), waits(`, "until": "{{ a.b }}"`, `, "notesRequired": false`)} {
		if src, found := parse(file("", good)); !src.Valid || len(found) != 0 {
			t.Errorf("%s: %v", good, found)
		}
	}
}
