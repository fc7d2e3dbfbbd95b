// Package contract is the closed set of artifact contracts (locks section 9): what
// an artifact of a kind must look like, as typed data that a compiled workflow
// embeds, and the judgement of a value against it. The packs are Waybill's own;
// a workflow names them and never writes one.
//
// It judges one value. Which artifact counts, and what follows from a mismatch, is
// decided by packages interpreter and advance.
package contract

import "github.com/waybill/waybill/durable/canon"

// Pack is one contract: an artifact kind and the shape of its value. Packs that
// Builtin gives are shared and must not be changed; one that was read from a
// document is believed only after Validate.
type Pack struct {
	ContractRef  string `json:"contractRef"`  // wr.contracts.*
	ArtifactKind string `json:"artifactKind"` // the artifact's "kind" member
	Title        string `json:"title"`
	Shape        Shape  `json:"shape"` // an object; its members beside kind
	// Example satisfies the contract; it is shown to whoever did not.
	Example canon.Value `json:"example"`
}

// Type is the closed set of what a value can be.
type Type string

// The types. A Map is an object with names of the sender's choosing; Any with
// AnyOf is one of several shapes, without it every value.
const (
	Any     Type = "any"
	Text    Type = "text"
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
	Array   Type = "array"
	Object  Type = "object"
	Map     Type = "map"
)

// Format is the closed set of spellings that a Text can be held to.
type Format string

// The formats: RFC 3339 with seconds and a zone, and the 36 characters of RFC 9562.
const (
	DateTime Format = "date-time"
	UUID     Format = "uuid"
)

// Shape is what one value must be. Bounds of zero are none.
//
// Lengths of texts are counted in characters (Unicode code points), unlike the
// budgets of the locks: the agents that send these artifacts count in UTF-16 units,
// of which there are never fewer, so no text that is within their upper bounds is
// refused here. It is also how JSON Schema counts.
type Shape struct {
	Type        Type        `json:"type"`
	Description string      `json:"description,omitzero"`
	Enum        []string    `json:"enum,omitzero"`     // of a Text, in the order it is shown
	MinChars    int         `json:"minChars,omitzero"` // of a Text
	MaxChars    int         `json:"maxChars,omitzero"`
	Pattern     string      `json:"pattern,omitzero"` // of a Text, RE2; anchors are its own
	Format      Format      `json:"format,omitzero"`  // of a Text
	Const       canon.Value `json:"const,omitzero"`
	Min         *float64    `json:"min,omitzero"` // of a number, inclusive
	Max         *float64    `json:"max,omitzero"`
	MinItems    int         `json:"minItems,omitzero"` // of an Array or a Map
	MaxItems    int         `json:"maxItems,omitzero"`
	Items       *Shape      `json:"items,omitzero"`  // of an Array or a Map; nil is any value
	Fields      []Field     `json:"fields,omitzero"` // of an Object, in the JCS order of names
	Open        bool        `json:"open,omitzero"`   // of an Object: further members are kept
	// ExactlyOne names optional Fields of an Object of which one and only one is there.
	ExactlyOne []string `json:"exactlyOne,omitzero"`
	// AnyOf belongs to Any. No two of the shapes take the same kind of JSON value: the
	// kind chooses, so that a mistake is reported once, by the shape that was meant.
	AnyOf []Shape `json:"anyOf,omitzero"`
}

// Field is one member of an object.
type Field struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitzero"`
	Shape    Shape  `json:"shape"`
}
