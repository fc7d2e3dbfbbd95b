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
	may("goal", promptValue),
	may("constraints", list{Of: promptValue}),
	may("procedure", list{Of: promptValue}),
	may("outputRequired", dictionary{Value: text{}}),
	may("verify", list{Of: promptValue}),
}}

// refID names a reference text in the reserved namespace wr.refs. Whether the text exists
// is checked by the compiler (docs/design.md#authoring).
var refID = text{Min: 1, Pattern: pattern.New(`^wr\.refs\.[a-z][a-z0-9_]*$`),
	Like: `the name of a reference such as "wr.refs.notes_first_durability"`}

// promptValue is a string, or a list of text parts and reference parts that the compiler
// concatenates.
var promptValue = byKind{canon.String: text{}, canon.Array: list{Of: byTag{
	Key: "kind", Text: "a prompt part with kind text or ref", Cases: map[string]shape.Shape{
		"text": object{What: "a text part", Fields: []field{need("kind", oneOf("text")), need("text", text{})}},
		"ref":  object{What: "a reference part", Fields: []field{need("kind", oneOf("ref")), need("refId", builtinName{refID, "reference"})}},
	}}}}

// fragmentShape is a text that is appended to the prompt when its condition is true, or
// always when it has none.
var fragmentShape = object{What: "a prompt fragment", Hints: &keyhints.Fragment, Fields: []field{
	need("id", text{Min: 1, Max: 64, Pattern: lowerID, Like: "a lowercase name"}),
	need("text", text{Min: 1, Max: 4096}),
	may("when", conditional{}),
}}

// assessmentShape grades work along dimensions, each with a list of levels. A
// dimension has at least two levels: with one level there would be nothing to decide.
var assessmentShape = object{What: "an assessment", Hints: &keyhints.Assessment, Fields: []field{
	// Ids and levels appear in artifacts, so that they have no prefix in routines.
	need("id", text{Min: 1, Max: 64}),
	need("purpose", shortText),
	need("dimensions", list{Min: 1, Key: "id", Of: object{What: "a dimension", Hints: &keyhints.Dimension, Fields: []field{
		need("id", text{Min: 1, Max: 64}),
		need("purpose", shortText),
		need("levels", list{Of: text{Min: 1, Max: 64}, Min: 2, Unique: true}),
		may("required", boolean),
	}}}),
}}

// consequenceShape keeps a step pending when an assessment has the given level. The guidance
// describes the follow-up that is required.
var consequenceShape = object{What: "an assessment consequence", Hints: &keyhints.Consequence, Fields: []field{
	need("when", object{What: "a trigger", Fields: []field{
		need("anyEqualsLevel", text{Min: 1, Max: 64}),
		may("forAssessment", text{Min: 1, Max: 128}),
	}}),
	// The only effect so far. A closed set, so that programs can implement all effects.
	need("effect", object{What: "an effect", Fields: []field{
		need("kind", oneOf("require_followup")),
		need("guidance", text{Min: 1, Max: 512}),
	}}),
}}
