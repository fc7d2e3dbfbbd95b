package workflow

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// jsonSchema is as much of JSON Schema as says which keys an object has.
type jsonSchema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	Defs       map[string]jsonSchema      `json:"$defs"`
}

// TestKeysOfThePublishedSchema holds the tables to the schema they were written
// after: the same keys, the same required ones, and Waybill's own beside them.
func TestKeysOfThePublishedSchema(t *testing.T) {
	data, err := os.ReadFile(published(t, "workflow.schema.json")[0])
	if err != nil {
		t.Fatal(err)
	}
	var root jsonSchema
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	item := func(s shape) object { return s.(list).of.(object) }
	for name, row := range map[string]struct {
		ours object
		own  []string // keys of Waybill's own
	}{
		"workflow":              {workflowShape, []string{"agentRole", "capabilities", "inputs"}},
		"standardStep":          {standardShape, []string{"action", "inputs", "notesRequired"}},
		"loopStep":              {loopShape, nil},
		"loopConfig":            {loopConfigShape, nil},
		"parallelStep":          {parallelShape, nil},
		"parallelDelegation":    {delegationShape, nil},
		"promptBlocks":          {promptBlocksShape, nil},
		"promptFragment":        {fragmentShape, nil},
		"extensionPoint":        {extensionPointShape, nil},
		"workflowReference":     {referenceShape, nil},
		"functionDefinition":    {item(functionsShape), nil},
		"functionParameter":     {parameterShape, nil},
		"outputContract":        {contractShape, nil},
		"assessmentDefinition":  {assessmentShape, nil},
		"assessmentConsequence": {consequenceShape, nil},
	} {
		theirs := root
		if name != "workflow" {
			theirs = root.Defs[name]
		}
		if len(theirs.Properties) == 0 {
			t.Errorf("the schema has no %s", name)
		}
		var required []string
		for _, f := range row.ours.fields {
			if f.required {
				required = append(required, f.name)
			}
			_, published := theirs.Properties[f.name]
			if own := slices.Contains(row.own, f.name); published == own {
				t.Errorf("%s: key %q is published: %v, our own: %v", name, f.name, published, own)
			}
		}
		if len(row.ours.fields) != len(theirs.Properties)+len(row.own) {
			t.Errorf("%s has %d keys, the schema %d and %d of our own", name, len(row.ours.fields), len(theirs.Properties), len(row.own))
		}
		slices.Sort(required)
		if want := slices.Sorted(slices.Values(theirs.Required)); !slices.Equal(required, want) {
			t.Errorf("%s requires %q, the schema %q", name, required, want)
		}
	}
}
