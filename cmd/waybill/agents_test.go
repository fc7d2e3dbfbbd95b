package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// agentSkills are the skills of the plugin in docs/agents.
const agentSkills = "../../docs/agents/skills/*/SKILL.md"

// namedCommand matches a command in the text of a page, which may be wrapped, and a typed line.
var namedCommand = expression("`(waybill [^`\\n]+(?:\\n[A-Za-z-][^`\\n]*)?)`|(?m)^\\$ (waybill [^\\n|<>]+)")

// TestPagesNameCommandsThatExist: every command and flag that the pages for agents, the guides and the README name is one
// of the program.
func TestPagesNameCommandsThatExist(t *testing.T) {
	t.Parallel()
	pages := []string{"../../README.md"}
	for _, pattern := range []string{agentSkills, "../../docs/agents/*.md", "../../docs/guide/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no page, %v", pattern, err)
		}
		pages = append(pages, found...)
	}
	root := newRoot(&cli.App{})
	root.InitDefaultHelpCmd()
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := namedCommand().FindAllStringSubmatch(string(text), -1)
		for _, m := range found {
			if problem := unknownIn(root, m[1]+m[2]); problem != "" {
				t.Errorf("%s: %q: %s", page, m[1]+m[2], problem)
			}
		}
		if len(found) < 3 && filepath.Base(page) != "README.md" { // an index of pages
			t.Errorf("%s: %d commands were found", page, len(found))
		}
	}
	for call, known := range map[string]bool{"waybill run --trust": true, "waybill": true, "waybill runs lists": false,
		"waybill run --trusted": false, "waybill trial": false, "waybill guard\ninstall CLIENT": true,
		"waybill COMMAND --help": true, "waybill continue --notes 'a --b'": true} {
		if problem := unknownIn(root, call); (problem == "") != known {
			t.Errorf("%q: %q", call, problem)
		}
	}
}

// quotedWord matches an argument in quotes, which names no flag.
var quotedWord = expression(`"[^"]*"|'[^']*'`)

// unknownIn returns what the program does not have of a call, or "".
func unknownIn(root *cobra.Command, call string) string {
	words := strings.Fields(quotedWord().ReplaceAllString(call, "TEXT"))[1:]
	if len(words) > 0 && words[0] == "COMMAND" {
		words = words[1:]
	}
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	cmd.InitDefaultHelpFlag()
	for i, word := range rest {
		name, isFlag := strings.CutPrefix(word, "--")
		if name, _, _ = strings.Cut(name, "="); isFlag && cmd.Flag(name) == nil {
			return "there is no flag --" + name
		}
		if i == 0 && !isFlag && cmd.HasSubCommands() && word == strings.ToLower(word) {
			return "there is no command " + word
		}
	}
	return ""
}

// TestPluginServerStarts: the server of the plugin's manifest answers with the tools that the skill names.
func TestPluginServerStarts(t *testing.T) {
	files, err := filepath.Glob("../../docs/agents/.*-plugin/plugin.json")
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	skills, err := filepath.Glob(agentSkills)
	if err != nil || len(skills) != 1 {
		t.Fatalf("%q, %v", skills, err)
	}
	skill, err := os.ReadFile(skills[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, server := range manifest.MCPServers {
		if server.Command != "waybill" || len(server.Args) != 1 || server.Args[0] != "mcp" {
			t.Fatalf("%s starts %s %q", name, server.Command, server.Args)
		}
	}
	c := inProcess(t, programWithWorkflows(t, "team.talk"))
	c.greet()
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(c.call("tools/list", "{}"), &list); err != nil || len(list.Tools) == 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, tool := range list.Tools {
		if !strings.Contains(string(skill), "`"+tool.Name+"`") {
			t.Errorf("the skill does not name the tool %s", tool.Name)
		}
	}
}
