package source

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/keyhints"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// loopShape is a step that repeats other steps. Its body is a list of steps, or the id of
// a step of the main sequence, which then belongs to the loop. The number of iterations
// is controlled by the loop object, or in the short form by while and maxIterations on
// the step itself (docs/design.md#loops).
var loopShape = object{What: "a loop", Hints: &keyhints.Loop, Fields: []field{
	{"id", stepID, required},
	{"type", words{"loop"}, required},
	{"title", title, required},
	{"loop", loopConfig{}, optional},
	// loopId must be equal to id; it exists for compatibility.
	{"loopId", stepID, optional},
	// maxIterations and while are the short form; see checkLoop.
	{"maxIterations", iterations, optional},
	{"while", loopWhile{}, optional},
	// A list of steps, or the id of a step of the main sequence.
	{"body", byKind{canon.String: stepID, canon.Array: list{Of: anyStep{}, Min: 1}}, required},
	{"functionDefinitions", functionsShape, optional},
	{"notesOptional", boolean, optional},
	{"requireConfirmation", confirmationShape, optional},
	{"runCondition", conditional{}, optional},
}}

// iterations is maxIterations. It is required in every loop, so that a file cannot
// describe a loop without end.
var iterations = amount{Min: 1, Max: limits.LoopIterationsMax, Whole: true}

// conditionID contains no delimiter characters, because ids appear in decision traces
// (docs/design.md#events).
var conditionID = text{Min: 1, Max: 64, Pattern: pattern.New(`^[a-z0-9_-]+$`), Like: "lowercase letters, digits, _ and -"}

// conditionRefShape refers to a member of the workflow's conditions by its id.
var conditionRefShape = byTag{Key: "kind", Text: "a condition reference with kind and conditionId",
	Cases: map[string]shape.Shape{
		"condition_ref": object{What: "a condition reference", Fields: []field{
			{"kind", words{"condition_ref"}, required},
			{"conditionId", conditionID, required},
		}}}}

// conditionsShape lists the conditions that loops refer to. The id is written as id or as
// conditionId; checkConditions requires exactly one of them.
var conditionsShape = list{Of: byTag{Key: "kind", Text: "a condition of kind loop_control or context_variable",
	Cases: map[string]shape.Shape{
		"loop_control": object{What: "a loop control", Fields: []field{
			{"id", conditionID, optional},
			{"conditionId", conditionID, optional},
			{"kind", words{"loop_control"}, required},
			{"loopId", stepID, optional},
		}},
		"context_variable": object{What: "a named condition", Fields: []field{
			{"id", conditionID, optional},
			{"conditionId", conditionID, optional},
			{"kind", words{"context_variable"}, required},
			{"condition", conditional{}, required},
		}},
	}}}

// contextPath is a dotted path into the run's context, such as "review.open". It is not
// an expression and contains no braces.
var contextPath = text{Min: 1, Pattern: pattern.New(`^[^\s.{}]+(?:\.[^\s.{}]+)*$`),
	Like: `a context path such as "files" or "review.open"`}

// loopConfigShape is the loop object: the kind of loop, its limit and what it reads.
// Which members a kind requires is checked by loopConfig.Check.
var loopConfigShape = object{What: "loop", Hints: &keyhints.LoopConfig, Fields: []field{
	{"type", words{"while", "until", "for", "forEach"}, required},
	{"maxIterations", iterations, required},
	{"condition", loopCondition{}, optional},
	{"conditionSource", byTag{Key: "kind", Text: "a condition source with a kind", Cases: map[string]shape.Shape{
		"artifact_contract": object{What: "a condition source", Fields: []field{
			{"kind", words{"artifact_contract"}, required},
			{"contractRef", builtinName{contractRef, "contract"}, required},
			{"loopId", text{Min: 1}, optional},
		}},
		"condition_ref": conditionRefShape.Cases["condition_ref"],
		"context_variable": object{What: "a condition source", Fields: []field{
			{"kind", words{"context_variable"}, required},
			{"condition", conditional{}, required},
		}},
	}}, optional},
	// Which of the following members apply depends on type; see loopReads.
	{"count", byKind{canon.Number: amount{Min: 0, Max: limits.LoopIterationsMax, Whole: true}, canon.String: contextPath}, optional},
	{"items", contextPath, optional},
	{"iterationVar", identifier, optional},
	{"itemVar", identifier, optional},
	{"indexVar", identifier, optional},
}}

