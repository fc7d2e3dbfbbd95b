package httpserver

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/openwop"
)

// TestTheDescriptionIsThatOfTheTable: each route with its parameters and answers, every reference resolves, and requests are
// closed while answers are open (docs/design.md#schema-closure).
func TestTheDescriptionIsThatOfTheTable(t *testing.T) {
	t.Parallel()
	s := serve(t)
	got := s.do("GET", "/v1/openapi.json", "", "Authorization: -")
	doc := got.json(t)
	if got.status != 200 || doc["openapi"] != "3.1.0" || doc["info"].(map[string]any)["version"] != "test" {
		t.Fatalf("%d %.200s", got.status, got.body)
	}
	if again := s.do("GET", "/v1/openapi.json", "", "If-None-Match: "+got.header.Get("ETag")); again.status != 304 {
		t.Errorf("If-None-Match: %d", again.status)
	}
	paths := doc["paths"].(map[string]any)
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	operations := 0
	for _, path := range paths {
		operations += len(path.(map[string]any))
	}
	if operations != len(table()) {
		t.Errorf("%d operations, %d routes", operations, len(table()))
	}
	for _, r := range table() {
		op, ok := paths[r.path].(map[string]any)[strings.ToLower(r.method)].(map[string]any)
		if !ok || op["operationId"] != r.id {
			t.Errorf("%s: %v", r.name(), op)
			continue
		}
		for _, a := range r.answers {
			if op["responses"].(map[string]any)[itoa(a.status)] == nil {
				t.Errorf("%s: no answer %d", r.name(), a.status)
			}
		}
		for _, o := range r.refusals {
			text := fmt.Sprint(op["responses"].(map[string]any)[itoa(o.status)])
			if !strings.Contains(text, string(o.code)) || !strings.Contains(text, o.when) {
				t.Errorf("%s: no refusal %s", r.name(), o.code)
			}
		}
		if r.body != nil {
			if named, ok := schemas[schemaName(r.body.form)].(map[string]any); !ok || named["additionalProperties"] == nil {
				t.Errorf("%s: the request is open: %v", r.name(), named)
			}
		}
	}
	walk(doc, func(m map[string]any) {
		if ref, ok := m["$ref"].(string); ok && schemas[strings.TrimPrefix(ref, "#/components/schemas/")] == nil {
			t.Errorf("%s does not resolve", ref)
		}
	})
	if open := schemas["Snapshot"].(map[string]any); open["additionalProperties"] != nil {
		t.Errorf("the answer is closed: %v", open)
	}
	if _, err := json.Marshal(schemas[schemaName(reflect.TypeFor[openwop.Snapshot]())]); err != nil {
		t.Error(err)
	}
}

// walk visits all objects of a document.
func walk(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
		for _, m := range v {
			walk(m, visit)
		}
	case []any:
		for _, m := range v {
			walk(m, visit)
		}
	}
}
