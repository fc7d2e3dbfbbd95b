package docs

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What one reader can hold in their head. There are no exceptions: a file or a
// function that needs one has a second idea in it.
const (
	fileLinesMax         = 600
	functionLinesMax     = 80
	packageLinesMax      = 3600 // without tests
	typeMethodsMax       = 40
	exportedDocumentedOf = 95 // percent
)

// parsed is one Go file of the tree with what the checks of the structure read.
type parsed struct {
	name  string // from the repository's root
	test  bool
	lines int
	fset  *token.FileSet
	file  *ast.File
}

func parseTree(t *testing.T) (out []parsed) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel("..", name)
		out = append(out, parsed{filepath.ToSlash(rel), strings.HasSuffix(name, "_test.go"),
			bytes.Count(src, []byte("\n")), fset, f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 100 {
		t.Fatalf("only %d Go files were found", len(out))
	}
	return out
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	for _, p := range parseTree(t) {
		if p.lines > fileLinesMax {
			t.Errorf("%s has %d lines: want at most %d", p.name, p.lines, fileLinesMax)
		}
		if p.test {
			continue // a table of cases may be as long as there are cases
		}
		ast.Inspect(p.file, func(n ast.Node) bool {
			var name string
			switch f := n.(type) {
			case *ast.FuncDecl:
				name = f.Name.Name
			case *ast.FuncLit:
				name = "a function value"
			default:
				return true
			}
			from, to := p.fset.Position(n.Pos()).Line, p.fset.Position(n.End()).Line
			if lines := to - from + 1; lines > functionLinesMax {
				t.Errorf("%s:%d: %s has %d lines: want at most %d", p.name, from, name, lines, functionLinesMax)
			}
			return true
		})
	}
}

// packageLinesMore are the limits of packages that are one thing, with the reason.
var packageLinesMore = map[string]int{
	"durable/redact": 3900, // one scanner: all its parts share the text, the classes of bytes and what is pending
}

// TestPackagesAndTypesAreSmall: a package can be read in an afternoon, and a type in one sitting.
func TestPackagesAndTypesAreSmall(t *testing.T) {
	lines, methods := map[string]int{}, map[string]int{}
	for _, p := range parseTree(t) {
		if p.test {
			continue
		}
		dir := path.Dir(p.name)
		lines[dir] += p.lines
		for _, d := range p.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[dir+" "+receiverType(f.Recv.List[0].Type)]++
			}
		}
	}
	for dir, n := range lines {
		if most := max(packageLinesMax, packageLinesMore[dir]); n > most {
			t.Errorf("%s has %d lines without tests; at most %d", dir, n, most)
		}
	}
	for name, n := range methods {
		if n > typeMethodsMax {
			t.Errorf("%s has %d methods; at most %d", name, n, typeMethodsMax)
		}
	}
}

// receiverType is the name of the type of a receiver.
func receiverType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverType(e.X)
	case *ast.IndexExpr:
		return receiverType(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

func TestPackagesAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, p := range parseTree(t) {
		dir := path.Dir(p.name)
		documented[dir] = documented[dir] || len(strings.Fields(p.file.Doc.Text())) > 4
	}
	for _, dir := range slices.Sorted(maps.Keys(documented)) {
		if !documented[dir] {
			t.Errorf("package %s does not say what it is for", dir)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	all, bare := 0, []string{}
	for _, p := range parseTree(t) {
		if p.test {
			continue
		}
		for _, decl := range p.file.Decls {
			exported(decl, func(name *ast.Ident, doc string) {
				all++
				if strings.TrimSpace(doc) == "" {
					bare = append(bare, p.fset.Position(name.Pos()).String()+" "+name.Name)
				}
			})
		}
	}
	if all < 500 {
		t.Fatalf("only %d exported names were found", all)
	}
	if done := 100 * (all - len(bare)) / all; done < exportedDocumentedOf {
		t.Errorf("%d%% of %d exported names are documented: want %d%%; these are not:\n%s", done, all,
			exportedDocumentedOf, strings.Join(bare, "\n"))
	}
}

// exported gives each exported name of a declaration with its comment:
// beside it, above it, or, for the members of a group, above the group.
func exported(decl ast.Decl, each func(*ast.Ident, string)) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && exportedReceiver(d) {
			each(d.Name, d.Doc.Text())
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					each(s.Name, s.Doc.Text()+s.Comment.Text()+typeGroup(d))
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						each(name, s.Doc.Text()+s.Comment.Text()+d.Doc.Text())
					}
				}
			}
		}
	}
}

// typeGroup: above a type that stands alone, the comment belongs to the declaration.
func typeGroup(d *ast.GenDecl) string {
	if d.Lparen.IsValid() {
		return ""
	}
	return d.Doc.Text()
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch r := t.(type) {
		case *ast.StarExpr:
			t = r.X
		case *ast.IndexExpr:
			t = r.X
		case *ast.IndexListExpr:
			t = r.X
		case *ast.Ident:
			return r.IsExported()
		default:
			return false
		}
	}
}

var architecturePath = regexp.MustCompile(
	"`((?:cmd|durable|ports|infra|projections|testdata|docs)(?:/[A-Za-z0-9_.*-]+)*/?)`")

// TestArchitecturePathsExist: every path that docs/architecture.md names exists, and
// every package of the tree is named.
func TestArchitecturePathsExist(t *testing.T) {
	page, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range architecturePath.FindAllSubmatch(page, -1) {
		name := strings.TrimSuffix(string(m[1]), "/")
		named[name] = true
		if found, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(name))); err != nil || len(found) == 0 {
			t.Errorf("docs/architecture.md names %s, which does not exist", name)
		}
	}
	if len(named) < 50 {
		t.Errorf("only %d paths were found in docs/architecture.md", len(named))
	}
	for _, p := range parseTree(t) {
		dir := path.Dir(p.name)
		above := dir
		for strings.Contains(above, "/") && !named[above] {
			above = path.Dir(above) // a package inside another's folder is that one's business
		}
		if !named[above] || above != dir && !strings.Contains(above, "/") {
			named[dir] = true // say it once
			t.Errorf("docs/architecture.md does not name the package %s", dir)
		}
	}
}

var layersInPage = regexp.MustCompile(`(?s)(<!-- layers: [^\n]*-->\n).*?(<!-- end of layers -->)`)

// TestArchitectureHasTheLayers: the table of layers in the page is that of
// architecture_test.go. With -update it is written.
func TestArchitectureHasTheLayers(t *testing.T) {
	page, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "| | group | packages |\n| --- | --- | --- |\n"
	for i, row := range layers {
		table += fmt.Sprintf("| %d | %s | `%s` |\n", i+1, row.group, strings.Join(row.packages, "` `"))
	}
	want := layersInPage.ReplaceAll(page, []byte("${1}"+table+"${2}"))
	if formatUpdating() {
		if err := os.WriteFile("architecture.md", want, 0o644); err != nil {
			t.Fatal(err)
		}
		page = want
	}
	if !bytes.Equal(page, want) || !layersInPage.Match(page) {
		t.Error("the layers in docs/architecture.md are not those of architecture_test.go; run: go test ./docs -run " +
			"Architecture -update")
	}
}
