package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// checked is a workflow whose step has checks.
func checked(t *testing.T, checks string) compile.Compiled {
	t.Helper()
	text := `{"id":"test.checks","name":"N","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"Do it.",
		"notesRequired":true,"checks":` + checks + `}]}`
	_, c, problems := compile.File("test.json", source.SourceProject, []byte(text))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	return c
}

// TestPromptListsChecks: the performer of a step learns which commands run, and what each has to show.
func TestPromptListsChecks(t *testing.T) {
	c := checked(t, `[{"id":"unit","argv":["go","test","-json","./{{folder}}/..."],"cwd":"src","env":{"TOKEN":"SECRET"},"timeoutSeconds":90,
		"pins":["a_test.go","b c.go"],"expect":{"exit":1,"tests":{"min":3,"failed":1,"skipped":0}}},
		{"id":"lint","argv":["sh","-c","echo `+"`x`"+`\n# Heading"],"expect":{"stdout":{"pointer":"/issues","lte":3,"gte":1}}},
		{"id":"size","argv":["du"],"expect":{"tests":{},"stdout":{"pointer":"","equals":["a\n# b"]}}},{"id":"build","argv":["make"]}]`)
	step, _ := c.Step("a")
	const want = `Do it.

## Checks

When this step is handed in, Waybill runs these commands itself; the step is left only if each of them
shows what it has to. A result that is sent does not count.

- unit: go test -json './{{folder}}/...'
  - in the folder src
  - with TOKEN set in its environment
  - for at most 90 s
  - has to exit with status 1, and report at least 3 passed, at most 1 failed and at most 0 skipped tests
  - does not count if one of these differs from what a person trusted: a_test.go, 'b c.go'
- lint: sh -c "echo ` + "`x`" + `\n# Heading"
  - has to exit with status 0, and have at "/issues" of the JSON in its stdout a value at least 1 and at most 3
- size: du
  - has to exit with status 0, and report at least 1 passed and at most 0 failed tests, and have at "" of the JSON in its stdout a value equal to ["a\n# b"]
- build: make
  - has to exit with status 0

---
OUTPUT REQUIREMENTS:
- Notes are required`
	if got := Render(c, step, value(t, `{"folder":"x"}`), Surroundings{}).Prompt; got != want {
		t.Errorf("got:\n%s", got)
	}
}

// TestChecksAreBounded: the section does not push out what else the caller must know.
func TestChecksAreBounded(t *testing.T) {
	var all []string
	for i := range limits.ChecksMax {
		var pins []string
		for k := range limits.PinsMax {
			pins = append(pins, fmt.Sprintf("%q", fmt.Sprintf("f%d_%d", i, k)))
		}
		all = append(all, fmt.Sprintf(`{"id":"c%d","argv":["x",%q],"pins":[%s]}`, i, strings.Repeat("long ", 4000), strings.Join(pins, ",")))
	}
	c := checked(t, "["+strings.Join(all, ",")+"]")
	step, _ := c.Step("a")
	got := Render(c, step, value(t, `{}`), Surroundings{}).Prompt
	if len(got) > limits.PromptBytesMax || !strings.HasSuffix(got, "OUTPUT REQUIREMENTS:\n- Notes are required") ||
		!strings.Contains(got, strings.TrimSpace(limits.TruncationMarker)) || !strings.HasPrefix(got, "Do it.") {
		t.Errorf("%d bytes, ends %q", len(got), got[max(0, len(got)-200):])
	}
	one := checks(step.Checks[:1])
	if last := one[len(one)-1]; !strings.HasSuffix(last, "f0_7 and 56 more") {
		t.Errorf("%q", last)
	}
}
