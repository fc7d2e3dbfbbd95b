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

// TestClosedSetsAreDescribed: a type of its own for a text stands for a closed set,
// and its schema names the members.
func TestClosedSetsAreDescribed(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(typ reflect.Type) {
		if seen[typ] {
			return
		}
		seen[typ] = true
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				if f := typ.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
					look(f.Type)
				}
			}
		case reflect.String:
			if s := schema.Of(typ); typ.PkgPath() != "" && s.Enum == nil && s.Pattern == "" {
				t.Errorf("%v is no closed set to its schema", typ)
			}
		}
	}
	for _, typ := range documentTypes() {
		look(typ)
	}
	for _, p := range append(event.Domain.Payloads(), audit.Table.Payloads()...) {
		look(reflect.TypeOf(p))
	}
	look(reflect.TypeFor[compile.Document]())
	look(reflect.TypeOf(snapshot.Shape()))
}
