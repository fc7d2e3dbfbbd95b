package document

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
)

// TestBuiltinsAreThoseOfTheCompiler: the lists have every name that the compiler resolves, and the texts
// are those in a compiled workflow.
func TestBuiltinsAreThoseOfTheCompiler(t *testing.T) {
	const head = `"name": "A", "description": "d", "version": "0.1.0", "steps": [`
	own := `{"id": "project.routine_look", ` + head + `{"id": "see", "title": "See", "prompt": "Look at {what}."},
		{"id": "l", "type": "loop", "title": "L", "loop": {"type": "for", "count": 1, "maxIterations": 1},
		"body": [{"id": "in", "title": "In", "prompt": "inner"}]}]}`
	invalid := `{"id": "project.routine_bad", ` + head + `]}`
	other := `{"id": "project.other", ` + head + `{"id": "a", "title": "A", "prompt": "p"}]}`
	files := []catalog.File{}
	for i, text := range []string{own, invalid, other} {
		files = append(files, catalog.File{Kind: source.SourceProject, Ref: string(rune('a'+i)) + ".json", Data: []byte(text)})
	}
	b := BuiltinsOf(catalog.Of(catalog.Sources{Files: files}).Entries)
	ids := b.IDs()
	for _, want := range slices.Concat(builtin.Refs(), builtin.Features(), contract.Refs(), builtin.Capabilities(),
		[]string{"project.routine_look", "wr.templates.routine.look"}) {
		only, ok := b.Only(want)
		if !ok || !slices.Contains(ids, want) {
			t.Errorf("%s is not listed", want)
		}
		if len(only.IDs()) > 2 {
			t.Errorf("%s is not alone: %q", want, only.IDs())
		}
	}
	if _, ok := b.Only("wr.refs.none"); ok || len(b.Routines) != 1 {
		t.Errorf("routines: %+v", b.Routines)
	}
	var steps []string
	for _, s := range b.Routines[0].Steps {
		steps = append(steps, s.StepID+"="+s.Prompt)
	}
	if got := strings.Join(steps, " "); got != "see=Look at {what}. l= in=inner" {
		t.Errorf("the steps of the routine are %q", got)
	}
	for _, ref := range b.References {
		text := `{"id": "project.a", ` + head + `{"id": "a", "title": "A", "promptBlocks": {"goal": [{"kind": "ref", "refId": "` + ref.ID + `"}]}}]}`
		_, c, _ := compile.File("a.json", source.SourceProject, []byte(text))
		if len(c.Steps) != 1 || !strings.Contains(c.Steps[0].Prompt, ref.Text) || c.Steps[0].Injected[0].ContentHash != ref.ContentHash ||
			c.Steps[0].Injected[0].Bytes != ref.Bytes {
			t.Errorf("%s: %+v", ref.ID, c.Steps)
		}
	}
	for _, f := range b.Features {
		text := `{"id": "project.a", "features": ["` + f.ID + `"], ` + head + `{"id": "a", "title": "A", "promptBlocks": {"goal": "g"}}]}`
		_, c, _ := compile.File("a.json", source.SourceProject, []byte(text))
		for _, line := range slices.Concat(f.Constraints, f.Procedure, f.Verify) {
			if len(c.Steps) != 1 || !strings.Contains(c.Steps[0].Prompt, line) || !strings.Contains(f.Text, line) {
				t.Errorf("%s: the prompt has no line %q", f.ID, line)
			}
		}
	}
}
