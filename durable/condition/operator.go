package condition

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// operator is one comparison. It is total: values of a kind that it does not
// compare make it false, never an error.
type operator struct {
	name  string
	want  []canon.Kind // kinds that its operand may have; none means any
	holds func(v, operand canon.Value) bool
}

// operators lists the comparisons once, in the order in which several beside one
// variable are evaluated and written.
var operators = []operator{
	{"equals", nil, canon.Value.Equal},
	{"not_equals", nil, func(v, operand canon.Value) bool { return !v.Equal(operand) }},
	{"gt", number, ordered(func(a, b float64) bool { return a > b })},
	{"gte", number, ordered(func(a, b float64) bool { return a >= b })},
	{"lt", number, ordered(func(a, b float64) bool { return a < b })},
	{"lte", number, ordered(func(a, b float64) bool { return a <= b })},
	{"contains", scalar, contains},
	{"in", []canon.Kind{canon.Array}, func(v, list canon.Value) bool { return isItem(v, list) }},
}

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
