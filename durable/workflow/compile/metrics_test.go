package compile

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

// TestMetrics: the paragraphs about metrics are in the steps that their profile names.
func TestMetrics(t *testing.T) {
	decide := `, "outputContract": {"contractRef": "wr.contracts.loop_control"}`
	loop := func(id, body string) string {
		return `{"id": "` + id + `", "type": "loop", "title": "L", "loop": {"type": "while", "maxIterations": 3, "conditionSource": ` +
			`{"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"}}, "body": [` + body + `]}`
	}
	// The steps of which the workflows consist, and those that ask for the outcome.
	flat := step("one", "") + "," + step("two", "")
	looped := step("one", "") + "," + loop("round", step("work", "")+","+step("decide", decide))
	nested := loop("outer", loop("inner", step("work", "")+","+step("inner-end", decide))+","+step("outer-end", decide))
	acted := step("one", "") + `, {"id": "act", "title": "T", "action": {"kind": "command", "argv": ["true"]}}`
	for _, row := range []struct{ profile, steps, commits, outcome, counts string }{
		{"coding", flat, "one two", "two", "two"},
		{"review", flat, "", "two", ""},
		{"research", flat, "", "two", ""},
		{"design", flat, "", "two", ""},
		{"ticket", flat, "", "two", ""},
		{"none", flat, "", "", ""},
		{"", flat, "", "", ""},
		{"coding", looped, "one work decide", "work", "work"},
		{"research", nested, "", "work", ""},
		{"coding", acted, "one", "one", "one"},
	} {
		member := ""
		if row.profile != "" {
			member = `, "metricsProfile": "` + row.profile + `"`
		}
		c := compiled(t, member, row.steps)
		asking := func(key string) string {
			var out []string
			_ = c.eachSequence(func(_ string, steps []Step) error {
				for _, s := range steps {
					if strings.Contains(s.Prompt, key) {
						out = append(out, s.StepID)
					}
				}
				return nil
			})
			return strings.Join(out, " ")
		}
		for key, want := range map[string]string{"metrics_commit_shas": row.commits, "metrics_outcome": row.outcome,
			"metrics_lines_added": row.counts} {
			if got := asking(key); got != want {
				t.Errorf("profile %q: %s is asked for in %q, want %q", row.profile, key, got, want)
			}
		}
	}
}

// TestMetricsAreInjected: a paragraph is added below the author's prompt, with its origin, and a
// workflow without a profile, or with none, keeps its hash.
func TestMetricsAreInjected(t *testing.T) {
	plain := compiled(t, "", step("one", ""))
	if none := compiled(t, `, "metricsProfile": "none"`, step("one", "")); none.Hash() != plain.Hash() {
		t.Error("the profile none changes the hash")
	}
	s := compiled(t, `, "metricsProfile": "research"`, step("one", "")).Steps[0]
	own := strings.TrimPrefix(s.Prompt, plain.Steps[0].Prompt+"\n\n## Metrics\n\n")
	if len(s.Injected) != 1 || own == s.Prompt {
		t.Fatalf("got %q with %+v", s.Prompt, s.Injected)
	}
	if in := s.Injected[0]; in.OriginID != "wr.metrics.research" || in.Bytes != len(own) ||
		in.ContentHash != canon.Sum([]byte(own)) {
		t.Errorf("the origin is %+v of %q", in, own)
	}
}
