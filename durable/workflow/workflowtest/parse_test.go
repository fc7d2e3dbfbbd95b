package workflowtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
)

const workflow = `{"id":"test.w","name":"W","description":"d","version":"1.0.0","steps":[
	{"id":"make","title":"M","prompt":"p","action":{"kind":"command","argv":["make"]}},
	{"id":"plain","title":"P","prompt":"p","checks":[{"id":"clean","argv":["git"]}]},
	{"id":"round","type":"loop","title":"L","loop":{"type":"for","count":2,"maxIterations":3},"body":[{"id":"body","title":"B","prompt":"p"}]},
	{"id":"ask","title":"A","prompt":"p","requireConfirmation":{"kind":"human_approval"}}]}`

func compiled(t testing.TB) compile.Compiled {
	t.Helper()
	_, w, found := compile.File("w.json", source.SourceProject, []byte(workflow))
	if source.HasErrors(found) {
		t.Fatal(found)
	}
	return w
}

// TestWhatCannotBeTrue: every problem of a file is reported, with its place.
func TestWhatCannotBeTrue(t *testing.T) {
	text := `cases:
  - name: one
    answers:
      mkae: [{}]
      round: [{}]
      plain:
        - {exit: 1, output: {}, confirm: true, approve: true}
        - {checks: {claen: pass}, notse: x}
      ask:
        - {deny: no, approve: false}
        - {notes: later}
    expect:
      path: [make, make, body, body, nothing]
      status: done
      prompts: {bodi: x}
      blockers: [{step: nowhere}]
  - name: one
    context: []
`
	_, found := workflowtest.Parse("w.test.yaml", []byte(text), compiled(t))
	var got []string
	for _, p := range found {
		got = append(got, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Message))
		if p.Fix == "" {
			t.Errorf("%+v has no correction", p)
		}
	}
	want := `4:7 the workflow has no step "mkae"
5:7 "round" is a loop, and a loop is not shown
7:12 step "plain" runs no command itself; it has checks
7:21 step "plain" runs no command
7:33 step "plain" asks for no confirmation
7:48 step "plain" requires no approval
8:21 step "plain" has no check "claen"
8:35 an answer has no key "notse"
10:12 an answer has one of approve, sendBack and deny
10:22 approve is true, or the names of people
11:11 step "ask" is answered after the end: the answer before it ends the run
13:20 step "make" is in the path twice and in no loop
13:38 the workflow has no step "nothing"
14:7 expected "in_progress", "blocked", "complete", "complete_with_gaps", "failed" or "not_started", got "done"
15:17 the workflow has no step "bodi"
16:19 the workflow has no step "nowhere"
17:5 a case lacks "expect"
17:5 item 2 repeats item 1
18:5 expected an object, got array`
	if g := strings.Join(got, "\n"); g != want {
		t.Errorf("got\n%s\nwant\n%s", g, want)
	}
}

// TestJSONHasPlacesToo: a file in JSON is read as strictly, with lines and columns.
func TestJSONHasPlacesToo(t *testing.T) {
	_, found := workflowtest.Parse("w.test.json", []byte("{\"cases\": [\n  {\"name\": \"c\", \"answers\": {\"no\": []},\n   \"expect\": {}}]}"), compiled(t))
	if len(found) != 1 || found[0].Line != 2 || found[0].Column != 29 {
		t.Errorf("%+v", found)
	}
	f, found := workflowtest.Parse("w.test.json", []byte(`{"cases": [{"name": "c", "expect": {}}]}`), compiled(t))
	if len(found) > 0 || len(f.Cases) != 1 || f.Cases[0].Name != "c" {
		t.Errorf("%+v %+v", f, found)
	}
}

// TestHostileFilesAreRefused: bombs, oversized files and texts that are none are one problem, without much work.
func TestHostileFilesAreRefused(t *testing.T) {
	bomb := "a: &a [x, x]\nb: &b [*a, *a]\ncases: [*b]\n"
	for name, c := range map[string]struct{ text, want string }{
		"bomb":   {bomb, "anchor"},
		"deep":   {"cases: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested deeper"},
		"values": {"cases: [" + strings.Repeat("1,", limits.WorkflowValuesMax+2) + "1]", "values, at most"},
		"bytes":  {"cases: [" + strings.Repeat(" ", limits.SourceBytesMax) + "]", "bytes, at most"},
		"syntax": {"cases: [", "not valid YAML"},
		"empty":  {"", "empty"},
		"tag":    {"cases: !!python/object x", "tag"},
		"twice":  {"cases: []\ncases: []", "duplicate key"},
	} {
		f, found := workflowtest.Parse("w.test.yaml", []byte(c.text), compiled(t))
		if len(found) != 1 || !strings.Contains(found[0].Message, c.want) || len(f.Cases) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
	many := "cases:\n" + strings.Repeat("  - {x: 1}\n", 500)
	if _, found := workflowtest.Parse("w.test.yaml", []byte(many), compiled(t)); len(found) != 101 ||
		!strings.Contains(found[100].Message, "more problems") {
		t.Error(len(found))
	}
}

// FuzzParse: no text panics, and what has problems has no cases.
func FuzzParse(f *testing.F) {
	f.Add("cases:\n  - name: a\n    answers: {make: [{exit: 1}]}\n    expect: {path: [make]}\n")
	f.Add(`{"cases": [{"name": "c", "expect": {"blockers": ["x", {"step": "ask"}]}}]}`)
	f.Add("cases: [&a {name: x}, *a]")
	w := compiled(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"w.test.yaml", "w.test.json"} {
			file, found := workflowtest.Parse(name, []byte(text), w)
			if len(found) > 0 && len(file.Cases) > 0 {
				t.Error("cases of a file with problems")
			}
			for _, p := range found {
				if p.Message == "" || p.Line < 0 {
					t.Errorf("%+v", p)
				}
			}
		}
	})
}
