package schema

import (
	"reflect"
	"testing"

	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/infra/schema"
)

// TestStringTypesHaveEnumOrPattern: a named string type is a closed set or an id, and its
// schema must list the members or the pattern.
func TestStringTypesHaveEnumOrPattern(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var check func(reflect.Type)
	check = func(typ reflect.Type) {
		if seen[typ] {
			return
		}
		seen[typ] = true
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			check(typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				if f := typ.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
					check(f.Type)
				}
			}
		case reflect.String:
			if s := schema.Of(typ); typ.PkgPath() != "" && s.Enum == nil && s.Pattern == "" {
				t.Errorf("schema of %v has neither enum nor pattern", typ)
			}
		}
	}
	for _, data := range documents() {
		check(reflect.TypeOf(data))
	}
	for _, p := range append(event.Domain.Payloads(), audit.Table.Payloads()...) {
		check(reflect.TypeOf(p))
	}
	check(reflect.TypeFor[compile.Document]())
	check(reflect.TypeOf(snapshot.FileValue()))
}
