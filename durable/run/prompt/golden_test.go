package prompt

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

var update = flag.Bool("update", false, "update the golden files")

const examples = "../../../testdata/workflows"

// contexts are those over which the examples are rendered; each is also rendered without one.
var contexts = map[string]string{
	"release-checklist.yaml": `{"version": "2.4.0", "audience": ["everyone", "press"], "breaking": true}`,
	"bug-triage.json":        `{"issue": {"title": "It {{crashes}}"}, "released": true}`,
	"access-request.yaml":    `{"requester": {"name": "Ann"}, "role": "editor", "until.date": "2030-01-31", "adminSession": true, "resetDone": null}`,
	"nightly-build.json":     `{}`,
	"move-house.yml":         `{"lease": {"noticeMonths": 3}, "household": {"animals": ["cat", {"name": "Rex"}]}}`,
}

// TestGoldenPrompts pins the text of every step of the examples, without context and with
// one: recorded answers contain it byte for byte.
func TestGoldenPrompts(t *testing.T) {
	for name, context := range contexts {
		var out strings.Builder
		c := example(t, name)
		fmt.Fprintf(&out, "===== preamble\n%s\n", Preamble(c))
		for _, vars := range []string{`{}`, context} {
			for _, s := range c.Steps {
				text, warnings := rendered(c, s, value(t, vars))
				fmt.Fprintf(&out, "===== %s over %s\n%s\n", s.StepID, vars, text)
				for _, w := range warnings {
					fmt.Fprintf(&out, "!!!!! %s\n", w)
				}
			}
		}
		file := filepath.Join(examples, "prompts", name+".want")
		if *update {
			if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != string(want) {
			t.Errorf("%s differs; got:\n%s", file, out.String())
		}
	}
}

func example(t testing.TB, name string) compile.Compiled {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	return compiled(t, name, data)
}

func compiled(t testing.TB, name string, data []byte) compile.Compiled {
	t.Helper()
	_, c, found := compile.File(name, source.SourceProject, data)
	if source.HasErrors(found) {
		t.Fatalf("%s: %v", name, found)
	}
	return c
}

func value(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}
