package condition

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// operator is one comparison. It is defined for all values: for a kind that it does not
// compare, the result is false, never an error.
type operator struct {
	name string       // the key in the source; "" for truthy
	text string       // the description of the key, for editors
	want []canon.Kind // the kinds that its operand may have; none means any
	// holds compares by a rule of equality. expected is what v equals by the loose rule only,
	// nil if it is nothing.
	holds func(equal equality, v, operand canon.Value) (held bool, expected *canon.Value)
}

// operators is the closed set of comparisons, in the order in which several operators of
// one variable are evaluated and written in the normal form.
var operators = []operator{
	{"equals", "The variable has this value", nil, equals},
	{"not_equals", "The variable has another value than this, or none", nil, notEquals},
	{"gt", "The variable is a number above this", number, ordered(func(a, b float64) bool { return a > b })},
	{"gte", "The variable is a number from this", number, ordered(func(a, b float64) bool { return a >= b })},
	{"lt", "The variable is a number below this", number, ordered(func(a, b float64) bool { return a < b })},
	{"lte", "The variable is a number up to this", number, ordered(func(a, b float64) bool { return a <= b })},
	{"contains", "The variable is a text that contains this text, or a list that contains this item", scalar, always(contains)},
	{"in", "The variable is one of these values", []canon.Kind{canon.Array}, in},
}

// operatorNames are the keys in the table of operators, in its order.
var operatorNames = namesOf(operators)

func namesOf(of []operator) []string {
	names := make([]string, len(of))
	for i, op := range of {
		names[i] = op.name
	}
	return names
}

// truthy is the test of a variable without an operator: it is true for all values but null,
// false, 0 and "". Lists and objects are truthy, empty ones included, as in JavaScript, for
// which such conditions were first written. It has no name, because the source and the
// normal form contain no operator for it.
var truthy = operator{holds: always(func(v, _ canon.Value) bool { return !slices.ContainsFunc(falsy, v.Equal) })}

// falsy lists the values that are not truthy. An absent variable has the value null.
var falsy = []canon.Value{{}, canon.OfBool(false), canon.OfInt(0), canon.OfString("")}

// Kinds of operands. An operand of another kind could never match and is rejected when the
// workflow is parsed. The kind of the variable is known only during a run.
var (
	number = []canon.Kind{canon.Number}
	scalar = []canon.Kind{canon.String, canon.Number, canon.Bool}
)

// always adapts a comparison that is the same under every rule of equality.
func always(holds func(v, operand canon.Value) bool) func(equality, canon.Value, canon.Value) (bool, *canon.Value) {
	return func(_ equality, v, operand canon.Value) (bool, *canon.Value) { return holds(v, operand), nil }
}

// equals compares with one value.
func equals(equal equality, v, operand canon.Value) (bool, *canon.Value) {
	switch equal(v)(operand) {
	case identical:
		return true, nil
	case alike:
		return true, &operand
	}
	return false, nil
}

// notEquals is the negation of equals: a loose match makes it false.
func notEquals(equal equality, v, operand canon.Value) (bool, *canon.Value) {
	held, expected := equals(equal, v, operand)
	return !held, expected
}

// in compares with each member of a list, with all of them strictly first.
func in(equal equality, v, list canon.Value) (held bool, expected *canon.Value) {
	compare := equal(v)
	for i := range list.Len() {
		switch item := list.Item(i); compare(item) {
		case identical:
			return true, nil
		case alike:
			if expected == nil {
				expected = &item
			}
		}
	}
	return expected != nil, expected
}

// ordered compares numbers only. A string such as "10" is not comparable, so the result is
// false in both directions.
func ordered(less func(a, b float64) bool) func(equality, canon.Value, canon.Value) (bool, *canon.Value) {
	return always(func(v, operand canon.Value) bool {
		return v.Kind() == canon.Number && operand.Kind() == canon.Number && less(v.Float(), operand.Float())
	})
}

// contains searches for a text in a text, or for an item in a list. It is false for
// objects, for which it would be ambiguous whether keys or values are searched.
func contains(v, operand canon.Value) bool {
	switch v.Kind() {
	case canon.String:
		return operand.Kind() == canon.String && strings.Contains(v.Text(), operand.Text())
	case canon.Array:
		held, _ := in(strictly, operand, v)
		return held
	}
	return false
}
