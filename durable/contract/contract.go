// Package contract is the closed set of artifact contracts (locks section 9): what
// an artifact of a kind must look like, as typed data that a compiled workflow
// embeds, and the judgement of a value against it. The packs are Waybill's own;
// a workflow names them and never writes one.
//
// It judges one value. Which artifact counts, and what follows from a mismatch, is
// decided by packages interpreter and advance.
package contract

import "github.com/waybill/waybill/durable/canon"

// Pack is one contract: an artifact kind and the shape of its value.
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

// The types. A Map is an object with names of the sender's choosing.
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

// Shape is what one value must be. Bounds of zero are none.
type Shape struct {
	Type        Type        `json:"type"`
	Description string      `json:"description,omitzero"`
	Enum        []string    `json:"enum,omitzero"`     // of a Text
	MinBytes    int         `json:"minBytes,omitzero"` // of a Text, UTF-8
	MaxBytes    int         `json:"maxBytes,omitzero"`
	Pattern     string      `json:"pattern,omitzero"` // of a Text, RE2
	Format      string      `json:"format,omitzero"`  // of a Text: date-time or uuid
	Const       canon.Value `json:"const,omitzero"`
	Min         *float64    `json:"min,omitzero"` // of a number, inclusive
	Max         *float64    `json:"max,omitzero"`
	MinItems    int         `json:"minItems,omitzero"` // of an Array or a Map
	MaxItems    int         `json:"maxItems,omitzero"`
	Items       *Shape      `json:"items,omitzero"`  // of an Array or a Map
	Fields      []Field     `json:"fields,omitzero"` // of an Object, by name
	Open        bool        `json:"open,omitzero"`   // of an Object: further members are kept
	AnyOf       []Shape     `json:"anyOf,omitzero"`  // one of them must fit
}

// Field is one member of an object.
type Field struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitzero"`
	Shape    Shape  `json:"shape"`
}

// Mismatch is one thing that does not fit.
type Mismatch struct {
	Pointer  string // JSON pointer into the artifact, "" for the whole
	Expected string // e.g. `one of "continue", "stop"`
	Got      string // e.g. `"maybe"`, "nothing"
}
