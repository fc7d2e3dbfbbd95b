package docs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/workflow/yaml"
	"github.com/waybill/waybill/infra/mcpserver"
)

// pluginManifest is what the manifest of the plugin in docs/agents has, and nothing else.
type pluginManifest struct {
	Name, Version, Description    string
	Author                        struct{ Name, URL string }
	Homepage, Repository, License string
	Keywords                      []string
	MCPServers                    map[string]struct {
		Command string
		Args    []string
	} `json:"mcpServers"`
}

var (
	pluginName   = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	releaseTitle = regexp.MustCompile(`(?m)^## ([0-9]+\.[0-9]+\.[0-9]+) - `)
	frontMatter  = regexp.MustCompile(`(?s)^---\n(.*?\n)---\n(.*)$`)
	toolName     = regexp.MustCompile(`\b[a-z]+_(?:workflows?|session)\b`)
	skillIntent  = regexp.MustCompile("`((?:perform|await|rehydrate)_[a-z_]+|complete)`")
)

// TestPluginManifest: the manifest parses, has no member that clients do not know, and has the version of the latest
// release. Clients find the skills without it, in the folder skills beside its own: see TestSkill.
func TestPluginManifest(t *testing.T) {
	files, err := filepath.Glob("agents/.*-plugin/plugin.json")
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var m pluginManifest
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%s: %v", files[0], err)
	}
	if d.More() || !pluginName.MatchString(m.Name) || m.Description == "" || m.Author.Name == "" || m.License != "Apache-2.0" {
		t.Errorf("%s: got %+v", files[0], m)
	}
	changes, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	latest := releaseTitle.FindSubmatch(changes)
	if latest == nil {
		t.Fatal("CHANGELOG.md has no release")
	}
	if m.Version != string(latest[1]) {
		t.Errorf("%s has the version %s, and the latest release in CHANGELOG.md is %s", files[0], m.Version, latest[1])
	}
	server, ok := m.MCPServers["waybill"]
	if !ok || len(m.MCPServers) != 1 || server.Command != "waybill" || !slices.Equal(server.Args, []string{"mcp"}) {
		t.Errorf("%s: the servers are %+v", files[0], m.MCPServers)
	}
}

// TestSkill: the front matter is YAML with name and description in the bounds of clients, and the text names every tool of
// the server, every next intent of an answer, and none besides.
func TestSkill(t *testing.T) {
	files, err := filepath.Glob("agents/skills/*/SKILL.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no skill", err)
	}
	var tools, intents []string
	for _, d := range mcpserver.Definitions() {
		tools = append(tools, d.Name)
	}
	for _, i := range []engine.NextIntent{engine.PerformThenContinue, engine.AwaitConfirmation, engine.RehydrateOnly,
		engine.CompleteIntent} {
		intents = append(intents, string(i))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts := frontMatter.FindSubmatch(text)
		if parts == nil {
			t.Errorf("%s has no front matter", file)
			continue
		}
		head, err := yaml.Parse(parts[1])
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var m struct{ Name, Description string }
		d := json.NewDecoder(bytes.NewReader(head.JCS()))
		d.DisallowUnknownFields()
		if err := d.Decode(&m); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if !pluginName.MatchString(m.Name) || len(m.Name) > 64 || m.Name != filepath.Base(filepath.Dir(file)) {
			t.Errorf("%s: the name %q is not that of its folder", file, m.Name)
		}
		if len(m.Description) < 100 || len(m.Description) > 1024 {
			t.Errorf("%s: the description has %d bytes: want 100 to 1024", file, len(m.Description))
		}
		if n := bytes.Count(text, []byte("\n")); n > 200 {
			t.Errorf("%s has %d lines: an agent reads all of it, want at most 200", file, n)
		}
		same(t, file, "tools", distinct(toolName.FindAllStringSubmatch(string(text), -1), 0), tools)
		same(t, file, "next intents", distinct(skillIntent.FindAllStringSubmatch(string(parts[2]), -1), 1), intents)
	}
}

// distinct returns a group of each match, sorted and once.
func distinct(matches [][]string, group int) (out []string) {
	for _, m := range matches {
		out = append(out, m[group])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// same compares what a file names with what the program has.
func same(t *testing.T, file, what string, named, want []string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(named, want) {
		t.Errorf("%s names the %s %q: want %q", file, what, named, want)
	}
}
