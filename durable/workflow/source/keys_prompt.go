package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/keyhints"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// promptBlocksShape is a prompt in named parts, the structured alternative to prompt.
// The compiler renders the parts as sections in a fixed order.
var promptBlocksShape = object{What: "prompt blocks", Hints: &keyhints.PromptBlocks, Fields: []field{
	{"goal", promptValue, optional},
	{"constraints", list{Of: promptValue}, optional},
	{"procedure", list{Of: promptValue}, optional},
	{"outputRequired", dictionary{Value: text{}}, optional},
	{"verify", list{Of: promptValue}, optional},
}}

// refID names a reference text in the reserved namespace wr.refs. Whether the text exists
// is checked by the compiler (docs/design.md#authoring).
var refID = text{Min: 1, Pattern: pattern.New(`^wr\.refs\.[a-z][a-z0-9_]*$`),
	Like: `the name of a reference such as "wr.refs.notes_first_durability"`}

// promptValue is a string, or a list of text parts and reference parts that the compiler
// concatenates.
var promptValue = byKind{canon.String: text{}, canon.Array: list{Of: byTag{
	Key: "kind", Text: "a prompt part with kind text or ref", Cases: map[string]shape.Shape{
		"text": object{What: "a text part", Fields: []field{{"kind", words{"text"}, required}, {"text", text{}, required}}},
		"ref":  object{What: "a reference part", Fields: []field{{"kind", words{"ref"}, required}, {"refId", builtinName{refID, "reference"}, required}}},
	}}}}

// fragmentShape is a text that is appended to the prompt when its condition is true, or
// always when it has none.
var fragmentShape = object{What: "a prompt fragment", Hints: &keyhints.Fragment, Fields: []field{
	{"id", text{Min: 1, Max: 64, Pattern: lowerID, Like: "a lowercase name"}, required},
	{"text", text{Min: 1, Max: 4096}, required},
	{"when", conditional{}, optional},
}}

// assessmentShape grades work along dimensions, each with a list of levels. A
// dimension has at least two levels: with one level there would be nothing to decide.
var assessmentShape = object{What: "an assessment", Hints: &keyhints.Assessment, Fields: []field{
	// Ids and levels appear in artifacts, so that they have no prefix in routines.
	{"id", text{Min: 1, Max: 64}, required},
	{"purpose", shortText, required},
	{"dimensions", list{Min: 1, Key: "id", Of: object{What: "a dimension", Hints: &keyhints.Dimension, Fields: []field{
		{"id", text{Min: 1, Max: 64}, required},
		{"purpose", shortText, required},
		{"levels", list{Of: text{Min: 1, Max: 64}, Min: 2, Unique: true}, required},
		{"required", boolean, optional},
	}}}, required},
}}

// consequenceShape keeps a step pending when an assessment has the given level. The guidance
// describes the follow-up that is required.
var consequenceShape = object{What: "an assessment consequence", Hints: &keyhints.Consequence, Fields: []field{
	{"when", object{What: "a trigger", Fields: []field{
		{"anyEqualsLevel", text{Min: 1, Max: 64}, required},
		{"forAssessment", text{Min: 1, Max: 128}, optional},
	}}, required},
	// The only effect so far. A closed set, so that programs can implement all effects.
	{"effect", object{What: "an effect", Fields: []field{
		{"kind", words{"require_followup"}, required},
		{"guidance", text{Min: 1, Max: 512}, required},
	}}, required},
}}
