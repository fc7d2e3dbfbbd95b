// Package contract defines artifact contracts (docs/design.md#authoring): the members that
// an artifact of a kind must have, as data that a compiled workflow embeds, and the check
// of a value against them. The packs are a closed set; a workflow refers to them by name
// and cannot define its own.
//
// The package checks one value. Packages interpreter and advance decide which artifact is
// used and what follows from a mismatch. Packs are hashed as part of compiled workflows, and
// messages and requirements are stored or rendered into prompts: their words must not
// change. Start reading at Pack, Shape and Pack.Check.
package contract

import "github.com/waybill/waybill/durable/canon"

// Pack is one contract: an artifact kind and the shape of its value. Packs returned by
// Builtin are shared and must not be modified. A pack from a document must pass Validate
// before it is used.
type Pack struct {
	// ContractRef is the name by which workflows refer to it, wr.contracts.*.
	ContractRef string `json:"contractRef"`
	// ArtifactKind is the text of the artifact's member kind.
	ArtifactKind string `json:"artifactKind"`
	Title        string `json:"title"`
	// Shape is of type Object: the members of the artifact, without kind.
	Shape Shape `json:"shape"`
	// Example satisfies the contract. Requirements shows it to the sender.
	Example canon.Value `json:"example"`
}

// For returns the pack with the example of an observation of this capability; "" and packs of other
// artifacts change nothing.
func (p Pack) For(capability string) Pack {
	if capability != "" && p.ContractRef == CapabilityRef {
		p.Example = p.Example.With("capability", canon.OfString(capability))
	}
	return p
}

// Type is the type of a value, a closed set.
type Type string

// The types. A Map is an object whose member names the sender chooses. Any accepts the
// shapes of AnyOf, or every value if AnyOf is empty.
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

// Format is a syntax that a Text can be required to have, a closed set.
type Format string

// The formats: a date-time of RFC 3339 with seconds and a zone; a date of ISO 8601, alone or with a
// time whose seconds and zone may be missing; and a UUID of RFC 9562 in its form of 36 characters.
// A format is never widened, because pinned packs name it.
const (
	DateTime Format = "date-time"
	Date     Format = "date"
	UUID     Format = "uuid"
)

// Shape is the form that one value must have. A bound of zero is no bound. Validate reports
// members that do not belong to the type.
//
// Lengths of texts are in characters (Unicode code points), as in JSON Schema, unlike the
// byte limits of docs/design.md#limits. The agents that send artifacts count UTF-16 units,
// of which a text has at least as many, so a text within an agent's upper bound is never
// rejected here.
type Shape struct {
	Type        Type   `json:"type"`
	Description string `json:"description,omitzero"`
	// Enum to Format belong to Text. Enum is in the order in which it is shown.
	Enum     []string `json:"enum,omitzero"`
	MinChars int      `json:"minChars,omitzero"`
	MaxChars int      `json:"maxChars,omitzero"`
	// Pattern is an RE2 expression that may match anywhere in the text; it contains anchors
	// if it must not.
	Pattern string `json:"pattern,omitzero"`
	Format  Format `json:"format,omitzero"`
	// Const is the only accepted value, of any type; null accepts all.
	Const canon.Value `json:"const,omitzero"`
	// Min and Max belong to Integer and Number and are inclusive.
	Min *float64 `json:"min,omitzero"`
	Max *float64 `json:"max,omitzero"`
	// MinItems, MaxItems and Items belong to Array and Map; Items nil accepts every value.
	MinItems int    `json:"minItems,omitzero"`
	MaxItems int    `json:"maxItems,omitzero"`
	Items    *Shape `json:"items,omitzero"`
	// Fields belongs to Object and is sorted in the JCS order of names.
	Fields []Field `json:"fields,omitzero"`
	// Open belongs to Object: members that are not in Fields are accepted.
	Open bool `json:"open,omitzero"`
	// ExactlyOne lists optional Fields of an Object of which exactly one must be present.
	ExactlyOne []string `json:"exactlyOne,omitzero"`
	// AnyOf belongs to Any. No two of its shapes accept the same JSON kind: the kind selects
	// the shape, so that a mismatch is reported by one shape only.
	AnyOf []Shape `json:"anyOf,omitzero"`
}

// Field is one member of an Object.
type Field struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitzero"`
	Shape    Shape  `json:"shape"`
}
