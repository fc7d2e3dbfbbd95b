package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// TestUses: a workflow lists each built-in text, contract, routine and binding that it uses, with the steps
// that have it, those of loops included, and the text that was put in.
func TestUses(t *testing.T) {
	const head = `"name": "A", "description": "d", "version": "0.1.0", `
	routine := `{"id": "project.routine_look", ` + head + `"steps": [{"id": "see", "title": "See", "prompt": "Look."}]}`
	text := `{"id": "project.a", ` + head + `"features": ["wr.features.memory_context"],
		"extensionPoints": [{"slotId": "slot", "purpose": "p", "default": "project.routine_look"}],
		"steps": [
		{"id": "a", "title": "A", "promptBlocks": {"goal": "Use {{wr.bindings.slot}}.",
			"procedure": [[{"kind": "ref", "refId": "wr.refs.memory_query"}]]}},
		{"id": "b", "type": "template_call", "title": "B", "templateCall": {"templateId": "wr.templates.routine.look"}},
		{"id": "l", "type": "loop", "title": "L", "loop": {"type": "while", "maxIterations": 2,
			"conditionSource": {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"}},
			"body": [{"id": "c", "title": "C", "prompt": "p", "output": {"contractRef": "wr.contracts.loop_control"}}]}]}`
	c := catalog.Of(catalog.Sources{Files: []catalog.File{{Kind: source.SourceProject, Ref: "r.json", Data: []byte(routine)},
		{Kind: source.SourceProject, Ref: "a.json", Data: []byte(text)}}})
	e, err := c.Find("project.a")
	if err != nil {
		t.Fatal(err)
	}
	ref, _ := builtin.Ref("wr.refs.memory_query")
	var got []string
	for _, u := range catalog.Uses(e.Compiled) {
		got = append(got, fmt.Sprintf("%s %s %v%s%s", u.Kind, u.ID, u.Steps, u.SlotID, u.Source))
		switch {
		case u.ID == "wr.refs.memory_query" && u.Text != ref, u.Kind == catalog.UsesContract && !strings.Contains(u.Text, "decision"),
			u.Text != "" && (u.Bytes != len(u.Text) || u.ContentHash.IsZero()):
			t.Errorf("%+v", u)
		case u.Kind == catalog.UsesFeature:
			f, _ := builtin.Feature(u.ID)
			if !strings.HasPrefix(u.Text, f.Summary) || len(f.Constraints) > 0 && !strings.Contains(u.Text, f.Constraints[0]) {
				t.Errorf("%+v", u)
			}
		}
	}
	want := []string{"binding project.routine_look []slotdefault", "contract wr.contracts.loop_control [c]",
		"feature wr.features.memory_context [a]", "reference wr.refs.memory_query [a]",
		"template wr.templates.routine.look [b_see]"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestInjectedLines: each line of a prompt has the number of the text that it comes from, items of lists without their
// marks, and blank lines and lines of the author have none.
func TestInjectedLines(t *testing.T) {
	step := compile.Step{Prompt: "Goal\n\n1. Look\n2. Look twice\n- Ask\n",
		Injected: []compile.Injection{{OriginID: "a"}, {OriginID: "b"}, {OriginID: "unknown"}}}
	uses := []catalog.Use{{ID: "a", Text: "Look\n\nLook twice\n"}, {ID: "b", Text: "* Ask"}, {ID: "other", Text: "Goal"}}
	if got := fmt.Sprint(catalog.InjectedLines(step, uses)); got != "[0 0 1 1 2]" {
		t.Error(got)
	}
}

// TestCanonicalID: an entry that is found by a former id has the present one as canonicalId; found by its
// own id it has none.
func TestCanonicalID(t *testing.T) {
	file := catalog.File{Kind: source.SourceBundled, Ref: "wr.new", Aliases: []string{"wr.old"}, Data: []byte(
		`{"id": "wr.new", "name": "A", "description": "d", "version": "0.1.0", "steps": [{"id": "a", "title": "A", "prompt": "p"}]}`)}
	c := catalog.Of(catalog.Sources{Files: []catalog.File{file}})
	for id, want := range map[string]string{"wr.old": "wr.new", "wr.new": ""} {
		e, err := c.Find(id)
		if err != nil || e.CanonicalID() != want || e.ID != "wr.new" {
			t.Errorf("%s: %q of %q, %v", id, e.CanonicalID(), e.ID, err)
		}
	}
	if c.Entries[0].NamedAs != "" {
		t.Error("the entry of the catalog was changed")
	}
}
