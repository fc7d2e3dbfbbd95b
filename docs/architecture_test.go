// Package docs holds the tests that keep the documentation and the shape of the
// code true. It has no code of its own.
package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/waybill/waybill/"

// layer is one row of the import table: packages of one group that may import packages
// of their own row and of every row above it in the table, directly.
type layer struct {
	group    string   // the folder, or "ground" for the packages directly under durable/
	packages []string // folders from the repository's root; a prefix covers the packages below it
}

// layers is the direction of imports as data, bottom up. The longest prefix decides.
var layers = []layer{
	{"ground", []string{"durable/limits", "durable/derive", "durable/pattern", "durable/fault", "durable/sorting"}},
	{"ground", []string{"durable/invisible"}},
	{"ground", []string{"durable/canon", "durable/id", "durable/reason"}},
	{"ground", []string{"durable/paging", "durable/period", "durable/difference"}},
	{"ground", []string{"durable/problem", "durable/redact"}},
	{"ground", []string{"durable/consent", "durable/redact/faults"}},
	{"log", []string{"durable/log/event"}},
	{"log", []string{"durable/log/manifest", "durable/log/audit"}},
	{"log", []string{"durable/log/idempotency"}},
	{"store", []string{"durable/store/config", "durable/store/trust", "durable/store/imported",
		"durable/store/retention", "durable/store/doctor", "durable/store/sources", "durable/store/httpkeys",
		"durable/store/notify"}},
	{"workflow", []string{"durable/workflow/builtin", "durable/workflow/commandlint", "durable/workflow/nearest", "durable/workflow/yaml"}},
	{"workflow", []string{"durable/workflow/places", "durable/workflow/shape", "durable/workflow/starter"}},
	{"workflow", []string{"durable/workflow/condition", "durable/workflow/contract", "durable/workflow/criteria", "durable/workflow/hoststep", "durable/workflow/keyhints"}},
	{"workflow", []string{"durable/workflow/placeholder"}},
	{"workflow", []string{"durable/workflow/promptref"}},
	{"workflow", []string{"durable/workflow/source"}},
	{"workflow", []string{"durable/workflow/compile"}},
	{"workflow", []string{"durable/workflow/catalog", "durable/workflow/delegation", "durable/workflow/lookup", "durable/workflow/unfilled", "durable/workflow/workflowtest"}},
	{"openwop", []string{"durable/openwop"}},
	{"learning", []string{"durable/learning/feedback", "durable/learning/proposal", "durable/learning/installable",
		"durable/learning/similar"}},
	{"learning", []string{"durable/learning/capabilities"}},
	{"run", []string{"durable/run/decision"}},
	{"run", []string{"durable/run/snapshot", "durable/run/command", "durable/run/host", "durable/run/resume", "durable/run/token",
		"durable/run/testreport", "durable/run/trailer", "durable/run/wait"}},
	{"run", []string{"durable/run/check", "durable/run/choices", "durable/run/interrupt"}},
	{"run", []string{"durable/run/interpreter", "durable/run/prompt"}},
	{"run", []string{"durable/run/advance"}},
	{"run", []string{"durable/run/redrive"}},
	{"guard", []string{"durable/guard"}},
	{"travel", []string{"durable/travel/bundle", "durable/travel/rewrite"}},
	{"projections", []string{"projections/markdown", "projections/markup", "projections/runs", "projections/annotations", "projections/diff", "projections/audit",
		"projections/proposals", "projections/wire"}},
	{"ports", []string{"ports"}},
	{"ports", []string{"ports/porttest/mutant", "ports/porttest/pgtest"}},
	{"ports", []string{"ports/porttest/fixture", "ports/porttest/openwoptest", "ports/porttest/pagetest", "ports/porttest/sample"}},
	{"ports", []string{"ports/porttest/suite"}},
	{"ports", []string{"ports/porttest/adapters"}},
	{"engine", []string{"durable/engine/compact", "durable/engine/sealed", "durable/engine/origin"}},
	{"engine", []string{"durable/engine/index"}},
	{"engine", []string{"durable/engine/handed", "durable/engine/idempotency", "durable/engine/ledger", "durable/engine/session"}},
	{"engine", []string{"durable/engine/lineage", "durable/engine/startkey", "durable/engine/steplist", "durable/engine/submitted", "durable/engine/warning"}},
	{"engine", []string{"durable/engine", "durable/engine/settings"}},
	{"engine", []string{"durable/engine/candidates", "durable/engine/lines", "durable/engine/openruns", "durable/engine/replay", "durable/engine/views", "durable/engine/verify", "durable/engine/learning",
		"durable/engine/trial", "durable/engine/wire"}},
	{"engine", []string{"durable/engine/commits", "durable/engine/compare", "durable/engine/hosting", "durable/engine/inbox", "durable/engine/interrupts", "durable/engine/lists", "durable/engine/report", "durable/engine/travel", "durable/engine/unattended", "durable/engine/upkeep"}},
	{"engine", []string{"durable/engine/notice", "durable/engine/seams", "durable/engine/working"}},
	{"pages", []string{"durable/pages"}},
	{"perform", []string{"durable/perform"}},
	{"infra", []string{"infra/osfs", "infra/clientfile", "infra/controlfile", "infra/cron", "infra/discovery", "infra/gitcommits", "infra/gitobserver",
		"infra/identity", "infra/lease", "infra/loopback", "infra/memstore", "infra/process", "infra/schema", "infra/sessiontimes", "infra/terminal", "infra/watch", "infra/workqueue"}},
	{"infra", []string{"infra/lock", "infra/bundlefile", "infra/consoleserver", "infra/httpserver", "infra/mcpserver", "infra/notifier", "infra/pinfile", "ports/porttest/crashfs",
		"ports/porttest/enginetest", "ports/porttest/hosts"}},
	{"infra", []string{"infra/filestore/layout", "infra/machinefile", "infra/pgstore/db"}},
	{"infra", []string{"infra/filestore/disk", "infra/pgstore/rows"}},
	{"infra", []string{"infra/filestore/read", "infra/pgstore/logs"}},
	{"infra", []string{"infra/filestore/arrive", "infra/filestore/commit", "infra/filestore/inspect"}},
	{"infra", []string{"infra/filestore/repair", "infra/pgstore/repair"}},
	{"infra", []string{"infra/filestore/upkeep"}},
	{"infra", []string{"infra/filestore", "infra/diagnose", "infra/pgstore"}},
	{"infra", []string{"infra/guardcache", "infra/payloadcache", "infra/sshkeygen", "ports/porttest/big", "ports/porttest/storetest"}},
	{"infra", []string{"infra/folderstore", "infra/sharedstore"}},
	{"cmd", []string{"cmd/waybill/cli/page", "cmd/waybill/cli/document", "cmd/waybill/cli/stores", "cmd/waybill/cli/synonym"}},
	{"cmd", []string{"cmd/waybill/cli/consent", "cmd/waybill/cli/render", "cmd/waybill/cli/stream"}},
	{"cmd", []string{"cmd/waybill/work/runview"}},
	{"cmd", []string{"cmd/waybill/cli"}},
	{"cmd", []string{"cmd/waybill/cli/complete", "cmd/waybill/cli/current", "cmd/waybill/cli/diagnosis", "cmd/waybill/cli/progress", "cmd/waybill/cli/unattended"}},
	{"cmd", []string{"cmd/waybill/about", "cmd/waybill/console", "cmd/waybill/guard", "cmd/waybill/learning", "cmd/waybill/mcp", "cmd/waybill/report", "cmd/waybill/runs",
		"cmd/waybill/schema", "cmd/waybill/serve", "cmd/waybill/travel", "cmd/waybill/upkeep", "cmd/waybill/work", "cmd/waybill/worker", "cmd/waybill/workflows"}},
	{"cmd", []string{"cmd/waybill"}},
}

