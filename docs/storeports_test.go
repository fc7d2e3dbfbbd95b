package docs

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// aboveStores are the packages that have a store as ports, however it is kept (docs/design.md#layers).
var aboveStores = []string{"cmd/", "infra/mcpserver/", "infra/httpserver/", "infra/consoleserver/", "infra/notifier/"}

// ofOneKind are the packages that know how a store is kept: in a directory, or in a database.
var ofOneKind = []string{"infra/filestore", "infra/folderstore", "infra/sessiontimes", "infra/watch", "infra/guardcache",
	"infra/payloadcache", "infra/diagnose", "infra/lock", "infra/pgstore", "infra/sharedstore"}

// namesKinds are the files above the stores that import such a package, with the reason.
var namesKinds = map[string]string{
	"cmd/waybill/cli/stores/stores.go":   "it opens the store",
	"cmd/waybill/cli/stores/database.go": "it opens a store in a database, unless the program is built without one",
	"cmd/waybill/cli/wire.go":            "it chooses the store",
	"cmd/waybill/cli/diagnosis/facts.go": "it counts the files that this process may open, which is no fact about a store",
	"cmd/waybill/schema/stored.go":       "it describes the control files of a store in a directory",
}

// storeEntries are names in the directory of a store that no other directory has.
var storeEntries = []string{"sessions", "store.json", "manifest.jsonl", "trash", "quarantine", "artifacts", "snapshots", "keys", "trust.json"}

// TestCommandsHaveAStoreAsPorts: outside of the file that chooses it, no command knows that a store is a directory: a store of
// another kind is an adapter and nothing else.
func TestCommandsHaveAStoreAsPorts(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		if !isAboveStores(s.file) {
			continue
		}
		for _, im := range s.imports {
			dir, _ := strings.CutPrefix(im, module)
			if !slices.ContainsFunc(ofOneKind, func(p string) bool { return dir == p || strings.HasPrefix(dir, p+"/") }) {
				continue
			}
			if used[s.file] = true; namesKinds[s.file] == "" {
				t.Errorf("%s imports %s: ask ports.Store, or a capability of it", s.file, dir)
			}
		}
	}
	for file := range namesKinds {
		if !used[file] {
			t.Errorf("%s imports no package of a kind of store: remove its reason", file)
		}
	}
}

func isAboveStores(file string) bool {
	return slices.ContainsFunc(aboveStores, func(p string) bool { return strings.HasPrefix(file, p) })
}

// TestCommandsNameNoFileOfAStore: no command builds the path of a file in a store.
func TestCommandsNameNoFileOfAStore(t *testing.T) {
	seen := 0
	for _, p := range parseTree(t) {
		if p.test || !isAboveStores(p.name) {
			continue
		}
		ast.Inspect(p.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isJoin(call) {
				return true
			}
			seen++
			for _, arg := range call.Args {
				if text, ok := arg.(*ast.BasicLit); ok && text.Kind == token.STRING {
					if name, _ := strconv.Unquote(text.Value); slices.Contains(storeEntries, name) {
						t.Errorf("%s: the path of %q in a store: ask ports.Store", p.fset.Position(call.Pos()), name)
					}
				}
			}
			return true
		})
	}
	if seen == 0 {
		t.Fatal("no path was looked at")
	}
}

// isJoin reports a call that joins the parts of a path.
func isJoin(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "Join" {
		return false
	}
	pkg, ok := f.X.(*ast.Ident)
	return ok && (pkg.Name == "filepath" || pkg.Name == "path")
}
