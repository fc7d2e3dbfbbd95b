package compile

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
)

// publishedSchema is the schema of existing workflow files. It is not part of the repository.
const publishedSchema = "../../../../shared/data/workrail/workflow.schema.json"

// meanings are the definitions for which the schema allows documents without a meaning, each
// with what is not drawn and why. All other definitions are drawn from the schema.
var meanings = map[string]func(d *drawer, s schemaNode) any{
	"standardStep":     (*drawer).plainStep,
	"loopStep":         (*drawer).loopStep,
	"loopConfig":       (*drawer).loopConfig,
	"condition":        (*drawer).condition,
	"validationRule":   (*drawer).rule,
	"confirmationRule": (*drawer).confirmation,
	// Ids are unique in the whole file.
	"stepId": func(d *drawer, s schemaNode) any {
		d.ids++
		return fmt.Sprintf("%d-%s", d.ids, rapid.SampledFrom([]string{"step", "a", "phase-0b", "-"}).Draw(d.t, "id"))
	},
	// A combination is one of and, or, not.
	"validationComposition": func(d *drawer, s schemaNode) any {
		return d.oneMember(s, "and", "or", "not")
	},
	"promptBlocks": func(d *drawer, s schemaNode) any { // one without anything shows nothing
		out := d.object(s)
		if len(out) == 0 {
			out["goal"] = "Do {{it}}."
		}
		return out
	},
	// Names that have to exist.
	"outputContract": func(d *drawer, s schemaNode) any {
		out := d.object(s)
		out["contractRef"] = rapid.SampledFrom(contract.Refs()).Draw(d.t, "ref")
		return out
	},
	"promptPart": func(d *drawer, s schemaNode) any {
		if rapid.Bool().Draw(d.t, "ref") {
			return schemaNode{"kind": "ref", "refId": rapid.SampledFrom(builtin.Refs()).Draw(d.t, "refId")}
		}
		return schemaNode{"kind": "text", "text": d.text(schemaNode{})}
	},
}

// TestPublishedDocuments: every document that the published schema allows and that has a
// meaning compiles, to the same bytes in every order of its keys.
func TestPublishedDocuments(t *testing.T) {
	data, err := os.ReadFile(publishedSchema)
	if err != nil {
		t.Skip("the published schema is not available next to the repository")
	}
	var schema schemaNode
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	options := publishedOptions(t)
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(spelled(anyPublished(t, schema)))
		src, c, found := FileWith("x.json", source.SourceBundled, text, options)
		if source.HasErrors(found) {
			t.Fatalf("%s\n%v", text, onlyErrors(found))
		}
		again, err := Decode(c.Bytes())
		if err != nil || again.Hash() != c.Hash() {
			t.Fatalf("%s: %v", c.Bytes(), err)
		}
		if _, d, _ := FileWith("x.json", source.SourceBundled, shuffled(t, src.Root.Value),
			options); !slices.Equal(d.Bytes(), c.Bytes()) {
			t.Fatalf("in another order it compiles to\n%s\n%s", c.Bytes(), d.Bytes())
		}
	})
}

func onlyErrors(found []source.Problem) []source.Problem {
	return slices.DeleteFunc(slices.Clone(found),
		func(p source.Problem) bool { return !source.HasErrors([]source.Problem{p}) })
}

// publishedOptions returns options with the routine that drawn documents call.
func publishedOptions(t *testing.T) Library {
	return routines(t, `wr.routine-look |  | {"id": "look", "title": "L", "prompt": "Look at {what}."}, {"id": "tell", "title": "T", "promptBlocks": {"goal": "Tell {{whom}} of {what}."}}`)
}

// anyPublished draws a document. The names that its steps refer to are drawn first.
func anyPublished(t *rapid.T, schema schemaNode) schemaNode {
	d := &drawer{t: t, defs: schema["$defs"].(schemaNode), meant: meanings, levels: map[string][]string{}}
	properties := schema["properties"].(schemaNode)
	out := schemaNode{}
	for _, name := range sortedKeys(properties) {
		required := slices.Contains(schema["required"].([]any), any(name))
		if name == "steps" || !required && rapid.IntRange(0, 2).Draw(t, name) > 0 {
			continue
		}
		out[name] = d.of(properties[name].(schemaNode))
	}
	d.names(out)
	steps := d.list(properties["steps"].(schemaNode))
	out["steps"] = d.nameBodies(steps)
	return out
}

// names makes the declared names distinct, as WorkRail requires, and records them for the
// steps.
func (d *drawer) names(out schemaNode) {
	makeUnique(out["references"], "id", "reference")
	makeUnique(out["extensionPoints"], "slotId", "slot_")
	for _, point := range asList(out["extensionPoints"]) {
		d.slots = append(d.slots, point.(schemaNode)["slotId"].(string))
	}
	makeUnique(out["functionDefinitions"], "name", "fn")
	for _, f := range asList(out["functionDefinitions"]) {
		d.functions = append(d.functions, f.(schemaNode)["name"].(string))
	}
	makeUnique(out["assessments"], "id", "gate")
	for _, a := range asList(out["assessments"]) {
		id, dimensions := a.(schemaNode)["id"].(string), asList(a.(schemaNode)["dimensions"])
		makeUnique(dimensions, "id", "d")
		for _, dimension := range dimensions {
			for _, level := range asList(dimension.(schemaNode)["levels"]) {
				d.levels[id] = append(d.levels[id], level.(string))
			}
		}
	}
	if features, ok := out["features"].([]any); ok {
		out["features"] = toAny(rapid.Permutation(builtin.Features()).Draw(d.t, "features")[:len(features)])
	}
}

func toAny(list []string) []any {
	out := []any{}
	for _, s := range list {
		out = append(out, s)
	}
	return out
}
