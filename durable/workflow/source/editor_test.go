package source

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// validate validates a value against a JSON Schema, as an editor would, and returns the first
// mismatch, "" for none. It supports the keywords that Schema uses and fails on others.
func validate(t *testing.T, root, s, v canon.Value, at string) string {
	for i := range s.Len() {
		arg := s.Item(i)
		if bad := keyword(t, root, s, s.Key(i), arg, v, at); bad != "" {
			return bad
		}
	}
	return ""
}

func keyword(t *testing.T, root, s canon.Value, name string, arg, v canon.Value, at string) string {
	length := float64(len([]rune(v.Text())))
	isNumber, isString, isArray, isObject := v.Kind() == canon.Number, v.Kind() == canon.String,
		v.Kind() == canon.Array, v.Kind() == canon.Object
	bad := false
	switch name {
	case "title", "description", "$schema", "$defs", "then":
	case "$ref":
		defs, _ := root.Get("$defs")
		target, ok := defs.Get(strings.TrimPrefix(arg.Text(), "#/$defs/"))
		if !ok {
			t.Fatalf("%s does not resolve", arg.Text())
		}
		return validate(t, root, target, v, at)
	case "type":
		kinds := []canon.Value{arg}
		if arg.Kind() == canon.Array {
			kinds = items(arg)
		}
		bad = !slices.ContainsFunc(kinds, func(k canon.Value) bool {
			return k.Text() == v.Kind().String() || k.Text() == "integer" && isNumber &&
				v.Float() == float64(int64(v.Float()))
		})
	case "const":
		bad = !arg.Equal(v)
	case "enum":
		bad = !slices.ContainsFunc(items(arg), v.Equal)
	case "minimum":
		bad = isNumber && v.Float() < arg.Float()
	case "maximum":
		bad = isNumber && v.Float() > arg.Float()
	case "minLength":
		bad = isString && length < arg.Float()
	case "maxLength":
		bad = isString && length > arg.Float()
	case "pattern":
		bad = isString && !regexp.MustCompile(arg.Text()).MatchString(v.Text())
	case "minItems":
		bad = isArray && float64(v.Len()) < arg.Float()
	case "maxItems":
		bad = isArray && float64(v.Len()) > arg.Float()
	case "uniqueItems":
		for i := range v.Len() {
			bad = bad || isArray && slices.ContainsFunc(items(v)[:i], v.Item(i).Equal)
		}
	case "items":
		for i := range v.Len() {
			if isArray {
				if m := validate(t, root, arg, v.Item(i), at+"/"+string(rune('0'+i%10))); m != "" {
					return m
				}
			}
		}
	case "required":
		for _, r := range items(arg) {
			if _, ok := v.Get(r.Text()); isObject && !ok {
				return at + " lacks " + r.Text()
			}
		}
	case "properties", "additionalProperties", "propertyNames":
		for i := range v.Len() {
			if !isObject {
				break
			}
			properties, _ := s.Get("properties")
			inner, known := properties.Get(v.Key(i))
			switch {
			case name == "propertyNames":
				inner = arg
				if m := validate(t, root, inner, canon.OfString(v.Key(i)), at+" key"); m != "" {
					return m
				}
				continue
			case name == "properties" && !known, name == "additionalProperties" && known:
				continue
			case name == "additionalProperties" && arg.Kind() == canon.Bool:
				if !arg.True() {
					return at + " has no " + v.Key(i)
				}
				continue
			case name == "additionalProperties":
				inner = arg
			}
			if m := validate(t, root, inner, v.Item(i), at+"/"+v.Key(i)); m != "" {
				return m
			}
		}
	case "anyOf", "allOf":
		var all []string
		for _, inner := range items(arg) {
			if m := validate(t, root, inner, v, at); m != "" {
				all = append(all, m)
			}
		}
		if len(all) == arg.Len() || name == "allOf" && len(all) > 0 {
			return strings.Join(all, "; ")
		}
	case "if":
		if then, _ := s.Get("then"); validate(t, root, arg, v, at) == "" {
			return validate(t, root, then, v, at)
		}
	default:
		t.Fatalf("the schema uses %q", name)
	}
	if bad {
		return at + ": " + name + " " + string(arg.JCS())
	}
	return ""
}

func items(v canon.Value) []canon.Value {
	out := make([]canon.Value, v.Len())
	for i := range out {
		out[i] = v.Item(i)
	}
	return out
}

