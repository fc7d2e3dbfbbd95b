package contract

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

const samplesDir = "../../../../shared/data/workrail/workflows"

// TestPublishedArtifactExamples: agents copy the artifacts that prompts show, so every
// artifact in the published workflows must satisfy its contract.
func TestPublishedArtifactExamples(t *testing.T) {
	names, _ := filepath.Glob(filepath.Join(samplesDir, "*.json"))
	if len(names) == 0 {
		t.Skip("the sample workflows at ../shared/data are not available")
	}
	seen := map[string]int{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		workflow, err := canon.Parse(data)
		if err != nil {
			continue // another test's business
		}
		eachText(workflow, func(text string) {
			for _, artifact := range artifactsIn(text) {
				kind, _ := artifact.Get("kind")
				p, ok := Builtin(strings.Replace(kind.Text(), "wr.", "wr.contracts.", 1))
				if !ok {
					t.Errorf("%s contains an artifact of kind %s, which has no contract", filepath.Base(name),
						kind.JCS())
					continue
				}
				seen[kind.Text()]++
				if wrong := p.Check(artifact); len(wrong) > 0 {
					t.Errorf("%s shows %s: %s", filepath.Base(name), artifact.JCS(), mismatchLines(wrong))
				}
			}
		})
	}
	if seen["wr.loop_control"] < 4 || seen["wr.shaping_handoff"] < 1 {
		t.Errorf("too few artifacts were found in prompts: %v", seen)
	}
}

// andSoOn matches the ellipsis that prompts use for further items of a list.
var andSoOn = regexp.MustCompile(`,\s*\.\.\.`)

// artifactsIn returns the artifacts in a prompt: objects with a kind of the namespace wr.
func artifactsIn(prompt string) []canon.Value {
	var out []canon.Value
	rest := andSoOn.ReplaceAllString(prompt, "")
	for {
		at := regexp.MustCompile(`\{\s*"kind":\s*"wr\.`).FindStringIndex(rest)
		if at == nil {
			return out
		}
		rest = rest[at[0]:]
		for end := 1; end <= len(rest); end++ {
			if v, err := canon.Parse([]byte(rest[:end])); err == nil {
				out = append(out, v)
				break
			}
		}
		rest = rest[1:]
	}
}

func eachText(v canon.Value, visit func(string)) {
	if v.Kind() == canon.String {
		visit(v.Text())
	}
	for i := range v.Len() {
		eachText(v.Item(i), visit)
	}
}
