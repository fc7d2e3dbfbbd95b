package guard_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// text returns the text of a result.
func text(r guard.Result, err error) ([]byte, error) { return r.Text, err }

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
			once, err := text(guard.Install([]byte(before), c, program))
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
			twice, err := text(guard.Install(once, c, program))
			if err != nil || !bytes.Equal(once, twice) {
				t.Errorf("%s, %s: installed again, %v:\n%s", c.Name, name, err, twice)
			}
			moved, err := text(guard.Install(once, c, guard.Program{Path: "/new/waybill"}))
			if err != nil || strings.Contains(string(moved), "way bill") {
				t.Errorf("%s, %s: another path, %v:\n%s", c.Name, name, err, moved)
			}
			for _, installed := range [][]byte{once, moved} {
				after, err := text(guard.Uninstall(installed, c))
				want := before
				if want == "{}\n" { // nothing tells it from a file that was made for the hooks
					want = ""
				}
				if err != nil || string(after) != want {
					t.Errorf("%s, %s: uninstalled, %v:\n%s\nwant\n%s", c.Name, name, err, after, want)
				}
			}
			if after, err := text(guard.Uninstall([]byte(before), c)); err != nil || string(after) != before {
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
		got, err := text(guard.Uninstall([]byte(row[0]), c))
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
			func() ([]byte, error) { return text(guard.Install([]byte(row.text), client(t, "claude"), program)) },
			func() ([]byte, error) { return text(guard.Uninstall([]byte(row.text), client(t, "claude"))) },
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
			once, err := text(guard.InstallServer([]byte(before), c, program))
			if err != nil {
				t.Fatalf("%s, %s: %v", c.Name, name, err)
			}
			if c.Servers.JSON() && !json.Valid(once) || !strings.Contains(string(once), `"mcp"`) {
				t.Errorf("%s, %s:\n%s", c.Name, name, once)
			}
			if !c.Servers.JSON() && !strings.HasPrefix(string(once), before+"\n\n[mcp_servers.waybill]\ncommand = \"/opt/way bill/waybill\"\n") {
				t.Errorf("%s:\n%s", c.Name, once)
			}
			if twice, err := text(guard.InstallServer(once, c, program)); err != nil || !bytes.Equal(once, twice) {
				t.Errorf("%s, %s: installed again, %v:\n%s", c.Name, name, err, twice)
			}
			moved, err := guard.InstallServer(once, c, guard.Program{Path: "/new/waybill"})
			fresh, _ := text(guard.InstallServer([]byte(before), c, guard.Program{Path: "/new/waybill"}))
			if compact(moved.Text) != compact(fresh) || err != nil {
				t.Errorf("%s, %s: moved, %v:\n%s\nwant\n%s", c.Name, name, err, moved.Text, fresh)
			}
			shown := strings.Join(moved.Difference(), "\n")
			if !strings.Contains(shown, "way bill") || !strings.Contains(shown, "+") || strings.Contains(shown, "other") {
				t.Errorf("%s, %s: %s", c.Name, name, shown)
			}
			want := before
			if want == "{}\n" {
				want = ""
			}
			for range 2 { // the second time there is nothing to remove
				if once, err = text(guard.UninstallServer(once, c)); err != nil || string(once) != want {
					t.Errorf("%s, %s: uninstalled, %v:\n%s\nwant\n%s", c.Name, name, err, once, want)
				}
			}
		}
	}
	if _, err := guard.InstallServer([]byte(`{"mcpServers":[]}`), client(t, "claude"), program); err == nil {
		t.Error("a list of servers was accepted")
	}
}

// compact is a JSON text without white space; another text as it is.
func compact(text []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return string(text)
	}
	return b.String()
}

