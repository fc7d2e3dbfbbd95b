package source

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/shape"
)

// jsonSchema holds the JSON Schema keywords that the published schema uses.
type jsonSchema struct {
	Ref         string                `json:"$ref"`
	Type        string                `json:"type"`
	Const       string                `json:"const"`
	Enum        []string              `json:"enum"`
	Pattern     string                `json:"pattern"`
	MinLength   int                   `json:"minLength"`
	MaxLength   int                   `json:"maxLength"`
	Minimum     float64               `json:"minimum"`
	Maximum     float64               `json:"maximum"`
	Items       *jsonSchema           `json:"items"`
	MinItems    int                   `json:"minItems"`
	MaxItems    int                   `json:"maxItems"`
	UniqueItems bool                  `json:"uniqueItems"`
	Properties  map[string]jsonSchema `json:"properties"`
	Required    []string              `json:"required"`
	Defs        map[string]jsonSchema `json:"$defs"`
}

// deviations are the places where a table differs from the published schema on
// purpose, by the name of the definition and the key.
var deviations = map[string]string{
	"workflow.id":                     "the namespaces are checked by checkID",
	"workflow.steps":                  "chosen by type, compared one by one",
	"standardStep.id":                 "the alphabet is checked by checkStepID",
	"loopStep.id":                     "the alphabet is checked by checkStepID",
	"parallelStep.id":                 "the alphabet is checked by checkStepID",
	"extensionPoint.default":          "same bounds, another name",
	"functionParameter.enum":          "chosen by kind",
	"functionParameter.default":       "any value",
	"loopConfig.conditionSource":      "chosen by kind",
	"loopConfig.maxIterations":        "a run may be longer than the published thousand",
	"loopConfig.items":                "an empty name names nothing",
	"loopConfig.count":                "chosen by kind",
	"outputContract.contractRef":      "restricted to the reserved namespace",
	"standardStep.outputContract":     "compared by itself",
	"parallelStep.synthesis":          "holds an output contract",
	"loopStep.required":               "loop, or the short form instead",
	"loopStep.body":                   "chosen by kind",
	"standardStep.runCondition":       "its own package",
	"loopStep.runCondition":           "its own package",
	"parallelStep.runCondition":       "its own package",
	"loopConfig.condition":            "its own package",
	"parallelDelegation.runCondition": "its own package",
	"promptFragment.when":             "its own package",
	"standardStep.validationCriteria": "its own package",
}

// comparer compares a table with the published schema.
type comparer struct {
	t    *testing.T
	defs map[string]jsonSchema
}

func (c comparer) resolve(s jsonSchema) jsonSchema {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		return c.defs[name]
	}
	return s
}

func (c comparer) object(path string, table object, want jsonSchema, own ...string) {
	var required []string
	for _, f := range table.Fields {
		if f.Required {
			required = append(required, f.Name)
		}
		prop, published := want.Properties[f.Name]
		if added := slices.Contains(own, f.Name); published == added {
			c.t.Errorf("%s: key %q is published: %v, Waybill's own: %v", path, f.Name, published, added)
		} else if published {
			c.shape(path+"."+f.Name, f.Shape, c.resolve(prop))
		}
	}
	if len(table.Fields) != len(want.Properties)+len(own) {
		c.t.Errorf("%s has %d keys, the schema %d and Waybill adds %d", path, len(table.Fields), len(want.Properties),
			len(own))
	}
	slices.Sort(required)
	_, otherwise := deviations[path+".required"]
	if published := slices.Sorted(slices.Values(want.Required)); !otherwise && !slices.Equal(required, published) {
		c.t.Errorf("%s requires %q, the schema %q", path, required, published)
	}
}

func (c comparer) shape(path string, table shape.Shape, want jsonSchema) {
	if _, ok := deviations[path]; ok {
		return
	}
	same := true
	switch s := table.(type) {
	case text:
		same = want.Type == "string" && s.Min == want.MinLength && s.Max == want.MaxLength &&
			(s.Pattern != nil) == (want.Pattern != "")
	case words:
		set := want.Enum
		if want.Const != "" {
			set = []string{want.Const}
		}
		same = slices.Equal(s, set)
	case amount:
		same = (want.Type == "number" || want.Type == "integer") && s.Min == want.Minimum &&
			s.Max == want.Maximum && s.Whole
	case oneKind:
		same = want.Type == s.Kind.String()
	case list:
		same = want.Type == "array" && s.Min == want.MinItems && s.Max == want.MaxItems &&
			(s.Unique || !want.UniqueItems || s.Key != "")
		c.shape(path+"[]", s.Of, c.resolve(*want.Items))
	case object:
		c.object(path, s, want)
	}
	if !same {
		c.t.Errorf("%s is %+v, in the schema %+v", path, table, want)
	}
}

// TestPublishedSchema compares the tables with the published schema: keys, bounds and words
// must be equal, except for Waybill's own keys and the listed deviations.
func TestPublishedSchema(t *testing.T) {
	data, err := os.ReadFile(published(t, "workflow.schema.json")[0])
	if err != nil {
		t.Fatal(err)
	}
	var root jsonSchema
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	c := comparer{t, root.Defs}
	c.object("workflow", workflowShape, root, "agentRole", "capabilities", "conditions", "inputs")
	c.object("loopStep", loopShape, root.Defs["loopStep"], "loopId", "maxIterations", "while")
	c.object("standardStep", standardShape, root.Defs["standardStep"],
		"output", "action", "checks", "inputs", "notesRequired", "outputs", "promptRef")
	for name, table := range map[string]object{
		"loopConfig": loopConfigShape, "parallelStep": parallelShape, "parallelDelegation": delegationShape,
		"promptBlocks": promptBlocksShape, "promptFragment": fragmentShape, "extensionPoint": extensionPointShape,
		"workflowReference": referenceShape, "functionParameter": parameterShape,
		"functionDefinition": functionsShape.Of.(object),
		"outputContract":     contractShape, "assessmentDefinition": assessmentShape,
		"assessmentConsequence": consequenceShape,
	} {
		c.object(name, table, root.Defs[name])
	}
}
