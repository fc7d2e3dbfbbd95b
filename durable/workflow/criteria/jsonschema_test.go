package criteria

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// schemaCriteria returns criteria of one schema rule.
func schemaCriteria(t testing.TB, schema string) Criteria {
	t.Helper()
	return parsed(t, `{"type": "schema", "message": "Give data", "schema": `+schema+`}`)
}

func TestJSONSchema(t *testing.T) {
	for _, row := range []struct{ schema, notes, lacks string }{
		{`{}`, `null`, ``},
		{`true`, `{"a": 1}`, ``},
		{`false`, `1`, `the JSON value: expected nothing there, got 1`},
		{`{"type": "object"}`, `{}`, ``},
		{`{"type": "object"}`, `[]`, `the JSON value: expected object, got []`},
		{`{"type": ["object", "null"]}`, `null`, ``},
		{`{"type": ["object", "null"]}`, `1`, `the JSON value: expected object or null, got 1`},
		{`{"type": "integer"}`, `3.0`, ``},
		{`{"type": "integer"}`, `3.5`, `the JSON value: expected integer, got 3.5`},
		{`{"type": "number"}`, `3.5`, ``},
		{`{"type": "boolean"}`, `"x"`, `the JSON value: expected boolean, got "x"`},
		{`{"const": {"a": [1]}}`, `{"a": [1.0]}`, ``},
		{`{"const": 1}`, `2`, `the JSON value: expected 1, got 2`},
		{`{"enum": ["high", "low"]}`, `"low"`, ``},
		{`{"enum": ["high", "low"]}`, `"mid"`, `the JSON value: expected "high" or "low", got "mid"`},
		{`{"enum": ["high", "low"], "const": "low"}`, `"high"`, `the JSON value: expected "low", got "high"`},
		{`{"minimum": 1, "maximum": 3}`, `1`, ``},
		{`{"minimum": 1, "maximum": 3}`, `3`, ``},
		{`{"minimum": 1, "maximum": 3}`, `0.5`, `the JSON value: expected at least 1, got 0.5`},
		{`{"minimum": 1, "maximum": 3}`, `3.5`, `the JSON value: expected at most 3, got 3.5`},
		{`{"minimum": 1, "maximum": 3}`, `"text"`, ``},
		{`{"minLength": 2, "maxLength": 3}`, `"äö"`, ``},
		{`{"minLength": 2, "maxLength": 3}`, `"a"`, `the JSON value: expected at least 2 characters, got "a"`},
		{`{"minLength": 2, "maxLength": 3}`, `"abcd"`, `the JSON value: expected at most 3 characters, got "abcd"`},
		{`{"pattern": "^F-\\d+$"}`, `"F-12"`, ``},
		{`{"pattern": "^F-\\d+$"}`, `"F-"`, `the JSON value: expected text that matches ^F-\d+$, got "F-"`},
		{`{"pattern": "^\\u00e9$"}`, `"é"`, ``},
		{`{"pattern": "^\\u00e9$"}`, `"e"`, `the JSON value: expected text that matches ^\u00e9$, got "e"`},
		{`{"minItems": 1, "maxItems": 2, "items": {"type": "number"}}`, `[1, 2]`, ``},
		{`{"minItems": 1, "maxItems": 2}`, `[]`, `the JSON value: expected at least 1 items, got []`},
		{`{"minItems": 1, "maxItems": 2}`, `[1, 2, 3]`, `the JSON value: expected at most 2 items, got [1,2,3]`},
		{`{"items": {"type": "number"}}`, `[1, "x"]`, `/1: expected number, got "x"`},
		{`{"items": false}`, `[]`, ``},
		{`{"uniqueItems": true}`, `[1, "1", [1], {"a": 1}, null, false, 0, ""]`, ``},
		{`{"uniqueItems": true}`, `"aa"`, ``},
		{`{"uniqueItems": false}`, `[1, 1]`, ``},
		{`{"uniqueItems": true}`, `[1, 2, 1.0]`, `/2: expected an item unlike /0, got 1`},
		{`{"properties": {"a": {"uniqueItems": true}}}`, `{"a": [{"x": 1, "y": 2}, {"y": 2, "x": 1}]}`,
			`/a/1: expected an item unlike /a/0, got {"x":1,"y":2}`},
		{`{"minProperties": 1, "maxProperties": 2}`, `{"a": 1}`, ``},
		{`{"minProperties": 1, "maxProperties": 2}`, `{"a": 1, "b": 1}`, ``},
		{`{"minProperties": 1, "maxProperties": 2}`, `{}`, `the JSON value: expected at least 1 members, got {}`},
		{`{"minProperties": 1, "maxProperties": 2}`, `{"a": 1, "b": 1, "c": 1}`,
			`the JSON value: expected at most 2 members, got {"a":1,"b":1,"c":1}`},
		{`{"maxProperties": 0}`, `{}`, ``},
		{`{"maxProperties": 0}`, `{"a": 1}`, `the JSON value: expected at most 0 members, got {"a":1}`},
		{`{"minProperties": 1}`, `[]`, ``},
		{`{"required": ["a"]}`, `{"b": 1}`, `the JSON value: expected a member "a", got {"b":1}`},
		{`{"required": ["a"]}`, `[]`, ``},
		{`{"properties": {"b": {}, "a/b": {"type": "string"}}}`, `{"a/b": 1}`, `/a~1b: expected string, got 1`},
		{`{"properties": {"a": {}}, "additionalProperties": false}`, `{"a": 1}`, ``},
		{`{"properties": {"a": {}}, "additionalProperties": false}`, `{"a": 1, "b": 2}`,
			`/b: expected nothing there, got 2`},
		{`{"additionalProperties": {"type": "number"}}`, `{"b": "x"}`, `/b: expected number, got "x"`},
		{`{"properties": {"findings": {"items": {"required": ["severity"]}}}}`,
			`{"findings": [{"severity": "low"}, {}]}`, `/findings/1: expected a member "severity", got {}`},
		{`{"anyOf": [{"type": "number"}, {"type": "string"}]}`, `"x"`, ``},
		{`{"anyOf": [{"type": "number"}, {"type": "string"}]}`, `null`,
			`no alternative of anyOf fits; the JSON value: expected number, got null`},
		{`{"oneOf": [{"minimum": 1}, {"maximum": 3}]}`, `5`, ``},
		{`{"oneOf": [{"minimum": 1}, {"maximum": 3}]}`, `2`,
			`the JSON value: expected what fits one alternative of oneOf, got 2, which fits 2`},
		{`{"oneOf": [{"type": "null"}, {"type": "string"}]}`, `2`,
			`no alternative of oneOf fits; the JSON value: expected null, got 2`},
		{`{"allOf": [{"minimum": 1}, {"maximum": 3}]}`, `2`, ``},
		{`{"allOf": [{"minimum": 1}, {"maximum": 3}]}`, `4`, `the JSON value: expected at most 3, got 4`},
		{`{"not": {"type": "null"}}`, `1`, ``},
		{`{"not": {"type": "null"}}`, `null`, `the JSON value: expected what does not fit under not, got null`},
		{`{"title": "t", "description": "d", "$schema": "s", "$id": "i", "examples": [1], "default": 1, "format": "date", "$comment": "c"}`, `"no date"`, ``},
		{`{"type": "number"}`, `"` + strings.Repeat("ä", 100) + `"`, `the JSON value: expected number, got "` +
			strings.Repeat("ä", 59) + `…`},
		// Where the value is found.
		{`{"type": "number"}`, "  12\n", ``},
		{`{"type": "number"}`, "Here it is:\n\n```json\n12\n```\nand\n```json\n\"x\"\n```\n", ``},
		{`{"type": "number"}`, "- list\n  ```JSON\r\n  12\r\n  ```\r\n", ``},
		{`{"type": "number"}`, "```\n12\n```\n```json\n13\n```", ``},
		{`{"type": "number"}`, "The answer is 12.", "no JSON was found: write it alone, or between ```json and ```"},
		{`{"type": "number"}`, "```json\n12\n", "no JSON was found: write it alone, or between ```json and ```"},
		{`{"type": "number"}`, "```json\n```\n", "the ```json block is not JSON: "},
		{`{"type": "number"}`, "```json\n{\"a\": 1,}\n```\n", "the ```json block is not JSON: "},
		{`{}`, ``, "no JSON was found: write it alone, or between ```json and ```"},
	} {
		got := schemaCriteria(t, row.schema).Check(row.notes, canon.Value{})
		if row.lacks == "" {
			if got != nil {
				t.Errorf("%s refuses %q: %+v", row.schema, row.notes, got)
			}
			continue
		}
		if len(got) != 1 || !strings.HasPrefix(got[0].Message, "Give data ("+row.lacks) ||
			!strings.HasPrefix(got[0].Requirement, "Must be JSON, or hold it") {
			t.Errorf("%s of %q: got %+v, want %s", row.schema, row.notes, got, row.lacks)
		}
	}
	not := parsed(t, `{"not": {"type": "schema", "message": "No numbers", "schema": {"type": "number"}}}`)
	if f := not.Check("1", canon.Value{}); len(f) != 1 ||
		f[0] != (Failure{"No numbers", `Must not hold JSON that matches the schema: {"type":"number"} (No numbers)`}) {
		t.Errorf("under not: %+v", f)
	}
	if f := not.Check("words", canon.Value{}); f != nil {
		t.Errorf("under not: %+v", f)
	}
}

