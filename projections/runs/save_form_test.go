package runs_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/projections/runs"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The members of a fold may change only together with SavedFormat, and a new member of Node needs a
// field in its line.
func TestSavedFoldForm(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "form %d\n", runs.SavedFormat)
	seen := map[reflect.Type]bool{}
	appendFields(&b, reflect.TypeFor[runs.Fold](), seen)
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
		t.Errorf("the members of a fold differ from %s. Raise SavedFormat if a version with the old one was "+
			"released, update nodeline.go, and run with -update:\n%s", name, b.String())
	}
}

func appendFields(b *strings.Builder, t reflect.Type, seen map[reflect.Type]bool) {
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
			appendFields(b, t.Field(i).Type, seen)
		}
	}
}
