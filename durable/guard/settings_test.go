package guard_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/guard"
)

var program = guard.Program{Path: "/opt/way bill/waybill", Flags: []string{"--store", "/s"}}

func client(t *testing.T, name string) guard.Client {
	t.Helper()
	c, ok := guard.ClientOf(name)
	if !ok {
		t.Fatal("no client", name)
	}
	return c
}

// settings are files as their users write them.
var settings = map[string]string{
	"none":         "",
	"empty object": "{}\n",
	"others": `{
  "model": "m",
  "hooks": {
    "Stop": [
      { "hooks": [ { "type": "command", "command": "say done" } ] }
    ],
    "PreToolUse": [{"matcher": "Bash", "hooks": []}]
  },
  "z": [1, 2.50, 1e400]
}
`,
	"tabs":        "{\n\t\"a\": 1\n}",
	"one line":    `{"a":1,"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"x"}]}]}}`,
	"crlf":        "{\r\n    \"a\": \"\\u00e9 \\\" é\"\r\n}\r\n",
	"order":       "{\"z\":1,\n\"a\":2}\n",
	"other event": "{\n  \"hooks\": {\n    \"Notification\": []\n  }\n}\n",
}

func TestInstallAndUninstall(t *testing.T) {
	for _, c := range guard.Clients {
		for name, before := range settings {
			if !c.Settings.JSON() {
				continue // TestPlugin
			}
			once, err := guard.Install([]byte(before), c, program)
			if err != nil {
				t.Fatalf("%s, %s: %v", c.Name, name, err)
			}
			var read map[string]any
			if err := json.Unmarshal(bytes.ReplaceAll(once, []byte("1e400"), []byte("0")), &read); err != nil {
				t.Fatalf("%s, %s: %v in\n%s", c.Name, name, err, once)
			}
			for _, e := range c.Events {
				if n := strings.Count(string(once), "guard hook "+e.Name+" --client "+c.Name); n != 1 {
					t.Errorf("%s, %s: %d hooks for %s in\n%s", c.Name, name, n, e.Name, once)
				}
			}
			twice, err := guard.Install(once, c, program)
			if err != nil || !bytes.Equal(once, twice) {
				t.Errorf("%s, %s: installed again, %v:\n%s", c.Name, name, err, twice)
			}
			moved, err := guard.Install(once, c, guard.Program{Path: "/new/waybill"})
			if err != nil || strings.Contains(string(moved), "way bill") {
				t.Errorf("%s, %s: another path, %v:\n%s", c.Name, name, err, moved)
			}
			for _, installed := range [][]byte{once, moved} {
				after, err := guard.Uninstall(installed, c)
				want := before
				if want == "" {
					want = "{}\n"
				}
				if err != nil || string(after) != want {
					t.Errorf("%s, %s: uninstalled, %v:\n%s\nwant\n%s", c.Name, name, err, after, want)
				}
			}
			if after, err := guard.Uninstall([]byte(before), c); err != nil || string(after) != before {
				t.Errorf("%s, %s: nothing to remove, %v: %s", c.Name, name, err, after)
			}
		}
	}
}

