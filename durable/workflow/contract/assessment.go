package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// AssessmentKind is the kind of assessment artifacts.
const AssessmentKind = "wr.assessment"

// Bounds of the texts in an assessment artifact, in characters.
const (
	assessmentSummaryMax = 1024
	rationaleMax         = 512
)

// Assessment is a set of dimensions to be graded, as declared by the workflow. A step
// requires an artifact that gives one level for each dimension:
//
//	{"kind":"wr.assessment","assessmentId":ID,"summary":"…",
//	 "dimensions":{"risk":"low","scope":{"level":"high","rationale":"…"}}}
type Assessment struct {
	ID         string      `json:"id"`
	Purpose    string      `json:"purpose"`
	Dimensions []Dimension `json:"dimensions"` // in the order of the workflow
}

// Dimension is one question of an assessment, with the levels that are its possible answers.
type Dimension struct {
	// ID is the member name under which an artifact gives the level.
	ID      string `json:"id"`
	Purpose string `json:"purpose"`
	// Levels are in the order of the workflow, which defines no ranking.
	Levels []string `json:"levels"`
	// Required reports whether an artifact must contain the dimension.
	Required bool `json:"required"`
}

// Check checks an artifact like Pack.Check. Without mismatches, levels maps the id of each
// dimension that the artifact contains to its level; otherwise levels is nil, so that a
// rejected assessment has no consequences.
func (a Assessment) Check(artifact canon.Value) (levels map[string]string, wrong []Mismatch) {
	p := Pack{ContractRef: assessmentRef, ArtifactKind: AssessmentKind, Shape: a.shape()}
	if wrong = p.Check(artifact); len(wrong) > 0 {
		return nil, wrong
	}
	levels = map[string]string{}
	given, _ := artifact.Get("dimensions")
	for i := range given.Len() {
		level := given.Item(i)
		if inner, ok := level.Get("level"); ok {
			level = inner
		}
		levels[given.Key(i)] = level.Text()
	}
	return levels, nil
}

// shape returns the shape of artifacts for this assessment.
func (a Assessment) shape() Shape {
	var dimensions []Field
	for _, d := range a.Dimensions {
		level := Shape{Type: Text, Enum: d.Levels}
		dimensions = append(dimensions, Field{d.ID, d.Required, answered(level)})
	}
	return assessmentShape(
		Shape{Type: Text, Const: canon.OfString(a.ID)},
		object(dimensions...))
}

// answered returns the shape of a dimension's value: a level, or an object of a level and
// its rationale.
func answered(level Shape) Shape {
	return Shape{Type: Any, AnyOf: []Shape{level,
		object(must("level", level), may("rationale", text(1, rationaleMax)))}}
}

// assessmentShape returns the members of an assessment artifact. The pack uses it with
// shapes that accept all ids and levels.
func assessmentShape(id, dimensions Shape) Shape {
	return object(may("assessmentId", id), must("dimensions", dimensions),
		may("summary", text(0, assessmentSummaryMax)))
}

// Requirements returns the lines, without bullets, that describe the required artifact in a
// prompt; the last is an example as JSON. If they exceed requirementsBytesMax, the purposes
// of the dimensions are left out. The words must not change: prompts contain them.
func (a Assessment) Requirements() []string {
	full := a.lines(func(d Dimension) string { return ". " + d.Purpose })
	if len(strings.Join(full, "\n")) <= requirementsBytesMax {
		return full
	}
	return a.lines(func(Dimension) string { return "" })
}

// lines renders Requirements, with purpose appended to the line of each dimension.
func (a Assessment) lines(purpose func(Dimension) string) []string {
	lines := []string{"Assessment: " + a.ID + ". " + a.Purpose, "kind: " + quote(AssessmentKind)}
	for _, d := range a.Dimensions {
		optional := ""
		if !d.Required {
			optional = " (optional)"
		}
		lines = append(lines, "dimensions."+d.ID+optional+": one of "+quoteAll(d.Levels)+purpose(d))
	}
	return append(lines,
		`Write a dimension as its level, or as {"level", "rationale"} with the reason in at most `+
			count(rationaleMax, "character"),
		"Example: "+string(a.Example().JCS()))
}

// Example returns an artifact that satisfies the assessment. It has the first level of each
// dimension, which in most workflows is the lowest one: an example that is copied unread
// then triggers the consequences.
func (a Assessment) Example() canon.Value {
	var dimensions []canon.Member
	for _, d := range a.Dimensions {
		if len(d.Levels) > 0 {
			dimensions = append(dimensions, canon.Member{Name: d.ID, Value: canon.OfString(d.Levels[0])})
		}
	}
	return canon.OfMembers(
		canon.Member{Name: kindMember, Value: canon.OfString(AssessmentKind)},
		canon.Member{Name: "assessmentId", Value: canon.OfString(a.ID)},
		canon.Member{Name: "dimensions", Value: canon.OfMembers(dimensions...)})
}

// Validate fails for an assessment that no artifact can satisfy, or that leaves no choice.
// It does not check the lengths that package source checks.
func (a Assessment) Validate() error {
	if a.ID == "" || len(a.Dimensions) == 0 {
		return errors.New("an assessment has an id and at least one dimension")
	}
	for i, d := range a.Dimensions {
		switch {
		case d.ID == "":
			return fmt.Errorf("assessment %s: dimension %d has no id", quote(a.ID), i+1)
		case len(d.Levels) < 2 || slices.Contains(d.Levels, "") || repeats(d.Levels):
			return fmt.Errorf("assessment %s: dimension %s: want two or more levels, no two the same", quote(a.ID),
				quote(d.ID))
		}
	}
	// Ids become member names, and the JSON that Waybill reads cannot contain two names that
	// differ in letter case only.
	dimensions, _ := a.Example().Get("dimensions")
	if dimensions.Len() != len(a.Dimensions) || dimensions.CheckStrict(1) != nil {
		return fmt.Errorf("assessment %s: two dimensions have the same id, ignoring letter case", quote(a.ID))
	}
	return nil
}