// TestServersThatAreNotOurs: a server of the same name that this program did not add is not replaced. The command line of
// one that it added is, without a type or with other members, which stay.
func TestServersThatAreNotOurs(t *testing.T) {
	for name, row := range map[string]struct {
		client, text, after string // after is "" for an error
	}{
		"another program":      {"claude", `{"mcpServers":{"waybill":{"command":"x"}}}`, ""},
		"an address":           {"claude", `{"mcpServers":{"waybill":{"type":"http","url":"http://x","command":"x","args":["mcp"]}}}`, ""},
		"a list as command":    {"gemini", `{"mcpServers":{"waybill":{"command":["x","mcp"]}}}`, ""},
		"a text as command":    {"opencode", `{"mcp":{"waybill":{"type":"local","command":"x","args":["mcp"]}}}`, ""},
		"command twice":        {"claude", `{"mcpServers":{"waybill":{"command":"x","command":"y","args":["mcp"]}}}`, ""},
		"without a type":       {"claude", `{"mcpServers":{"waybill":{"command":"/w","args":["mcp"]}}}`, `{"mcpServers":{"waybill":{"command":"/new","args":["mcp"]}}}`},
		"the same":             {"claude", `{"mcpServers":{"waybill":{"command":"/new","args":["mcp"]}}}`, `{"mcpServers":{"waybill":{"command":"/new","args":["mcp"]}}}`},
		"with members":         {"gemini", `{"mcpServers":{"waybill":{"args":["--store","/s","mcp"],"env":{"A":"1"},"command":"/w"}}}`, `{"mcpServers":{"waybill":{"args":["mcp"],"env":{"A":"1"},"command":"/new"}}}`},
		"one that is off":      {"opencode", `{"mcp":{"waybill":{"type":"local","command":["/w","mcp"],"enabled":false}}}`, `{"mcp":{"waybill":{"type":"local","command":["/new","mcp"],"enabled":false}}}`},
		"a table":              {"codex", "[mcp_servers.waybill]\nargs = [\n  \"mcp\",\n  \"x\" ]\ncommand = \"/w\"\n", ""},
		"a table with members": {"codex", "[mcp_servers.waybill] # mine\nargs = [\"--store\", \"/s\", \"mcp\"] # x\nenabled = true\ncommand = \"/w\"\n[a]\n", "[mcp_servers.waybill] # mine\nargs = [\"mcp\"] # x\nenabled = true\ncommand = \"/new\"\n[a]\n"},
		"a table in quotes":    {"codex", "[ 'mcp_servers' . \"way\\u0062ill\" ]\ncommand = \"/w\"\nargs = [\"mcp\"]\n", "[ 'mcp_servers' . \"way\\u0062ill\" ]\ncommand = \"/new\"\nargs = [\"mcp\"]\n"},
	} {
		got, err := text(guard.InstallServer([]byte(row.text), client(t, row.client), guard.Program{Path: "/new"}))
		if string(got) != row.after || (err == nil) != (row.after != "") {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, row.after)
		}
	}
}