// pure lists what durable/ and projections/ must not reach for: everything that
// differs from one machine or moment to another (docs/design.md#layers).
var pure = []string{"os", "net", "time", "log", "math/rand", "crypto/rand", "syscall", "io/ioutil", "plugin",
	"database/sql", "embed"}

// embedding lists the packages of the core whose texts are files beside their code. Embedded
// files are constants of the binary, equal on every machine and at every moment.
var embedding = []string{"durable/workflow/builtin", "durable/workflow/starter", "durable/guard", "durable/pages"}

// owners: a dependency is imported by one package of ours, so that leaving it is
// one package's work. "DIR/..." owns for a folder and the packages below it (decision 0041).
var owners = map[string][]string{
	"github.com/gowebpki/jcs":                {"durable/canon"},
	"github.com/zeebo/blake3":                {"durable/derive"},
	"github.com/gofrs/flock":                 {"infra/lock"},
	"github.com/jackc/pgx/v5":                {"infra/pgstore/db"},
	"github.com/spf13/pflag":                 {"cmd/waybill/cli"}, // cobra's own flags
	"github.com/spf13/cobra":                 {"cmd/waybill/..."},
	"github.com/rs/zerolog":                  {"cmd/waybill/cli"},
	"go.yaml.in/yaml/v3":                     {"durable/workflow/yaml"},
	"golang.org/x/crypto":                    {"durable/consent/..."},
	"github.com/hiddeco/sshsig":              {"durable/consent/..."},
	"golang.org/x/net":                       {"ports/porttest/pagetest"},
	"golang.org/x/sync":                      {"durable/engine/verify", "infra/filestore/inspect"}, // decision 0044
	"golang.org/x/sys":                       {"infra/osfs"},
	"golang.org/x/text":                      {"durable/run/resume", "cmd/waybill/cli/page"},
	"golang.org/x/term":                      {"infra/terminal"},
	"github.com/clipperhouse/displaywidth":   {"cmd/waybill/cli/page"},
	"github.com/modelcontextprotocol/go-sdk": {"infra/mcpserver"},
	"github.com/google/jsonschema-go": {"infra/mcpserver", "infra/schema",
		"ports/porttest/openwoptest"},
	"github.com/rogpeppe/go-internal/diff":       {"durable/difference"},
	"github.com/rogpeppe/go-internal/testscript": {},
	"github.com/netresearch/go-cron":             {"infra/cron"},
	"pgregory.net/rapid":                         {},
	"github.com/creack/pty":                      {},
}