// TestSchemaAcceptsValidFiles: the schema accepts all example files that Parse accepts.
func TestSchemaAcceptsValidFiles(t *testing.T) {
	schema, seen := Schema(nil), 0
	for _, pattern := range []string{"testdata/valid/*.yaml", "testdata/problems/warnings.yaml",
		"../../../testdata/workflows/*.json", "../../../testdata/workflows/*.y*ml",
		"../../../../shared/data/workrail/workflows/*.json"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			src, _ := Parse(name, SourceBundled, data)
			if !src.Valid {
				t.Errorf("%s is not valid", name)
			}
			if bad := validate(t, schema, schema, src.Root.Value, ""); bad != "" {
				t.Errorf("%s: %s", name, bad)
			}
			seen++
		}
	}
	if seen < 6 {
		t.Errorf("only %d files", seen)
	}
}

// TestSchemaRejectsInvalidFiles: the schema finds the mistakes that it can express.
func TestSchemaRejectsInvalidFiles(t *testing.T) {
	schema := Schema(nil)
	loop := func(config string) string {
		return `, {"id": "l", "type": "loop", "title": "L", "loop": {` + config +
			`}, "body": [{"id": "b", "title": "B", "prompt": "p"}]}`
	}
	for _, text := range []string{
		`{}`, `[]`, file(`, "stepz": []`, ""), file(`, "about": ""`, ""), file(`, "modelTier": "big"`, ""),
		file(`, "conditions": [{"kind": "x"}]`, ""),
		file("", `, {"id": "a"}`), file("", `, {"id": "a", "title": "A", "promt": "p"}`),
		file("", `, {"id": "a", "title": "A", "type": "loop"}`),
		file("", `, {"id": "a", "title": "A", "prompt": "p", "runCondition": {"equals": 1}}`),
		file("", `, {"id": "a", "title": "A", "prompt": "p", "runCondition": {"var": "x", "gt": "1"}}`),
		file("", `, {"id": "a", "title": "A", "prompt": "p", "validationCriteria": [{"type": "regex", "message": "m"}]}`),
		file("", `, {"id": "a", "title": "A", "prompt": "p", "validationCriteria": [[{"type": "contains", "value": "x", "message": "m"}]]}`),
		file("", `, {"id": "a", "title": "A", "prompt": "p", "requireConfirmation": {"kind": "robot"}}`),
		file("", `, {"id": "a", "title": "A", "action": {"kind": "command", "argv": []}}`),
		file("", `, {"id": "a", "title": "A", "action": {"kind": "command", "argv": ["a"], "env": {"A=": "x"}}}`),
		file("", loop(`"type": "for", "maxIterations": 3`)), file("", loop(`"type": "while", "maxIterations": 3`)),
		file("", loop(`"type": "for", "count": 1, "maxIterations": 0`)),
	} {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if src, _ := parse(text); validate(t, schema, schema, v, "") == "" || src.Valid {
			t.Errorf("accepted: %s", text)
		}
	}
}

func TestSchemaDescribesEveryKey(t *testing.T) {
	schema := Schema(nil)
	if !json.Valid(schema.JCS()) || !schema.Equal(Schema(nil)) {
		t.Fatal("the schema is not JSON, or differs between calls")
	}
	used := map[string]bool{}
	var visit func(s shape.Shape)
	visit = func(s shape.Shape) {
		switch s := s.(type) {
		case object:
			for _, f := range s.Fields {
				key := s.What + "." + f.Name
				if text := descriptions[key]; text == "" || strings.HasSuffix(text, ".") {
					t.Errorf("%s is described as %q", key, text)
				}
				used[key] = true
				visit(f.Shape)
			}
		case list:
			visit(s.Of)
		case byKind:
			for _, inner := range s {
				visit(inner)
			}
		case byTag:
			for _, inner := range s.Cases {
				visit(inner)
			}
		case dictionary:
			visit(s.Value)
		case loopConfig:
			visit(loopConfigShape)
		case loopWhile, loopCondition:
			visit(conditionRefShape)
		}
	}
	visit(workflowShape)
	for key := range descriptions {
		if !used[key] {
			t.Errorf("%s has a description but is not a key", key)
		}
	}
}

// TestSchemaHasPublishedKeys: the schema contains every key of the published schema.
func TestSchemaHasPublishedKeys(t *testing.T) {
	data, err := os.ReadFile(published(t, "workflow.schema.json")[0])
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := canon.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]bool{}
	properties(Schema(nil), func(key string) { ours[key] = true })
	n := 0
	properties(theirs, func(key string) {
		if n++; !ours[key] {
			t.Errorf("published key %q is not in the schema", key)
		}
	})
	if n < 100 {
		t.Errorf("only %d keys were checked", n)
	}
}

// properties visits all names under "properties", at any depth.
func properties(v canon.Value, visit func(string)) {
	for i := range v.Len() {
		if v.Kind() == canon.Object && v.Key(i) == "properties" {
			for j := range v.Item(i).Len() {
				visit(v.Item(i).Key(j))
			}
		}
		properties(v.Item(i), visit)
	}
}
