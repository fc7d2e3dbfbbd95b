package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

func calling(id, template string) File {
	return File{Kind: source.SourceProject, Ref: "caller.json", Data: fmt.Appendf(nil,
		`{"id":%q,"name":"N","description":"d","version":"1.0.0","steps":[{"id":"call","title":"C","templateCall":{"templateId":%q}}]}`, id, template)}
}

// TestLibraryRoutinePrecedence: a routine is resolved by its bundled id first, then by its
// legacy id, and the bundled file takes precedence over a project's copy of it.
func TestLibraryRoutinePrecedence(t *testing.T) {
	bundled := file(source.SourceBundled, "wr.routine-look", "wr.routine-look")
	copied := File{Kind: source.SourceProject, Ref: "copy.json",
		Data: []byte(strings.ReplaceAll(string(bundled.Data), `"title":"A"`, `"title":"Copied"`))}
	legacy := file(source.SourceProject, "look.json", "routine-look")
	for _, c := range []struct {
		name  string
		files []File
		want  string // title of the expanded step; "" where none is found
	}{
		{"bundled before its copy", []File{bundled, copied, legacy}, "A"},
		{"a copy beside the caller, under the bundled id", []File{copied}, "Copied"},
		{"legacy", []File{legacy}, "A"},
		{"none", nil, ""},
	} {
		e := Sources{Files: c.files}.Compile(calling("team.caller", "wr.templates.routine.look"))
		got := ""
		if e.Valid() {
			got = e.Compiled.Steps[0].Title
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q (%v)", c.name, got, c.want, e.Problems)
		}
	}
}

func TestReadBindingsByWorkflow(t *testing.T) {
	b, err := ReadBindings([]byte(`{"team.flow":{"review":"routine-strict"},"team.other":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	f := File{Kind: source.SourceProject, Ref: "flow.json",
		Data: []byte(`{"id":"team.flow","name":"N","description":"d","version":"1.0.0",
		"extensionPoints":[{"slotId":"review","purpose":"p","default":"routine-kind"}],
		"steps":[{"id":"a","title":"A","prompt":"Follow {{wr.bindings.review}}."}]}`)}
	for _, c := range []struct {
		with Sources
		want string
	}{{Sources{}, "Follow routine-kind."}, {Sources{Bindings: b}, "Follow routine-strict."}} {
		e := c.with.Compile(f)
		if !e.Valid() || e.Compiled.Steps[0].Prompt != c.want {
			t.Errorf("got %+v, want %q", e.Problems, c.want)
		}
	}
	for _, bad := range []string{`[]`, `{"team.flow":["review"]}`, `{"team.flow":{"review":1}}`, `{"a":{},"a":{}}`,
		``} {
		if _, err := ReadBindings([]byte(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// TestPromptsOfLibrary: of several templates with one id and version the first is used, and
// none is available in a library without templates.
func TestPromptsOfLibrary(t *testing.T) {
	f := File{Kind: source.SourceProject, Ref: "flow.json",
		Data: []byte(`{"id":"team.flow","name":"N","description":"d","version":"1.0.0",
		"steps":[{"id":"a","title":"A","promptRef":"prompt:look"}]}`)}
	first := []promptref.Template{{ID: "look", Version: "1.0.0", Kind: promptref.User, Text: "Look."},
		{ID: "look", Version: "1.0.0", Kind: promptref.User, Text: "Farther."}}
	for _, e := range []Entry{Sources{Prompts: first}.Compile(f), Of(Sources{Files: []File{f}, Prompts: first}).Entries[0]} {
		if !e.Valid() || e.Compiled.Steps[0].Prompt != "Look." {
			t.Errorf("with a template: %v", e.Problems)
		}
	}
	for _, e := range []Entry{Sources{}.Compile(f), Of(Sources{Files: []File{f}}).Entries[0]} {
		if e.Valid() || !strings.Contains(e.Problems[0].Message, `prompt template "look" does not exist`) {
			t.Errorf("without one: %v", e.Problems)
		}
	}
}
