package criteria

import (
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// FuzzCriteria checks that nothing panics, that the normal form of accepted criteria gives the
// same failures, that failures have messages and that Check is deterministic.
func FuzzCriteria(f *testing.F) {
	for _, seed := range []string{
		"[" + hasA + "," + hasB + "]", `{"or": [` + ifX + `, {"not": ` + unlessX + `}]}`,
		`{"type": "regex", "pattern": "(?<=a)(b|c)+\\1", "flags": "ims", "message": "m"}`,
		`{"type": "length", "min": 1, "max": 3, "message": "m"}`, `{"type": "schema"}`,
		`{"type": "regex", "pattern": "\\u00e9[\\u{1F600}-\\u{1F64F}]\\ud83d\\ude00", "flags": "guy", "message": "", "min": 3}`,
		`{"type": "schema", "schema": {"uniqueItems": true, "minProperties": 1, "maxProperties": 2}, "message": " "}`,
		`{"type": "schema", "schema": {"anyOf": [{"properties": {"a": {"items": false}}}, true], "pattern": "x"}, "message": "m"}`, `{"and": [], "x": 1}`,
	} {
		f.Add(seed, "A\nB", `{"x": true}`)
	}
	f.Fuzz(func(t *testing.T, text, notes, vars string) {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			return
		}
		context, _ := canon.Parse([]byte(vars))
		reports := 0
		c, ok := Parse(problem.SourceValue{Value: v}, func(p problem.Problem) {
			if p.Severity == problem.Error {
				reports++
			}
		})
		if ok != (reports == 0) {
			t.Fatalf("ok is %v with %d problems", ok, reports)
		}
		if !ok {
			return
		}
		again, err := Of(c.Value())
		if err != nil {
			t.Fatalf("the normal form %s is refused: %v", c.Value().JCS(), err)
		}
		first, second := c.Check(notes, context), again.Check(notes, context)
		if len(first) != len(second) {
			t.Fatalf("%v, by the normal form %v", first, second)
		}
		for i := range first {
			if first[i] != second[i] || first[i].Message == "" || first[i].Requirement == "" {
				t.Fatalf("failure %+v, by the normal form %+v", first[i], second[i])
			}
		}
		if len(first) > 0 && len(c.Requirements(context)) == 0 {
			t.Fatal("a failure is not among the requirements")
		}
	})
}