func TestUninstallLeavesHooksBesideOurs(t *testing.T) {
	c := client(t, "claude")
	ours, other := program.CommandLine(c, "Stop"), `{"type":"command","command":"mine"}`
	own, _ := json.Marshal(map[string]any{"type": "command", "command": ours, "timeout": 9})
	for name, row := range map[string][2]string{
		"first of a group": {`{"hooks":{"Stop":[{"hooks":[` + string(own) + `,` + other + `]}]}}`, `{"hooks":{"Stop":[{"hooks":[` + other + `]}]}}`},
		"last of a group":  {`{"hooks":{"Stop":[{"hooks":[` + other + `,` + string(own) + `]}]}}`, `{"hooks":{"Stop":[{"hooks":[` + other + `]}]}}`},
		"first group":      {`{"hooks":{"Stop":[{"hooks":[` + string(own) + `]},{"hooks":[` + other + `]}]}}`, `{"hooks":{"Stop":[{"hooks":[` + other + `]}]}}`},
		"twice":            {`{"a":1,"hooks":{"Stop":[{"hooks":[` + string(own) + `]},{"hooks":[` + string(own) + `]}]},"b":2}`, `{"a":1,"b":2}`},
	} {
		got, err := guard.Uninstall([]byte(row[0]), c)
		if err != nil || string(got) != row[1] {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, row[1])
		}
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"no JSON":       {`{"a":`, "not JSON"},
		"blank":         {" \n", "not JSON"},
		"comments":      {"{\n// mine\n}", "comments"},
		"a list":        {`[]`, "not an object"},
		"hooks a list":  {`{"hooks":[]}`, `"hooks" is not an object`},
		"event a text":  {`{"hooks":{"Stop":"x","SessionStart":[]}}`, `"hooks.Stop" is not a list`},
		"hooks twice":   {`{"hooks":{},"hooks":{}}`, `"hooks" twice`},
		"event twice":   {`{"hooks":{"Stop":[],"Stop":[]}}`, `"Stop" twice`},
		"a byte order ": {"\ufeff{}", "not JSON"},
	} {
		for _, change := range []func() ([]byte, error){
			func() ([]byte, error) { return guard.Install([]byte(row.text), client(t, "claude"), program) },
			func() ([]byte, error) { return guard.Uninstall([]byte(row.text), client(t, "claude")) },
		} {
			got, err := change()
			if err == nil || got != nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: %v, %s", name, err, got)
			}
		}
	}
	// Elements that are no groups are those of others.
	for _, text := range []string{`{"hooks":{"Stop":[1,null,{"hooks":3},{"hooks":[4,{"command":5}]}]}}`} {
		if _, err := guard.Install([]byte(text), client(t, "claude"), program); err != nil {
			t.Error(err)
		}
	}
}

func TestInstallServer(t *testing.T) {
	for _, c := range guard.Clients {
		for name, before := range settings {
			if !c.Servers.JSON() {
				before = "# mine\nmodel = \"m\"\n\n[mcp_servers.other] # kept\ncommand = \"x\""
			}
			once, err := guard.InstallServer([]byte(before), c, program)
			if err != nil {
				t.Fatalf("%s, %s: %v", c.Name, name, err)
			}
			if c.Servers.JSON() && !json.Valid(once) || !strings.Contains(string(once), `"mcp"`) {
				t.Errorf("%s, %s:\n%s", c.Name, name, once)
			}
			if !c.Servers.JSON() && !strings.HasPrefix(string(once), before+"\n\n[mcp_servers.waybill]\ncommand = \"/opt/way bill/waybill\"\n") {
				t.Errorf("%s:\n%s", c.Name, once)
			}
			if twice, err := guard.InstallServer(once, c, program); err != nil || !bytes.Equal(once, twice) {
				t.Errorf("%s, %s: installed again, %v:\n%s", c.Name, name, err, twice)
			}
			if got, err := guard.InstallServer(once, c, guard.Program{Path: "/other"}); err == nil || got != nil {
				t.Errorf("%s, %s: another server was replaced: %s", c.Name, name, got)
			}
			want := before
			if want == "" {
				want = "{}\n"
			}
			for range 2 { // the second time there is nothing to remove
				if once, err = guard.UninstallServer(once, c); err != nil || string(once) != want {
					t.Errorf("%s, %s: uninstalled, %v:\n%s\nwant\n%s", c.Name, name, err, once, want)
				}
			}
		}
	}
	for name, text := range map[string]string{"array": "[[mcp_servers]]\n", "inline": "mcp_servers = {}\n", "dotted": "mcp_servers.waybill.command = \"x\"\n",
		"quoted": "[mcp_servers.\"waybill\"]\n", "spaced": "[ mcp_servers . waybill ]\n", "long text": "a = \"\"\"\n[mcp_servers.waybill]\n\"\"\"\n",
		"part": "[mcp_servers]\n"} {
		if got, err := guard.InstallServer([]byte(text), client(t, "codex"), program); err == nil || got != nil {
			t.Errorf("codex, %s: %s", name, got)
		}
	}
	if _, err := guard.InstallServer([]byte(`{"mcpServers":[]}`), client(t, "claude"), program); err == nil {
		t.Error("a list of servers was accepted")
	}
}

