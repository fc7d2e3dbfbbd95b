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
