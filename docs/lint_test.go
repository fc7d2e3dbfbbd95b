package docs

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const lintConfig = "../.golangci.yml"

// depguardPart is what of the linter's configuration is written from the tables of
// architecture_test.go.
var depguardPart = regexp.MustCompile(`(?s)( +# layers: [^\n]*\n).*?( +# end of layers\n)`)

// TestLintConfigHasTheLayers: depguard refuses what architecture_test.go refuses, by
// group: imports of a later group, packages that the core must not import, and
// dependencies outside of the package that owns them. With -update it is written.
func TestLintConfigHasTheLayers(t *testing.T) {
	config, err := os.ReadFile(lintConfig)
	if err != nil {
		t.Fatal(err)
	}
	want := depguardPart.ReplaceAllStringFunc(string(config), func(part string) string {
		m := depguardPart.FindStringSubmatch(part)
		return m[1] + depguardRules() + m[2]
	})
	if formatUpdating() {
		if err := os.WriteFile(lintConfig, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		config = []byte(want)
	}
	if string(config) != want || !depguardPart.Match(config) {
		t.Error("the layers in .golangci.yml are not those of architecture_test.go; run: go test ./docs -run Lint " +
			"-update")
	}
	if rules := strings.Count(want, "            deny:\n"); rules < 20 {
		t.Errorf("only %d rules", rules)
	}
}

// layerGroup is the rows of one group as directories: one that all its packages are in,
// or the packages.
type layerGroup struct {
	name     string
	packages []string
}

func layerGroups() (out []layerGroup) {
	for _, row := range layers {
		if n := len(out); n == 0 || out[n-1].name != row.group {
			out = append(out, layerGroup{name: row.group})
		}
		last := &out[len(out)-1]
		last.packages = append(last.packages, row.packages...)
	}
	return out
}

// prefixes are the shortest paths that cover the packages and no package of others.
func prefixes(packages []string) (out []string) {
	for _, p := range packages {
		parts := strings.Split(p, "/")
		for n := 1; n <= len(parts); n++ {
			short := strings.Join(parts[:n], "/")
			covers := func(q string) bool { return q == short || strings.HasPrefix(q, short+"/") }
			foreign := false
			for _, row := range layers {
				for _, q := range row.packages {
					foreign = foreign || covers(q) && !slices.Contains(packages, q)
				}
			}
			if foreign && n < len(parts) {
				continue
			}
			if !slices.Contains(out, short) {
				out = append(out, short)
			}
			break
		}
	}
	return out
}

func depguardRules() string {
	var b strings.Builder
	rule := func(name string, files, deny []string, why string) {
		fmt.Fprintf(&b, "          %s:\n            files: [\"!$test\", %s]\n            deny:\n", name, quoted(files))
		for _, pkg := range deny {
			fmt.Fprintf(&b, "              - {pkg: %q, desc: %q}\n", pkg, why)
		}
	}
	groups := layerGroups()
	for i, g := range groups {
		var deny []string
		for _, later := range groups[i+1:] {
			for _, p := range prefixes(later.packages) {
				if slices.ContainsFunc(g.packages, func(own string) bool { return strings.HasPrefix(own, p+"/") }) {
					p += "$" // a package of this group is inside
				}
				if !slices.ContainsFunc(deny, func(d string) bool { return strings.HasPrefix(module+p, d+"/") }) {
					deny = append(deny, module+p)
				}
			}
		}
		if len(deny) > 0 {
			rule("layer-"+g.name, patterns(g.packages), deny, "a layer above "+g.name)
		}
	}
	var deny []string
	for _, p := range pure {
		if p == "embed" {
			continue // permitted to some packages: see embedding
		}
		deny = append(deny, p+"$", p+"/")
	}
	rule("pure", []string{"**/durable/**/*.go", "**/projections/**/*.go"}, deny,
		"the core gets time, randomness and storage as arguments")
	for _, dep := range slices.Sorted(maps.Keys(owners)) {
		files := []string{"**/*.go"}
		for _, dir := range owners[dep] {
			if below, all := strings.CutSuffix(dir, "/..."); all {
				files = append(files, "!**/"+below+"/**/*.go")
				dir = below
			}
			files = append(files, "!**/"+dir+"/*.go")
		}
		rule("owner-"+strings.NewReplacer("/", "-", ".", "-").Replace(dep), files, []string{dep},
			"another package owns this dependency")
	}
	return b.String()
}

func patterns(packages []string) (out []string) {
	for _, p := range packages {
		out = append(out, "**/"+p+"/*.go")
	}
	return out
}

func quoted(texts []string) string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(out, ", ")
}