func TestJSONSchemaProblems(t *testing.T) {
	for _, row := range []struct{ schema, pointer, message, fix string }{
		{`1`, ``, "must be an object or true or false, got number", "type"},
		{`{"$ref": "#"}`, `/$ref`, `schema keyword "$ref" is not supported`, "additionalProperties, allOf"},
		{`{"exclusiveMinimum": 1}`, `/exclusiveMinimum`, "not supported", "minimum"},
		{`{"items": {"patternProperties": {}}}`, `/items/patternProperties`, "not supported", "minItems"},
		{`{"uniqueItems": "yes"}`, `/uniqueItems`, "true or false, got string", "Write true"},
		{`{"minProperties": -1}`, `/minProperties`, "whole number from 0", "such as 3"},
		{`{"maxProperties": "3"}`, `/maxProperties`, "whole number from 0", "such as 3"},
		{`{"minProperties": 2, "maxProperties": 1}`, ``, "minProperties 2 is more than maxProperties 1", "Exchange"},
		{`{"pattern": "\\u00e9(b"}`, `/pattern`, `missing closing ): \u00e9(b at character 1`, "RE2"},
		{`{"type": "int"}`, `/type`, `one of JSON's, got "int"`, "integer"},
		{`{"type": ["string", 1]}`, `/type/1`, "one of JSON's, got 1", "integer"},
		{`{"type": []}`, `/type`, "rejects every value", "Name a type"},
		{`{"type": null}`, `/type`, "got null", "integer"},
		{`{"enum": []}`, `/enum`, "at least one value", "List"},
		{`{"enum": ["a"], "const": "b"}`, `/enum`, "with const among them", "List"},
		{`{"minimum": "1"}`, `/minimum`, "minimum must be a number", "number"},
		{`{"minimum": 3, "maximum": 1}`, ``, "minimum 3 is more than maximum 1", "Exchange"},
		{`{"minLength": -1}`, `/minLength`, "whole number from 0", "such as 3"},
		{`{"maxItems": 1.5}`, `/maxItems`, "whole number from 0", "such as 3"},
		{`{"minItems": 2, "maxItems": 1}`, ``, "minItems 2 is more than maxItems 1", "Exchange"},
		{`{"minLength": 2, "maxLength": 1}`, ``, "minLength 2 is more than maxLength 1", "Exchange"},
		{`{"pattern": "a(?=b)"}`, `/pattern`, "lookahead ((?= at character 2)", "several rules"},
		{`{"pattern": 1}`, `/pattern`, "must be a string, got number", "RE2"},
		{`{"properties": []}`, `/properties`, "must be an object, got array", "name"},
		{`{"properties": {"a": 3}}`, `/properties/a`, "must be an object or true or false", "type"},
		{`{"required": "a"}`, `/required`, "must be a list of names", "name"},
		{`{"required": ["a", 1]}`, `/required/1`, "lists names, got number", "name"},
		{`{"additionalProperties": 1}`, `/additionalProperties`, "must be an object", "type"},
		{`{"anyOf": []}`, `/anyOf`, "at least one schema", "anyOf: ["},
		{`{"not": {"oneOf": 1}}`, `/not/oneOf`, "at least one schema", "oneOf: ["},
	} {
		rule := value(t, `{"type": "schema", "message": "m"}`).With("schema", value(t, row.schema))
		var found []problem.Problem
		c, ok := Parse(problem.SourceValue{Value: rule}, func(p problem.Problem) { found = append(found, p) })
		if ok || !c.IsZero() || len(found) != 1 {
			t.Errorf("%s: ok %v, found %v", row.schema, ok, found)
			continue
		}
		p := found[0]
		if p.Pointer != "/schema"+row.pointer || p.Line != 1 || !strings.Contains(p.Message, row.message) ||
			!strings.Contains(p.Fix, row.fix) {
			t.Errorf("%s: found %+v", row.schema, p)
		}
	}
}

// TestKeywordLists: no keyword is in both lists, and the lists are sorted, for messages.
func TestKeywordLists(t *testing.T) {
	for _, name := range annotations {
		if slices.Contains(schemaKeywords, name) {
			t.Errorf("%s is in both lists", name)
		}
	}
	if !slices.IsSorted(schemaTypes) || !slices.IsSorted(annotations) {
		t.Error("the lists are not sorted")
	}
}
