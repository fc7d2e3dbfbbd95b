package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// AssessmentKind is the kind of an artifact that carries an assessment.
const AssessmentKind = "wr.assessment"

// Bounds of what comes with the levels, in characters.
const (
	assessmentSummaryMax = 1024
	rationaleMax         = 512
)

// Assessment is a set of dimensions that a step asks to be judged, as the workflow
// declares it. An artifact answers it with one level for each dimension:
//
//	{"kind":"wr.assessment","assessmentId":ID,"dimensions":{"risk":"low","scope":{"level":"high","rationale":"…"}},"summary":"…"}
type Assessment struct {
	ID         string      `json:"id"`
	Purpose    string      `json:"purpose"`
	Dimensions []Dimension `json:"dimensions"` // in the order of the workflow
}

// Dimension is one question with the levels that answer it.
type Dimension struct {
	ID       string   `json:"id"`
	Purpose  string   `json:"purpose"`
	Levels   []string `json:"levels"`
	Required bool     `json:"required"`
}

// Check judges an artifact as Pack.Check does. With no mismatch, levels has the
// level of every dimension that was answered; else it is nil, so that nothing can
// follow from an assessment that was refused.
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

// shape is what an artifact must be to answer a.
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

// answered is a level alone, or a level with the reason for it.
func answered(level Shape) Shape {
	return Shape{Type: Any, AnyOf: []Shape{level,
		object(must("level", level), may("rationale", text(1, rationaleMax)))}}
}

// assessmentShape is shared with the pack, which knows no ids and no levels.
func assessmentShape(id, dimensions Shape) Shape {
	return object(may("assessmentId", id), must("dimensions", dimensions),
		may("summary", text(0, assessmentSummaryMax)))
}

// Requirements are the lines, without bullets, that tell whoever sends the artifact
// what is asked, with an example as JSON on the last one.
func (a Assessment) Requirements() []string {
	full := a.lines(func(d Dimension) string { return ". " + d.Purpose })
	if len(strings.Join(full, "\n")) <= requirementsBytesMax {
		return full
	}
	return a.lines(func(Dimension) string { return "" })
}

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

// Example satisfies a. It has the first level of each dimension: where one is
// copied unread, the lowest is what workflows tend to list first and to ask after.
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

// Validate refuses an assessment that no artifact could answer, and one whose
// answer would mean nothing. It does not repeat the lengths that a source is held to.
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
	// They become member names, and no JSON that Waybill reads has two that differ only in case.
	dimensions, _ := a.Example().Get("dimensions")
	if dimensions.Len() != len(a.Dimensions) || dimensions.Strict(1) != nil {
		return fmt.Errorf("assessment %s: two dimensions have the same id, letter case aside", quote(a.ID))
	}
	return nil
}
