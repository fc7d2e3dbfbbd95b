package catalog

import (
	"os"
	"testing"
)

// TestGuidePage: a problem leads to the page about the innermost member, and every page exists.
func TestGuidePage(t *testing.T) {
	for pointer, want := range map[string]string{
		"":                             "first-workflow.md",
		"/steps/0/titel":               "first-workflow.md",
		"/steps/1/loop/maxIterations":  "loops.md",
		"/steps/1/body/0/action/argv":  "values.md",
		"/steps/1/body/0/prompt":       "loops.md",
		"/steps/2/requireConfirmation": "approvals.md",
	} {
		if got := GuidePage(pointer); got != "docs/guide/"+want {
			t.Errorf("GuidePage(%q) = %s, want %s", pointer, got, want)
		}
	}
	for member := range guidePages {
		if _, err := os.Stat("../../../" + GuidePage("/"+member)); err != nil {
			t.Errorf("the page about %s: %v", member, err)
		}
	}
}