// TestTOMLThatIsRefused: a file that is not valid, and servers in another form than tables of their own, are not changed.
// What only looks like a server of this program is not taken for it.
func TestTOMLThatIsRefused(t *testing.T) {
	codex := client(t, "codex")
	for name, before := range map[string]string{"array": "[[mcp_servers]]\n", "inline": "mcp_servers = {}\n",
		"dotted": "mcp_servers.waybill.command = \"x\"\n", "dotted, quoted": "\"mcp\\u005fservers\".waybill.command = \"x\"\n",
		"quoted": "[mcp_servers.\"waybill\"]\n", "spaced": "[ mcp_servers . waybill ]\n", "escaped": "[\"mcp\\u005fservers\".waybill]\n",
		"literal": "['mcp_servers'.'waybill']\n", "part": "[mcp_servers]\n", "tables in it": "[mcp_servers.waybill.env]\n",
		"byte order mark": "\ufeffa = 1\n", "not UTF-8": "a = \"\xff\"\n", "a control character": "a = 1\x00\n",
		"open string": "a = \"x\n", "open list": "a = [1\n", "open table": "a = {b = 1\n", "crossed": "a = [{]}\n", "closed only": "a = ]\n",
		"open header": "[a\n", "two headers": "[a] [b]\n", "no value": "a =\n", "no key": "= 1\n", "only a key": "a\n", "open text": "a = \"\"\"\nx\n",
		"deep": "a = " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "\n", "an escape": "\"a\\x41\" = 1\n"} {
		for _, change := range []func() ([]byte, error){
			func() ([]byte, error) { return text(guard.InstallServer([]byte(before), codex, program)) },
			func() ([]byte, error) { return text(guard.UninstallServer([]byte(before), codex)) },
		} {
			if got, err := change(); err == nil || got != nil {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
	for name, before := range map[string]string{"a text": "a = \"\"\"\n[mcp_servers.waybill]\n\"\"\"\"\n", "a literal": "a = '''\n[mcp_servers.waybill]\\'''\n",
		"a list": "a = [ # ]\n  [\"[mcp_servers.waybill]\"],\n  [1, {b = 2}] ]\n", "a comment": "# [mcp_servers.waybill]\n", "another table": "[x.mcp_servers.waybill]\nmcp_servers.a = 1\n",
		"an item": "[[mcp]]\n\"a.b\".c = 'x' # \"\n", "lines of Windows": "a = 1\r\n\r\n[b]\r\nc = [\r\n]\r\n"} {
		once, err := text(guard.InstallServer([]byte(before), codex, program))
		if err != nil || !strings.HasPrefix(string(once), before) {
			t.Errorf("%s: %v\n%s", name, err, once)
		}
		if after, err := text(guard.UninstallServer(once, codex)); err != nil || string(after) != before {
			t.Errorf("%s: uninstalled, %v\n%s", name, err, after)
		}
	}
}

func TestUninstallServer(t *testing.T) {
	claude, codex, opencode := client(t, "claude"), client(t, "codex"), client(t, "opencode")
	const table = "[mcp_servers.waybill]\ncommand = \"/w\"\nargs = [\"mcp\"]"
	const gone = "" // no file
	for name, row := range map[string]struct {
		c           guard.Client
		text, after string
		refused     bool
	}{
		"nothing":             {claude, ``, gone, false},
		"beside another":      {claude, `{"mcpServers":{"a":{"command":"x"},"waybill":{"command":"/w","args":["mcp"]}}}`, `{"mcpServers":{"a":{"command":"x"}}}`, false},
		"before another":      {claude, `{"mcpServers":{"waybill":{"command":"/w","args":["mcp"]},"a":1}}`, `{"mcpServers":{"a":1}}`, false},
		"with more members":   {claude, `{"a":1,"mcpServers":{"waybill":{"command":"/w","args":["mcp"],"env":{}}}}`, `{"a":1}`, false},
		"alone":               {claude, ` {"mcpServers":{"waybill":{"command":"/w","args":["mcp"]}}}`, gone, false},
		"not ours":            {claude, `{"mcpServers":{"waybill":{"command":"x"}}}`, ``, true},
		"no server":           {claude, `{"mcpServers":{"waybill":1}}`, ``, true},
		"servers in a list":   {claude, `{"mcpServers":[]}`, ``, true},
		"an empty object":     {claude, "{}\n", "{}\n", false},
		"no JSON":             {claude, `{`, ``, true},
		"a list of words":     {opencode, `{"mcp":{"waybill":{"type":"local","command":["/w","mcp"]}}}`, gone, false},
		"other words":         {opencode, `{"mcp":{"waybill":{"type":"local","command":["/w","mcpx"]}}}`, ``, true},
		"table, no line end":  {codex, "a = 1\n\n" + table, "a = 1", false},
		"table between":       {codex, "a = 1\n\n" + table + "\n\n[other]\nb = 2\n", "a = 1\n\n[other]\nb = 2\n", false},
		"table, then comment": {codex, "a = 1\n\n" + table + "\n# of b\n[b]\n", "a = 1\n# of b\n[b]\n", false},
		"table first":         {codex, table + "\n[other]\n", "[other]\n", false},
		"table alone":         {codex, "\n" + table + "\n", gone, false},
		"table with more":     {codex, table + "\nenabled = false\n", ``, true},
		"table with comment":  {codex, strings.Replace(table, "\nargs", "\n# mine\nargs", 1), ``, true},
		"header with comment": {codex, strings.Replace(table, "]", "] # mine", 1), ``, true},
		"table with a part":   {codex, table + "\n[mcp_servers.waybill.env]\n", ``, true},
		"table twice":         {codex, table + "\n" + table, ``, true},
		"table, not ours":     {codex, "[mcp_servers.waybill]\ncommand = \"/w\"\nargs = [\"x\"]\n", ``, true},
		"table, other server": {codex, "[mcp_servers.other]\ncommand = \"/w\"\n", "[mcp_servers.other]\ncommand = \"/w\"\n", false},
	} {
		r, err := guard.UninstallServer([]byte(row.text), row.c)
		if string(r.Text) != row.after || (err != nil) != row.refused || row.after == gone && row.text != "" && r.Text != nil {
			t.Errorf("%s: %v\n%q\nwant\n%q", name, err, r.Text, row.after)
		}
	}
}

// TestDifferenceHasNothingThatStays: what is shown of a change has no content of the settings but what is added and
// removed, also of settings on one line and beside the last member, and says where it is.
func TestDifferenceHasNothingThatStays(t *testing.T) {
	const line = `{"env":{"TOKEN":"hunter2"},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"hunter2"}]}],"SessionStart":[]},` +
		`"mcpServers":{"a":{"env":{"K":"hunter2"}}},"mcp":{"a":"hunter2"},"last":"hunter2"}`
	var spread bytes.Buffer
	if err := json.Indent(&spread, []byte(line), "", "  "); err != nil {
		t.Fatal(err)
	}
	for _, c := range guard.Clients {
		for _, before := range []string{line, spread.String()} {
			hooks, toml := c.Settings.JSON(), !c.Servers.JSON()
			server := before
			if toml {
				server = "token = \"hunter2\"\n[mcp_servers.a]\nenv = {K = \"hunter2\"}"
			}
			var shown []string
			see := func(r guard.Result, err error) []byte {
				t.Helper()
				if err != nil {
					t.Fatal(c.Name, err)
				}
				shown = append(shown, r.Difference()...)
				return r.Text
			}
			if hooks {
				once := see(guard.Install([]byte(before), c, program))
				see(guard.Uninstall(see(guard.Install(once, c, guard.Program{Path: "/new"})), c))
			}
			once := see(guard.InstallServer([]byte(server), c, program))
			see(guard.UninstallServer(see(guard.InstallServer(once, c, guard.Program{Path: "/new"})), c))
			all := strings.Join(shown, "\n")
			if strings.Contains(all, "hunter2") {
				t.Errorf("%s shows what stays:\n%s", c.Name, all)
			}
			if strings.Contains(all, "\n,") || strings.Contains(all, "+,") {
				t.Errorf("%s shows a separator:\n%s", c.Name, all)
			}
			for _, want := range []string{"\n+", "\n-", "way bill", "/new", "@@ " + c.Servers.Member + ".waybill @@"} {
				if !strings.Contains(all, want) {
					t.Errorf("%s does not show %q:\n%s", c.Name, want, all)
				}
			}
			if hooks && !strings.Contains(all, "@@ hooks.SessionStart @@") {
				t.Errorf("%s shows no place:\n%s", c.Name, all)
			}
		}
	}
	// A secret in what is removed is not shown either.
	r, err := guard.UninstallServer([]byte(`{"mcpServers":{"waybill":{"command":"/w","args":["mcp"],"env":{"API_TOKEN":"hunter2hunter2"}}}}`), client(t, "claude"))
	if shown := strings.Join(r.Difference(), "\n"); err != nil || strings.Contains(shown, "hunter2") || !strings.Contains(shown, "API_TOKEN") {
		t.Errorf("%v\n%s", err, shown)
	}
}

// TestPlugin: a plugin that this or an earlier version wrote is updated and removed, and one that was changed is not.
func TestPlugin(t *testing.T) {
	c := client(t, "opencode")
	made, err := text(guard.Install(nil, c, program))
	if err != nil || !strings.Contains(string(made), `const argv = ["/opt/way bill/waybill","--store","/s"]`+"\n") {
		t.Fatalf("%v\n%s", err, made)
	}
	if again, err := guard.Install(made, c, program); err != nil || !bytes.Equal(again.Text, made) || len(again.Changes) > 0 {
		t.Errorf("installed again, %v:\n%s", err, again.Text)
	}
	moved, err := text(guard.Install(made, c, guard.Program{Path: "/new/waybill"}))
	if err != nil || strings.Contains(string(moved), "way bill") {
		t.Errorf("another path, %v:\n%s", err, moved)
	}
	older := marked("// an older text\n")
	unmarked, err := os.ReadFile(filepath.Join("testdata", "plugin-unmarked.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, have := range []string{"", string(made), string(moved), older, string(unmarked)} {
		in := []byte(have)
		if have == "" {
			in = nil
		}
		if after, err := text(guard.Uninstall(in, c)); err != nil || after != nil {
			t.Errorf("uninstalled %.60q, %v: %s", have, err, after)
		}
		if after, err := text(guard.Install(in, c, program)); err != nil || !bytes.Equal(after, made) {
			t.Errorf("updated %.60q, %v: %s", have, err, after)
		}
	}
	for name, other := range map[string]string{"empty": "", "mine": "export const Mine = 1\n", "a comment is added": string(made) + "// mine\n",
		"a line is changed": strings.Replace(string(made), "65536", "1", 1), "no list": strings.Replace(string(made), `["/opt`, `"/opt`, 1),
		"an older text is changed": older + "// mine\n", "no digest": "// waybill-guard \n", "the one without a mark is changed": strings.Replace(string(unmarked), "65536", "1", 1)} {
		for _, change := range []func() ([]byte, error){
			func() ([]byte, error) { return text(guard.Install([]byte(other), c, program)) },
			func() ([]byte, error) { return text(guard.Uninstall([]byte(other), c)) },
		} {
			if got, err := change(); err == nil || got != nil || !strings.Contains(err.Error(), "another plugin") {
				t.Errorf("%s: %v, %s", name, err, got)
			}
		}
	}
}

// marked returns a text with the first line of a plugin of this program.
func marked(text string) string {
	return fmt.Sprintf("// waybill-guard sha256:%x\n%s", sha256.Sum256([]byte(text)), text)
}

func FuzzInstall(f *testing.F) {
	for _, text := range settings {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, before []byte) {
		c := client(t, "claude")
		once, err := text(guard.Install(before, c, program))
		if err != nil {
			return
		}
		if !json.Valid(once) {
			t.Fatalf("no JSON: %q", once)
		}
		if twice, err := text(guard.Install(once, c, program)); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("not the same again, %v: %q", err, twice)
		}
		if after, err := text(guard.Uninstall(once, c)); err != nil || after != nil && !json.Valid(after) {
			t.Fatalf("uninstalled, %v: %q", err, after)
		}
	})
}

func FuzzInstallServer(f *testing.F) {
	for _, seed := range []string{"", "a = 1\n", "[mcp_servers.waybill]\ncommand = \"x\"\nargs = [\"mcp\"]\n", "a = \"\"\"\n\"\"\"\"\n'b'.\"c\" = [ # x\n]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, before []byte) {
		c := client(t, "codex")
		once, err := text(guard.InstallServer(before, c, program))
		if err != nil {
			return
		}
		if twice, err := text(guard.InstallServer(once, c, program)); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("not the same again, %v: %q", err, twice)
		}
		if _, err := guard.UninstallServer(once, c); err != nil && !strings.Contains(err.Error(), "has more than") {
			t.Fatalf("uninstalled, %v: %q", err, once)
		}
	})
}
