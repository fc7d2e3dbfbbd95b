package perform_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/perform"
)

// TestGivenNotesAreOfferedAgain: where a step waits for something else, the suggested command repeats --notes; what a
// command line should not hold is a placeholder.
func TestGivenNotesAreOfferedAgain(t *testing.T) {
	for name, tc := range map[string]struct{ notes, want string }{
		"short":        {"looked at both logs", "--notes looked at both logs --set"},
		"empty":        {"", "--notes  --set"},
		"long":         {strings.Repeat("n", 161), "--notes TEXT --set"},
		"lines":        {"one\ntwo", "--notes TEXT --set"},
		"not printed":  {"a\x1b[2Jb", "--notes TEXT --set"},
		"with secrets": {"password=hunter2hunter2", "--notes TEXT --set"},
	} {
		w := newFixture(t, steps(inputStep))
		_, err := w.perform(context.Background(), perform.Options{Notes: &tc.notes, Yes: true})
		if got := fault.Of(err).Suggestion.String(); !fault.Is(err, fault.RunWaiting) || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q in it", name, got, tc.want)
		}
	}
	w := newFixture(t, steps(inputStep))
	_, err := w.perform(context.Background(), perform.Options{Yes: true})
	if got := fault.Of(err).Suggestion.String(); !strings.Contains(got, "waybill run --run R --set") {
		t.Errorf("without notes: %q", got)
	}
}
