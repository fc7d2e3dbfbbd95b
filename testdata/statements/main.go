// Command statements counts the Go statements of checkouts, without tests and test
// doubles.
//
//	go run ./testdata/statements [-by-package] DIR ...
//
// It prints one line per checkout: the number of statements and the
// directory; with -by-package also one line per directory. A statement is
// every go/ast statement except blocks, empty statements and the clauses of
// switch and select. Lines are not counted, so that comments and formatting
// change nothing.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// doubles are the directories of test doubles, where they are and where they
// were.
var doubles = []string{"ports/porttest", "infra/memstore", "infra/crashfs"}

func main() {
	byPackage := flag.Bool("by-package", false, "print the number of each directory as well")
	flag.Parse()
	for _, root := range flag.Args() {
		counts, err := count(root)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		total := 0
		for _, n := range counts {
			total += n
		}
		if *byPackage {
			for _, dir := range slices.Sorted(maps.Keys(counts)) {
				fmt.Printf("%7d  %s\n", counts[dir], dir)
			}
		}
		fmt.Printf("%7d  %s\n", total, root)
	}
}

// count returns the number of statements by directory below root.
func count(root string) (map[string]int, error) {
	counts := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			hidden := rel != "." && strings.HasPrefix(d.Name(), ".")
			if hidden || d.Name() == "testdata" || slices.Contains(doubles, rel) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.BlockStmt, *ast.EmptyStmt, *ast.CaseClause, *ast.CommClause:
			case ast.Stmt:
				counts[filepath.ToSlash(filepath.Dir(rel))]++
			}
			return true
		})
		return nil
	})
	return counts, err
}