type sourceFile struct {
	dir, file string
	imports   []string
}

func sources(t *testing.T) []sourceFile {
	t.Helper()
	var out []sourceFile
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel("..", path)
		s := sourceFile{dir: filepath.ToSlash(filepath.Dir(rel)), file: filepath.ToSlash(rel)}
		for _, im := range f.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			s.imports = append(s.imports, p)
		}
		out = append(out, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func layerOf(dir string) int {
	best, at := "", -1
	for i, row := range layers {
		for _, p := range row.packages {
			if (dir == p || strings.HasPrefix(dir, p+"/")) && len(p) > len(best) {
				best, at = p, i
			}
		}
	}
	return at
}

func TestImportsPointDownwards(t *testing.T) {
	for _, s := range sources(t) {
		own := layerOf(s.dir)
		if own < 0 && len(s.imports) == 0 && strings.HasSuffix(s.file, "/doc.go") {
			continue // the documentation of a group
		}
		if own < 0 {
			t.Errorf("%s: package %s is in no layer: add it to the table", s.file, s.dir)
			continue
		}
		for _, im := range s.imports {
			dir, ours := strings.CutPrefix(im, module)
			if ours && layerOf(dir) > own {
				t.Errorf("%s imports %s, which is in a layer above it", s.file, dir)
			}
		}
	}
}

func TestTheCoreIsPure(t *testing.T) {
	seen := 0
	for _, s := range sources(t) {
		if !strings.HasPrefix(s.dir, "durable/") && !strings.HasPrefix(s.dir, "projections/") {
			continue
		}
		seen++
		for _, im := range s.imports {
			if im == "embed" && slices.Contains(embedding, s.dir) {
				continue
			}
			for _, bad := range pure {
				if im == bad || strings.HasPrefix(im, bad+"/") {
					t.Errorf("%s imports %s", s.file, im)
				}
			}
		}
	}
	if seen == 0 {
		t.Fatal("no source was looked at")
	}
}

func TestADependencyHasOneOwner(t *testing.T) {
	for _, s := range sources(t) {
		for _, im := range s.imports {
			first, _, _ := strings.Cut(im, "/")
			if !strings.Contains(first, ".") || strings.HasPrefix(im, module) {
				continue
			}
			owned := false
			for dep, dirs := range owners {
				if im == dep || strings.HasPrefix(im, dep+"/") {
					owned = slices.ContainsFunc(dirs, func(owner string) bool { return owns(owner, s.dir) })
				}
			}
			if !owned {
				t.Errorf("%s imports %s, which this package does not own", s.file, im)
			}
		}
	}
}

// owns reports whether a row of owners covers a package.
func owns(owner, dir string) bool {
	root, below := strings.CutSuffix(owner, "/...")
	return dir == root || below && strings.HasPrefix(dir, root+"/")
}

const program = "cmd/waybill"

// commandPackage is the folder of the command package that a package belongs to, "" for
// the program's main package, for what the commands share, and for all others.
func commandPackage(dir string) string {
	rest, in := strings.CutPrefix(dir, program+"/")
	name, _, _ := strings.Cut(rest, "/")
	if !in || name == "cli" {
		return ""
	}
	return program + "/" + name
}

// TestCommandsDoNotImportEachOther: packages of one row may import each other, but what two
// command packages need belongs in what they share.
func TestCommandsDoNotImportEachOther(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		own := commandPackage(s.dir)
		seen[own] = true
		for _, im := range s.imports {
			dir, ours := strings.CutPrefix(im, module)
			if other := commandPackage(dir); ours && s.dir != program && other != "" && other != own {
				t.Errorf("%s imports %s: move what both need to %s/cli", s.file, dir, program)
			}
		}
	}
	if len(seen) < 5 {
		t.Fatalf("only %d command packages were found", len(seen)-1)
	}
}

