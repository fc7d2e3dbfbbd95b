package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/waybill/waybill/"

// TestEnumsListAllConstants: a constant that is missing here would make valid documents fail their
// schema.
func TestEnumsListAllConstants(t *testing.T) {
	for typ, values := range enums() {
		want := constantsOf(t, typ)
		if len(want) == 0 {
			continue // listed by a function in place of constants
		}
		var have []string
		for _, v := range values {
			have = append(have, v.(string))
		}
		slices.Sort(have)
		if !slices.Equal(have, want) {
			t.Errorf("%v: the enum is %q, the constants are %q", typ, have, want)
		}
	}
}

// constantsOf reads the values of a type's constants from its package's source.
func constantsOf(t *testing.T, typ reflect.Type) []string {
	dir := "../../" + strings.TrimPrefix(typ.PkgPath(), module)
	names, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v", dir, err)
	}
	var out []string
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != typ.Name() {
				return true
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok {
					s, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, s)
				}
			}
			return true
		})
	}
	slices.Sort(out)
	return out
}
