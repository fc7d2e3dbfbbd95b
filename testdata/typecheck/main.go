// Command typecheck checks the types of the packages and tests of a module for other systems,
// without compiling them:
//
//	go run ./testdata/typecheck linux/arm64 windows/amd64
//
// It prints what a compiler would refuse and exits with 1 if there is something. Of the packages
// that the module imports only the declarations are checked.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// listed is what 'go list -deps -test -json' prints of a package; see 'go help list'.
type listed struct {
	Dir, ImportPath, Name string
	GoFiles               []string
	ImportMap             map[string]string
	Module                *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

func main() {
	found := make([][]error, len(os.Args[1:]))
	var systems sync.WaitGroup
	for i, system := range os.Args[1:] {
		systems.Go(func() { found[i] = check(system) })
	}
	systems.Wait()
	failed := false
	for i, system := range os.Args[1:] {
		for _, err := range found[i] {
			fmt.Printf("%s: %v\n", system, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check returns what is wrong with the packages below the working directory for a system such as windows/amd64.
func check(system string) []error {
	name, arch, ok := strings.Cut(system, "/")
	sizes := types.SizesFor("gc", arch)
	if !ok || sizes == nil {
		return []error{errors.New("name a system and an architecture, such as windows/amd64")}
	}
	cmd := exec.Command("go", "list", "-deps", "-test", "-json=Dir,ImportPath,Name,GoFiles,ImportMap,Module,Error", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+name, "GOARCH="+arch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return []error{err}
	}
	c := checker{sizes: sizes, known: map[string]*types.Package{"unsafe": types.Unsafe}}
	for in := json.NewDecoder(out); ; {
		var p listed
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			c.found = append(c.found, err)
			break
		}
		c.add(p)
	}
	if err := cmd.Wait(); err != nil {
		c.found = append(c.found, fmt.Errorf("go list: %w", err))
	}
	if len(c.known) < 2 {
		c.found = append(c.found, errors.New("there are no packages"))
	}
	return c.found
}

// checker has the packages of one system that were checked. A package follows those that it imports.
type checker struct {
	sizes types.Sizes
	known map[string]*types.Package // by import path, as go list prints it
	found []error
}

// add checks a package.
func (c *checker) add(p listed) {
	if p.Error != nil {
		c.found = append(c.found, errors.New(p.Error.Err))
		return
	}
	if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // what go test makes: the main function of tests
		return
	}
	own := p.Module != nil && p.Module.Main
	names := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := parser.ParseFile(names, name, nil, parser.SkipObjectResolution)
		if err != nil {
			c.found = append(c.found, err)
			return
		}
		files = append(files, f)
	}
	conf := types.Config{Sizes: c.sizes, FakeImportC: true, IgnoreFuncBodies: !own, Importer: imports{c.known, p.ImportMap},
		Error: func(err error) {
			if own {
				c.found = append(c.found, err)
			}
		}}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")                   // "p [q.test]" is p compiled for the tests of q
	c.known[p.ImportPath], _ = conf.Check(path, names, files, nil) // errors were passed to Error
}

// imports finds the packages that one package imports.
type imports struct {
	known map[string]*types.Package
	names map[string]string // where they differ from what the source says
}

// Import implements types.Importer.
func (m imports) Import(path string) (*types.Package, error) {
	if name, ok := m.names[path]; ok {
		path = name
	}
	if p := m.known[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s was not listed", path)
}
