package condition_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// A condition is parsed once, with all of its problems reported, and evaluated for any
// context.
func ExampleParse() {
	source, _ := canon.Parse([]byte(
		`{"or": [{"var": "review.open", "gt": 0}, {"var": "risk", "in": ["High", "Medium"]}]}`))
	c, ok := condition.Parse(problem.SourceValue{Value: source}, func(p problem.Problem) { fmt.Println(p.Message) })
	for _, context := range []string{`{}`, `{"review": {"open": 2}}`, `{"risk": "Low"}`} {
		vars, _ := canon.Parse([]byte(context))
		fmt.Println(ok, c.Eval(vars), c.Missing(vars))
	}
	mistaken, _ := canon.Parse([]byte(`{"var": "risk", "equal": "High"}`))
	condition.Parse(problem.SourceValue{Value: mistaken}, func(p problem.Problem) { fmt.Println(p.Pointer, p.Message) })
	// Output:
	// true false [review.open risk]
	// true true [risk]
	// true false [review.open]
	// /equal unknown condition key "equal"
}
