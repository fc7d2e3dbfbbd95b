package compile

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/source"
)

// TestDisabledCapabilities: a workflow has no text about a capability that it disables: of its features in prompt
// blocks and in the preamble, and of its parallel steps. A feature that would have no text left is a warning.
func TestDisabledCapabilities(t *testing.T) {
	const steps = `{"id": "a", "title": "T", "promptBlocks": {"goal": "g"}}, {"id": "b", "title": "T", "prompt": "p"},
		{"id": "c", "title": "T", "type": "parallel", "parallelDelegations": [{"workflowId": "w"}, {"workflowId": "x"}]}`
	const features = `, "features": ["wr.features.capabilities", "wr.features.subagent_guidance"]`
	delegates := []string{"delegation", "Delegat", "delegate", "helpers", "separate agents"}
	for _, row := range []struct {
		disabled string
		absent   []string
		present  string
		warnings int
	}{
		{``, nil, "Use delegation or web access only if", 0},
		{`, "capabilities": {"disabled": ["web_browsing"]}`, []string{"web access"}, "Use delegation only if", 0},
		{`, "capabilities": {"disabled": ["delegation"]}`, delegates, "Use web access only if", 1},
		{`, "capabilities": {"disabled": ["delegation", "web_browsing"]}`, append(delegates, "web access"),
			"Carry out each task below yourself", 2},
	} {
		_, c, found := File("x.json", source.SourceProject, sourceText(row.disabled+features, steps))
		if source.HasErrors(found) || len(found) != row.warnings {
			t.Fatalf("%s: %v", row.disabled, found)
		}
		text := strings.Replace(string(c.Bytes()), `"disabled":["delegation"`, "", 1)
		for _, word := range row.absent {
			if strings.Contains(text, word) {
				t.Errorf("%s: has %q: %s", row.disabled, word, text)
			}
		}
		if !strings.Contains(text, row.present) {
			t.Errorf("%s: lacks %q: %s", row.disabled, row.present, text)
		}
	}
}
