package lookup_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/lookup"
	"github.com/waybill/waybill/durable/workflow/source"
)

// TestUnknownNamesBesideErrors: errors of the file do not hide names that do not resolve, and a name is
// reported once.
func TestUnknownNamesBesideErrors(t *testing.T) {
	const text = `{"id": "project.a", "name": "A", "description": "d", "version": "0.1.0", "nme": 1, "features": ["wr.features.x"],
 "steps": [{"id": "a", "title": "A", "prompt": "p", "output": {"contractRef": "wr.contracts.loop_contro"}},
  {"id": "b", "title": "B", "promptBlocks": {"goal": [{"kind": "ref", "refId": "wr.refs.nope"}]}},
  {"id": "c", "type": "loop", "title": "C", "loop": {"type": "for", "count": 1, "maxIterations": 1}, "body": [
   {"id": "d", "title": "D", "templateCall": {"templateId": "wr.templates.routine.none"}},
   {"id": "e", "title": "E", "templateCall": {"templateId": "wr.templates.capability_prob"}}]}]}`
	src, found := source.Parse("a.json", source.SourceProject, []byte(text))
	found = source.Locate("a.json", []byte(text), append(found, lookup.UnknownNames(src, compile.Library{})...))
	var got []string
	for _, p := range found {
		got = append(got, p.Position()+" "+p.Message)
	}
	want := []string{`1:74 a workflow has no key "nme"`, `1:97 feature "wr.features.x" does not exist`,
		`2:64 contract "wr.contracts.loop_contro" does not exist`, `3:71 reference "wr.refs.nope" does not exist`,
		`5:47 routine "none" does not exist`, `6:47 template "wr.templates.capability_prob" does not exist`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	valid := strings.Replace(text, `"nme": 1, `, "", 1)
	if _, _, again := compile.File("a.json", source.SourceProject, []byte(valid)); len(again) != len(found)-1 {
		t.Errorf("a valid file has %+v", again)
	}
}

// TestBindingsOfMissingRoutines: a slot that is filled with the id of no workflow is a warning, and so is
// a binding of a slot that the workflow does not have; not where the other workflows are not known.
func TestBindingsOfMissingRoutines(t *testing.T) {
	known, _ := source.Parse("r.json", source.SourceUser, []byte(`{"id": "project.routine_look", "name": "R", "description": "d",
		"version": "0.1.0", "steps": [{"id": "see", "title": "See", "prompt": "p"}]}`))
	for _, row := range []struct {
		id       string // the default
		bound    map[string]string
		complete bool
		want     string
	}{
		{"routine-lok", nil, true, `/extensionPoints/0/default the default "routine-lok" of the slot "slot" does not exist`},
		{"routine-lok", nil, false, ""},
		{"routine-look", nil, true, ""},
		{"project.routine_look", nil, true, ""},
		{"none", map[string]string{"slot": "project.routine_look"}, true, ""},
		{"routine-look", map[string]string{"slot": "project.routine_lok"}, true,
			`/extensionPoints/0 the project binds the slot "slot" to "project.routine_lok", which does not exist`},
		{"routine-look", map[string]string{"slto": "routine-look"}, true,
			`/extensionPoints the project binds the slot "slto", which the workflow does not have`},
	} {
		text := `{"id": "project.a", "name": "A", "description": "d", "version": "0.1.0",
			"extensionPoints": [{"slotId": "slot", "purpose": "p", "default": "` + row.id + `"}],
			"steps": [{"id": "c", "title": "C", "prompt": "Use {{wr.bindings.slot}}."}]}`
		src, _ := source.Parse("a.json", source.SourceProject, []byte(text))
		found := lookup.Bindings(src, compile.Library{Complete: row.complete, Routines: []compile.Routines{{known.ID: known}},
			Bindings: map[string]map[string]string{"project.a": row.bound}})
		got := ""
		for _, p := range found {
			if got += p.Pointer + " " + p.Message; p.Severity != problem.Warning {
				t.Errorf("%+v", p)
			}
		}
		if got != row.want || !src.Valid {
			t.Errorf("%s, %v: got %q, want %q", row.id, row.bound, got, row.want)
		}
		if strings.Contains(row.want, "project.routine_lok") && !strings.Contains(found[0].Fix, "project.routine_look") {
			t.Errorf("no suggestion: %+v", found[0])
		}
	}
}
