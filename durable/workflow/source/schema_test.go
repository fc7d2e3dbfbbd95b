package source

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/shape"
)

// jsonSchema is as much of JSON Schema as the published schema uses.
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
	"workflow.id":                     "judged by the namespaces of the locks",
	"workflow.steps":                  "chosen by type, compared one by one",
	"standardStep.id":                 "judged by the alphabet of the locks",
	"loopStep.id":                     "judged by the alphabet of the locks",
	"parallelStep.id":                 "judged by the alphabet of the locks",
	"extensionPoint.default":          "same bounds, another name",
	"functionParameter.enum":          "chosen by kind",
	"functionParameter.default":       "any value",
	"loopConfig.conditionSource":      "chosen by kind",
	"loopConfig.maxIterations":        "a run may be longer than the published thousand",
	"loopConfig.items":                "an empty name names nothing",
	"loopConfig.count":                "chosen by kind",
	"outputContract.contractRef":      "the reserved namespace of the locks",
	"standardStep.outputContract":     "compared by itself",
	"parallelStep.synthesis":          "holds an output contract",
	"loopStep.required":               "loop, or the locks' spelling in its place",
	"loopStep.body":                   "chosen by kind",
	"standardStep.runCondition":       "its own package",
	"loopStep.runCondition":           "its own package",
	"parallelStep.runCondition":       "its own package",
	"loopConfig.condition":            "its own package",
	"parallelDelegation.runCondition": "its own package",
	"promptFragment.when":             "its own package",
	"standardStep.validationCriteria": "its own package",
}

// comparer walks a table and the schema side by side.
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

func (c comparer) object(path string, ours object, theirs jsonSchema, own ...string) {
	var required []string
	for _, f := range ours.Fields {
		if f.Required {
			required = append(required, f.Name)
		}
		prop, published := theirs.Properties[f.Name]
		if mine := slices.Contains(own, f.Name); published == mine {
			c.t.Errorf("%s: key %q is published: %v, our own: %v", path, f.Name, published, mine)
		} else if published {
			c.shape(path+"."+f.Name, f.Shape, c.resolve(prop))
		}
	}
	if len(ours.Fields) != len(theirs.Properties)+len(own) {
		c.t.Errorf("%s has %d keys, the schema %d and %d of our own", path, len(ours.Fields), len(theirs.Properties),
			len(own))
	}
	slices.Sort(required)
	_, otherwise := deviations[path+".required"]
	if want := slices.Sorted(slices.Values(theirs.Required)); !otherwise && !slices.Equal(required, want) {
		c.t.Errorf("%s requires %q, the schema %q", path, required, want)
	}
}

func (c comparer) shape(path string, ours shape.Shape, theirs jsonSchema) {
	if _, ok := deviations[path]; ok {
		return
	}
	same := true
	switch s := ours.(type) {
	case text:
		same = theirs.Type == "string" && s.Min == theirs.MinLength && s.Max == theirs.MaxLength &&
			(s.Pattern != nil) == (theirs.Pattern != "")
	case words:
		want := theirs.Enum
		if theirs.Const != "" {
			want = []string{theirs.Const}
		}
		same = slices.Equal(s.Set, want)
	case amount:
		same = (theirs.Type == "number" || theirs.Type == "integer") && s.Min == theirs.Minimum &&
			s.Max == theirs.Maximum && s.Whole
	case oneKind:
		same = theirs.Type == s.Kind.String()
	case list:
		same = theirs.Type == "array" && s.Min == theirs.MinItems && s.Max == theirs.MaxItems &&
			(s.Unique || !theirs.UniqueItems || s.Key != "")
		c.shape(path+"[]", s.Of, c.resolve(*theirs.Items))
	case object:
		c.object(path, s, theirs)
	}
	if !same {
		c.t.Errorf("%s is %+v, in the schema %+v", path, ours, theirs)
	}
}

// TestPublishedSchema holds the tables to the schema that they were written after:
// the same keys, bounds and words, and Waybill's own keys beside them.
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
	c.object("standardStep", standardShape, root.Defs["standardStep"], "action", "inputs", "notesRequired", "promptRef")
	for name, ours := range map[string]object{
		"loopConfig": loopConfigShape, "parallelStep": parallelShape, "parallelDelegation": delegationShape,
		"promptBlocks": promptBlocksShape, "promptFragment": fragmentShape, "extensionPoint": extensionPointShape,
		"workflowReference": referenceShape, "functionParameter": parameterShape,
		"functionDefinition": functionsShape.Of.(object),
		"outputContract":     contractShape, "assessmentDefinition": assessmentShape,
		"assessmentConsequence": consequenceShape,
	} {
		c.object(name, ours, root.Defs[name])
	}
}