// loopWhile is the shape of while in the short form of a loop: a reference to a named
// condition, never the condition itself.
type loopWhile struct{}

// Want describes a condition reference.
func (loopWhile) Want() string { return conditionRefShape.Want() }

// Check detects the frequent mistake of writing a condition there and explains it;
// otherwise it checks the reference.
func (loopWhile) Check(at problem.SourceValue, report problem.Report) {
	if !at.Has("kind") && (at.Has("var") || at.Has("and") || at.Has("or") || at.Has("not")) {
		report.Error(at, `List it under the workflow's conditions and write `+
			`{"kind": "condition_ref", "conditionId": "its-id"}, `+
			`or use "loop" with a condition.`,
			"while takes the name of a condition, got a condition")
		return
	}
	conditionRefShape.Check(at, report)
}

// loopCondition is a condition, or a reference to a named one.
type loopCondition struct{}

// Want describes a condition, the more frequent of the two forms.
func (loopCondition) Want() string { return conditional{}.Want() }

// Check distinguishes the two forms by the member kind, which no condition has.
func (loopCondition) Check(at problem.SourceValue, report problem.Report) {
	if at.Has("kind") {
		conditionRefShape.Check(at, report)
		return
	}
	conditional{}.Check(at, report)
}

// loopConfig is loopConfigShape plus the members that each type of loop requires.
type loopConfig struct{}

// Want describes the loop object.
func (loopConfig) Want() string { return loopConfigShape.Want() }

// loopReads lists the members that each type of loop reads, besides type and
// maxIterations. checkConfig warns of other members, since they have no effect.
var loopReads = map[string][]string{
	"while":   {"condition", "conditionSource", "iterationVar"},
	"until":   {"condition", "conditionSource", "iterationVar"},
	"for":     {"count", "iterationVar"},
	"forEach": {"items", "iterationVar", "itemVar", "indexVar"},
}

// loopNeeds lists the members of which each type of loop requires at least one.
var loopNeeds = []struct {
	kind  string
	oneOf []string
}{
	{"while", []string{"condition", "conditionSource"}},
	{"until", []string{"condition", "conditionSource"}},
	{"for", []string{"count"}},
	{"forEach", []string{"items"}},
}

// Check checks the members, then the requirements of the loop's type, which JSON Schema
// expresses with if and then.
func (loopConfig) Check(at problem.SourceValue, report problem.Report) {
	loopConfigShape.Check(at, report)
	kind := at.Member("type").Value.Text()
	for _, needs := range loopNeeds {
		if needs.kind == kind && !slices.ContainsFunc(needs.oneOf, at.Has) {
			report.Error(at, `Add "`+needs.oneOf[0]+`".`, "a %s loop lacks %q", kind, needs.oneOf[0])
		}
	}
}

// parallelShape is a step whose prompt delegates several tasks to be done at once.
var parallelShape = object{What: "a parallel step", Hints: &keyhints.Parallel, Fields: []field{
	{"id", stepID, required},
	{"type", words{"parallel"}, required},
	{"title", title, required},
	{"parallelDelegations", list{Of: delegationShape, Min: 1, Unique: true}, required},
	{"notesOptional", boolean, optional},
	{"requireConfirmation", confirmationShape, optional},
	{"runCondition", conditional{}, optional},
	// synthesis describes what to do with the results; its contract is that of the step.
	{"synthesis", object{What: "a synthesis", Fields: []field{
		{"prompt", text{Min: 1, Max: 4096}, optional},
		{"outputContract", contractShape, optional},
	}}, optional},
}}

// delegationShape is one task of a parallel step. workflowId names a routine for the
// performer; it is not resolved when the file is validated.
var delegationShape = object{What: "a delegation", Hints: &keyhints.Delegation, Fields: []field{
	{"workflowId", title, required},
	{"allowedTools", list{Min: 1, Of: text{Pattern: pattern.New(`^[a-zA-Z][a-zA-Z0-9_:-]*$`), Like: "the name of a tool"}}, optional},
	{"args", dictionary{Value: text{}}, optional},
	{"contextMapping", dictionary{Value: text{}}, optional},
	{"goal", text{}, optional},
	{"modelTier", modelTier, optional},
	{"runCondition", conditional{}, optional},
}}
