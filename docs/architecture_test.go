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

// layers is the direction of imports as data: a package may import packages of
// its own row and of the rows above it, directly. Longest prefix wins.
var layers = [][]string{
	{"durable/limits", "durable/derive", "durable/pattern", "durable/nearest"},
	{"durable/canon", "durable/id", "durable/fault", "durable/problem"},
	{"durable/reason", "durable/shape", "durable/similar"},
	{"durable/contract", "durable/builtin"},
	{"durable/event", "durable/snapshot", "durable/token", "durable/condition", "durable/criteria", "durable/yamlsource", "durable/audit", "durable/config", "durable/imported", "durable/redact", "durable/trust", "durable/feedback", "durable/proposal", "durable/promptref"},
	{"durable/manifest", "durable/workflow"},
	{"durable/command", "durable/doctor", "durable/bundle", "durable/retention", "durable/rewrite", "durable/compile", "durable/installable", "durable/capabilities"},
	{"durable/prompt", "durable/interpreter", "durable/advance", "durable/catalog", "durable/resume", "durable/redrive"},
	{"projections"},
	{"ports", "ports/porttest"},
	{"durable/engine"},
	{"durable/perform"},
	{"infra/osfs", "infra/lock", "infra/controlfile", "infra/terminal", "infra/process", "infra/gitobserver", "infra/discovery", "infra/crashfs", "infra/memstore", "infra/filestore", "infra/keyring", "infra/mcpserver", "infra/watch", "infra/bundlefile", "infra/diagnose", "infra/schema", "infra/cron"},
	{"cmd/waybill"},
}

// pure lists what durable/ and projections/ must not reach for: everything that
// differs from one machine or moment to another (design section 6).
var pure = []string{"os", "net", "time", "log", "math/rand", "crypto/rand", "syscall", "io/ioutil", "plugin", "database/sql", "embed"}

// owners: a dependency is imported by one package of ours, so that leaving it is
// one package's work.
var owners = map[string][]string{
	"github.com/gowebpki/jcs":                    {"durable/canon"},
	"github.com/zeebo/blake3":                    {"durable/derive"},
	"github.com/gofrs/flock":                     {"infra/lock"},
	"github.com/spf13/pflag":                     {"cmd/waybill"}, // cobra's own flags
	"github.com/spf13/cobra":                     {"cmd/waybill"},
	"github.com/rs/zerolog":                      {"cmd/waybill"},
	"go.yaml.in/yaml/v3":                         {"durable/yamlsource"},
	"github.com/fsnotify/fsnotify":               {"infra/watch", "infra/bundlefile", "infra/schema"},
	"golang.org/x/sys":                           {"infra/osfs"},
	"golang.org/x/text":                          {"durable/resume"},
	"golang.org/x/term":                          {"infra/terminal"},
	"charm.land/lipgloss/v2":                     {"infra/terminal"},
	"github.com/modelcontextprotocol/go-sdk":     {"infra/mcpserver"},
	"github.com/google/jsonschema-go":            {"infra/mcpserver", "infra/schema"},
	"github.com/rogpeppe/go-internal/testscript": {},
	"github.com/netresearch/go-cron":             {"infra/cron"},
	"pgregory.net/rapid":                         {},
	"github.com/creack/pty":                      {},
}

type source struct {
	dir, file string
	imports   []string
}

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
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
		s := source{dir: filepath.ToSlash(filepath.Dir(rel)), file: filepath.ToSlash(rel)}
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
		for _, p := range row {
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
		if own < 0 {
			t.Errorf("%s: package %s stands in no layer: add it to the table", s.file, s.dir)
			continue
		}
		for _, im := range s.imports {
			dir, ours := strings.CutPrefix(im, module)
			if ours && layerOf(dir) > own {
				t.Errorf("%s imports %s, which stands above it", s.file, dir)
			}
		}
	}
}

func TestTheCoreIsPure(t *testing.T) {
	seen := 0
	for _, s := range sources(t) {
		if !strings.HasPrefix(s.dir, "durable/") && s.dir != "projections" {
			continue
		}
		seen++
		for _, im := range s.imports {
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
					owned = slices.Contains(dirs, s.dir)
				}
			}
			if !owned {
				t.Errorf("%s imports %s, which this package does not own", s.file, im)
			}
		}
	}
}
