package workflow

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
)

// promptBlocksShape is the structured alternative to prompt.
var promptBlocksShape = object{"prompt blocks", []field{
	may("goal", promptValue),
	may("constraints", list{of: promptValue}),
	may("procedure", list{of: promptValue}),
	may("outputRequired", dictionary{value: text{}}),
	may("verify", list{of: promptValue}),
}}

// refID is in the reserved namespace; whether there is such a text is for the
// compiler to say (locks section 9).
var refID = text{min: 1, pattern: pattern.New(`^wr\.refs\.[a-z][a-z0-9_]*$`), like: `the name of a reference such as "wr.refs.notes_first_durability"`}

// promptValue is text, or text and references in turn.
var promptValue = byKind{canon.String: text{}, canon.Array: list{of: byTag{
	"kind", "a prompt part with kind text or ref", map[string]shape{
		"text": object{"a text part", []field{need("kind", oneOf("text")), need("text", text{})}},
		"ref":  object{"a reference part", []field{need("kind", oneOf("ref")), need("refId", refID)}},
	}}}}

// fragmentShape adds text to a prompt while a condition holds.
var fragmentShape = object{"a prompt fragment", []field{
	need("id", text{min: 1, max: 64, pattern: lowerID, like: "a lowercase name"}),
	need("text", text{min: 1, max: 4096}),
	may("when", conditional{}),
}}

// assessmentShape grades something along dimensions. Two levels are the least that
// tell anything apart.
var assessmentShape = object{"an assessment", []field{
	need("id", text{min: 1, max: 64}),
	need("purpose", shortText),
	need("dimensions", list{min: 1, key: "id", of: object{"a dimension", []field{
		need("id", text{min: 1, max: 64}),
		need("purpose", shortText),
		need("levels", list{of: text{min: 1, max: 64}, min: 2, unique: true}),
		may("required", boolean),
	}}}),
}}

// consequenceShape keeps a step pending while a grade is too low.
var consequenceShape = object{"an assessment consequence", []field{
	need("when", object{"a trigger", []field{
		need("anyEqualsLevel", text{min: 1, max: 64}),
		may("forAssessment", text{min: 1, max: 128}),
	}}),
	need("effect", object{"an effect", []field{
		need("kind", oneOf("require_followup")),
		need("guidance", text{min: 1, max: 512}),
	}}),
}}
