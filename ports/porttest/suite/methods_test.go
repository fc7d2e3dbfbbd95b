package suite_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryMethodHasACase: each exported method of each interface of package ports has a row in idleMethods, which shows
// that a case fails if the method does nothing.
func TestEveryMethodHasACase(t *testing.T) {
	declared, err := portMethods(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(declared) < 80 {
		t.Fatalf("package ports has %d methods: they were not found", len(declared))
	}
	var shown []string
	for _, row := range idleMethods() {
		if slices.Contains(shown, row.method) {
			t.Errorf("%s has two rows", row.method)
		}
		shown = append(shown, row.method)
	}
	for _, method := range declared {
		if !slices.Contains(shown, method) {
			t.Errorf("%s has no case: add one to the suite, and a row to idleMethods that shows that the case fails without "+
				"the method", method)
		}
	}
	for _, method := range shown {
		if !slices.Contains(declared, method) {
			t.Errorf("%s is no method of a port", method)
		}
	}
}

// portMethods lists the methods that the interfaces of a package declare, as Interface.Method. Those of embedded
// interfaces are those of the interfaces.
func portMethods(dir string) (methods []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !spec.Name.IsExported() {
				return true
			}
			if port, ok := spec.Type.(*ast.InterfaceType); ok {
				for _, m := range port.Methods.List {
					for _, method := range m.Names {
						methods = append(methods, spec.Name.Name+"."+method.Name)
					}
				}
			}
			return true
		})
	}
	return methods, err
}
