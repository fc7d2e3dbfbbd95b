package condition

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// operator is one comparison. It is total: values of a kind that it does not
// compare make it false, never an error.
type operator struct {
	name  string
	text  string       // what it asks, for editors
	want  []canon.Kind // kinds that its operand may have; none means any
	holds func(v, operand canon.Value) bool
}

// operators lists the comparisons once, in the order in which several beside one
// variable are evaluated and written.
var operators = []operator{
	{"equals", "The variable has this value", nil, canon.Value.Equal},
	{"not_equals", "The variable has another value than this, or none", nil,
		func(v, operand canon.Value) bool { return !v.Equal(operand) }},
	{"gt", "The variable is a number above this", number, ordered(func(a, b float64) bool { return a > b })},
	{"gte", "The variable is a number from this", number, ordered(func(a, b float64) bool { return a >= b })},
	{"lt", "The variable is a number below this", number, ordered(func(a, b float64) bool { return a < b })},
	{"lte", "The variable is a number up to this", number, ordered(func(a, b float64) bool { return a <= b })},
	{"contains", "The variable is a text that contains this text, or a list that contains this item", scalar, contains},
	{"in", "The variable is one of these values", []canon.Kind{canon.Array},
		func(v, list canon.Value) bool { return isItem(v, list) }},
}

// truthy is what a variable without an operator is asked for: that it is there and
// neither null, false, 0 nor "". Lists and objects are, empty or not, as in the
// language of the engine for which such conditions were first written. It has no
// name: in the source and in the normal form it is the operator that is not there.
var truthy = operator{holds: func(v, _ canon.Value) bool { return !slices.ContainsFunc(falsy, v.Equal) }}

// falsy is all that does not hold by itself. An absent variable reads as null.
var falsy = []canon.Value{{}, canon.OfBool(false), canon.OfInt(0), canon.OfString("")}

// Kinds of operands. An operand of another kind could never match and is refused
// when the workflow is read; what the variable holds is only known in a run.
var (
	number = []canon.Kind{canon.Number}
	scalar = []canon.Kind{canon.String, canon.Number, canon.Bool}
)

// ordered compares numbers only: "10" is not less than 9, it is not comparable.
func ordered(less func(a, b float64) bool) func(v, operand canon.Value) bool {
	return func(v, operand canon.Value) bool {
		return v.Kind() == canon.Number && operand.Kind() == canon.Number && less(v.Float(), operand.Float())
	}
}

// contains looks for text in text, or for an item in a list. Objects contain
// nothing: whether keys or values were meant would be a guess.
func contains(v, operand canon.Value) bool {
	switch v.Kind() {
	case canon.String:
		return operand.Kind() == canon.String && strings.Contains(v.Text(), operand.Text())
	case canon.Array:
		return isItem(operand, v)
	}
	return false
}

// isItem compares deeply, as equals does.
func isItem(v, list canon.Value) bool {
	if list.Kind() != canon.Array {
		return false
	}
	for i := range list.Len() {
		if list.Item(i).Equal(v) {
			return true
		}
	}
	return false
}