func TestUninstallServer(t *testing.T) {
	claude, codex, opencode := client(t, "claude"), client(t, "codex"), client(t, "opencode")
	const table = "[mcp_servers.waybill]\ncommand = \"/w\"\nargs = [\"mcp\"]"
	for name, row := range map[string]struct {
		c           guard.Client
		text, after string // after is "" for an error
	}{
		"nothing":             {claude, ``, ``},
		"beside another":      {claude, `{"mcpServers":{"a":{"command":"x"},"waybill":{"command":"/w","args":["mcp"]}}}`, `{"mcpServers":{"a":{"command":"x"}}}`},
		"before another":      {claude, `{"mcpServers":{"waybill":{"command":"/w","args":["mcp"]},"a":1}}`, `{"mcpServers":{"a":1}}`},
		"with more members":   {claude, `{"mcpServers":{"waybill":{"command":"/w","args":["mcp"],"env":{}}}}`, `{}`},
		"not ours":            {claude, `{"mcpServers":{"waybill":{"command":"x"}}}`, ``},
		"no server":           {claude, `{"mcpServers":{"waybill":1}}`, ``},
		"servers in a list":   {claude, `{"mcpServers":[]}`, ``},
		"no JSON":             {claude, `{`, ``},
		"a list of words":     {opencode, `{"mcp":{"waybill":{"type":"local","command":["/w","mcp"]}}}`, `{}`},
		"other words":         {opencode, `{"mcp":{"waybill":{"type":"local","command":["/w","mcpx"]}}}`, ``},
		"table, no line end":  {codex, "a = 1\n\n" + table, "a = 1"},
		"table between":       {codex, "a = 1\n\n" + table + "\n\n[other]\nb = 2\n", "a = 1\n\n[other]\nb = 2\n"},
		"table first":         {codex, table + "\n[other]\n", "[other]\n"},
		"table with more":     {codex, table + "\nenabled = false\n", ``},
		"table with a part":   {codex, table + "\n[mcp_servers.waybill.env]\n", ``},
		"table twice":         {codex, table + "\n" + table, ``},
		"table, not ours":     {codex, "[mcp_servers.waybill]\ncommand = \"/w\"\nargs = [\"x\"]\n", ``},
		"table, other server": {codex, "[mcp_servers.other]\ncommand = \"/w\"\n", "[mcp_servers.other]\ncommand = \"/w\"\n"},
	} {
		got, err := guard.UninstallServer([]byte(row.text), row.c)
		if string(got) != row.after || (err == nil) != (row.after != "" || row.text == "") {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, row.after)
		}
	}
}

func TestPlugin(t *testing.T) {
	c := client(t, "opencode")
	text, err := guard.Install(nil, c, program)
	if err != nil || !strings.Contains(string(text), `const argv = ["/opt/way bill/waybill","--store","/s"]`+"\n") {
		t.Fatalf("%v\n%s", err, text)
	}
	if again, err := guard.Install(text, c, program); err != nil || !bytes.Equal(again, text) {
		t.Errorf("installed again, %v:\n%s", err, again)
	}
	moved, err := guard.Install(text, c, guard.Program{Path: "/new/waybill"})
	if err != nil || strings.Contains(string(moved), "way bill") {
		t.Errorf("another path, %v:\n%s", err, moved)
	}
	for _, text := range [][]byte{nil, text, moved} {
		if after, err := guard.Uninstall(text, c); err != nil || after != nil {
			t.Errorf("uninstalled, %v: %s", err, after)
		}
	}
	for name, other := range map[string]string{"empty": "", "mine": "export const Mine = 1\n", "a comment is added": string(text) + "// mine\n",
		"a line is changed": strings.Replace(string(text), "65536", "1", 1), "no list": strings.Replace(string(text), `["/opt`, `"/opt`, 1)} {
		for _, change := range []func() ([]byte, error){
			func() ([]byte, error) { return guard.Install([]byte(other), c, program) },
			func() ([]byte, error) { return guard.Uninstall([]byte(other), c) },
		} {
			if got, err := change(); err == nil || got != nil || !strings.Contains(err.Error(), "another plugin") {
				t.Errorf("%s: %v, %s", name, err, got)
			}
		}
	}
}

func FuzzInstall(f *testing.F) {
	for _, text := range settings {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := client(t, "claude")
		once, err := guard.Install(text, c, program)
		if err != nil {
			return
		}
		if !json.Valid(once) {
			t.Fatalf("no JSON: %q", once)
		}
		if twice, err := guard.Install(once, c, program); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("not the same again, %v: %q", err, twice)
		}
		if after, err := guard.Uninstall(once, c); err != nil || !json.Valid(after) {
			t.Fatalf("uninstalled, %v: %q", err, after)
		}
	})
}
