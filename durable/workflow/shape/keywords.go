package shape

import (
	"maps"
	"reflect"

	"github.com/waybill/waybill/durable/canon"
)

// Keywords is a JSON Schema in Go: the keywords by name, with strings, numbers, canon values,
// and lists and maps of these. It is the one way in which the packages of workflows write the
// schemas of what they parse.
type Keywords map[string]any

// Value returns the schema as JSON. Keywords without a value are left out: zeros, empty
// texts and nil lists. A zero that must be written is a canon value.
func (k Keywords) Value() canon.Value {
	written := maps.Clone(k)
	maps.DeleteFunc(written, func(_ string, x any) bool { return reflect.ValueOf(x).IsZero() })
	v, err := canon.ValueOf(written)
	if err != nil {
		panic("shape: a JSON Schema cannot be encoded: " + err.Error()) // a bug: schemas are constants
	}
	return v
}

// Closed returns the schema of an object with these properties only.
func Closed(properties map[string]canon.Value, required ...string) Keywords {
	return Keywords{"type": "object", "properties": properties, "required": required,
		"additionalProperties": canon.OfBool(false)}
}

// Combinations returns the schemas of the combinations and, or and not of values whose schema
// is self.
func Combinations(self canon.Value) []canon.Value {
	list := Keywords{"type": "array", "items": self, "minItems": 1}.Value()
	var out []canon.Value
	for _, form := range []canon.Member{{Name: "and", Value: list}, {Name: "or", Value: list},
		{Name: "not", Value: self}} {
		out = append(out, Closed(map[string]canon.Value{form.Name: form.Value}, form.Name).Value())
	}
	return out
}