// TestEachEntryOfTheTablesExists reports layers, dependencies and owners that the tree
// does not have: a table that lists what is gone hides what is missing.
func TestEachEntryOfTheTablesExists(t *testing.T) {
	imports, all := map[string][]string{}, sources(t)
	for _, s := range all {
		imports[s.dir] = append(imports[s.dir], s.imports...)
	}
	listed := map[string]bool{}
	for _, row := range layers {
		for _, dir := range row.packages {
			if _, ok := imports[dir]; !ok {
				t.Errorf("layers lists %s, which has no Go files", dir)
			}
			if listed[dir] {
				t.Errorf("layers lists %s twice", dir)
			}
			listed[dir] = true
		}
	}
	for dep, dirs := range owners {
		for _, dir := range dirs {
			if !slices.ContainsFunc(all, func(s sourceFile) bool {
				return owns(dir, s.dir) && slices.ContainsFunc(s.imports, func(im string) bool {
					return im == dep || strings.HasPrefix(im, dep+"/")
				})
			}) {
				t.Errorf("owners lists %s for %s, which does not import it", dir, dep)
			}
		}
	}
}

// TestGroupsAreContiguous: imports between groups run one way only where the rows of a
// group follow one another.
func TestGroupsAreContiguous(t *testing.T) {
	seen, last := map[string]bool{}, ""
	for _, row := range layers {
		if row.group != last && seen[row.group] {
			t.Errorf("the rows of group %s are not contiguous", row.group)
		}
		seen[row.group], last = true, row.group
	}
}
