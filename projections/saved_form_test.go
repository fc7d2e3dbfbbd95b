package projections_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/projections"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestFormOfASavedFold: what a fold holds may change only together with the number
// of the form it is saved in, and a new member of a node wants a place in its line.
func TestFormOfASavedFold(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "form %d\n", projections.SavedFormat)
	seen := map[reflect.Type]bool{}
	spell(&b, reflect.TypeFor[projections.Fold](), seen)
	const name = "testdata/saved_form.txt"
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("what a fold holds is not what %s says. Raise SavedFormat if a version with the old one was "+
			"released, see to nodeline.go, and run with -update:\n%s", name, b.String())
	}
}

func spell(b *strings.Builder, t reflect.Type, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] || t.PkgPath() == "" {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		if f.IsExported() {
			fmt.Fprintf(b, "%s.%s %s %s\n", t.Name(), f.Name, f.Type, f.Tag.Get("json"))
		}
	}
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			spell(b, t.Field(i).Type, seen)
		}
	}
}
