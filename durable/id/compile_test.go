package id_test

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Ids cannot be made without Parse or a derivation: such code does not compile. The snippets
// are type-checked against the files of the package, so that none of them is in the tree.
func TestIDsCannotBeBuiltWithoutParse(t *testing.T) {
	// A program that was built with -trimpath does not know where the standard library is.
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		build.Default.GOROOT = strings.TrimSpace(string(root))
	}
	pkg := &checker{fset: token.NewFileSet()}
	pkg.self = pkg.check(t, "github.com/waybill/waybill/durable/id", pkg.parseDir(t, "."))
	tests := []struct{ name, body, want string }{
		{"from text", `var _ = id.Run("run_x")`, "cannot convert"},
		{"from a text variable", `var s string; var _ = id.Session(s)`, "cannot convert"},
		{"from another kind", `var n id.Node; var _ = id.Run(n)`, "cannot convert"},
		{"assigned across kinds", `var n id.Node; var _ id.Run = n`, "cannot use"},
		{"by a field", `var _ = id.Run{raw: [17]byte{}}`, "cannot refer to unexported field raw"},
		{"by position", `var _ = id.Run{[17]byte{}}`, "unexported field"},
		{"from another struct type", `var _ = id.Run(struct{ raw [17]byte }{})`, "cannot convert"},
		{"of another kind type", `type k struct{}; func (k) prefix() string { return "run" }; var _ id.ID[k]`,
			"does not satisfy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := pkg.snippet(t, "package x; import \""+pkg.self.Path()+"\"; "+tt.body)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	// Control: the checker finds the package, and accepts valid code.
	if err := pkg.snippet(t, `package x; import "`+pkg.self.Path()+
		`"; var _, _ = id.ParseRun("run_x"); var _ id.Run`); err != nil {
		t.Errorf("valid code does not compile: %v", err)
	}
}

type checker struct {
	fset *token.FileSet
	self *types.Package
}

func (c *checker) parseDir(t *testing.T, dir string) (files []*ast.File) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(c.fset, dir+"/"+name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	return files
}

func (c *checker) check(t *testing.T, path string, files []*ast.File) *types.Package {
	pkg, err := (&types.Config{Importer: c}).Check(path, c.fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

func (c *checker) snippet(t *testing.T, source string) error {
	f, err := parser.ParseFile(c.fset, "snippet.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = (&types.Config{Importer: c}).Check("x", c.fset, []*ast.File{f}, nil)
	return err
}

// Import implements types.Importer for the package itself, a stub of package derive, and the
// standard library.
func (c *checker) Import(path string) (*types.Package, error) {
	if c.self != nil && path == c.self.Path() {
		return c.self, nil
	}
	if strings.HasSuffix(path, "/durable/derive") {
		f, err := parser.ParseFile(c.fset, "derive.go",
			"package derive; func Bytes16(string, ...string) (b [16]byte) { return }", 0)
		if err != nil {
			return nil, err
		}
		return new(types.Config).Check(path, c.fset, []*ast.File{f}, nil)
	}
	return importer.ForCompiler(c.fset, "source", nil).Import(path)
}
