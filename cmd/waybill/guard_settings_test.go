package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/guard"
)

// atTerminal answers the question of a command as a person does.
func (g *guarded) atTerminal(answer string, args ...string) string {
	g.Helper()
	cmd := exec.Command("waybill", args...)
	cmd.Dir, cmd.Env = g.dir, append(os.Environ(), g.env()...)
	out, _ := withPerson(cmd, answer)
	return string(out)
}

// settingsFile is a file of a client in the home directory of the test, and how it is changed.
type settingsFile struct {
	file      guard.File
	path      string
	install   []string
	uninstall []string
	ours      string // what an installed file contains
}

// settingsFiles are the files of all clients.
func (g *guarded) settingsFiles() (out []settingsFile) {
	at := func(f guard.File) string {
		dir := f.Dir
		if f.Variable == "XDG_CONFIG_HOME" {
			dir = "config" // of guarded.env
		}
		return filepath.Join(g.home, filepath.FromSlash(dir), filepath.FromSlash(f.Name))
	}
	for _, c := range guard.Clients {
		out = append(out, settingsFile{c.Settings, at(c.Settings), []string{"guard", "install", c.Name},
			[]string{"guard", "uninstall", c.Name}, c.Name},
			settingsFile{c.Servers, at(c.Servers), []string{"mcp", "install", c.Name},
				[]string{"mcp", "uninstall", c.Name}, "mcp"})
	}
	return out
}

// before is the text of a settings file as its user wrote it; "" for no file.
func (f settingsFile) before() string {
	switch filepath.Ext(f.path) {
	case ".json":
		return "{\n    \"mine\": [1, 2],\n    \"hooks\": {\n        \"Stop\": [{\"hooks\": []}]\n    }\n}"
	case ".toml":
		return "# mine\nmodel = \"m\"\n\n[mcp_servers.other]\ncommand = \"x\"\n"
	default:
		return ""
	}
}

// TestSettingsChangeAfterAQuestion: without a terminal and for a no nothing is written. After a yes the file has the hooks
// or the server; installed again, nothing changes; uninstall restores bytes and permissions.
func TestSettingsChangeAfterAQuestion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no pty")
	}
	g := newGuarded(t, nil)
	for _, f := range g.settingsFiles() {
		name, before := strings.Join(f.install, " "), f.before()
		if before != "" {
			g.write(f.path, before)
			if err := os.Chmod(f.path, 0o640); err != nil {
				t.Fatal(err)
			}
		}
		unchanged := func(when string) {
			t.Helper()
			info, err := os.Stat(f.path)
			if before == "" {
				if err == nil {
					t.Errorf("%s, %s: the file exists", name, when)
				}
				return
			}
			got, _ := os.ReadFile(f.path)
			if err != nil || string(got) != before || info.Mode().Perm() != 0o640 {
				t.Errorf("%s, %s: %v\n%s", name, when, err, got)
			}
		}
		if out := g.call(0, "", append(f.install, "--print")...); !strings.Contains(out, f.ours) {
			t.Errorf("%s: %s", name, out)
		}
		g.call(3, "", f.install...)
		g.call(0, "", f.uninstall...)
		if out := g.atTerminal("n", f.install...); !strings.Contains(out, "not confirmed") || !strings.Contains(out, "[y/N]") {
			t.Errorf("%s: %s", name, out)
		}
		unchanged("nothing confirmed")
		if out := g.atTerminal("y", f.install...); !strings.Contains(out, "The hooks are in") &&
			!strings.Contains(out, "The server is in") {
			t.Errorf("%s: %s", name, out)
		}
		got, _ := os.ReadFile(f.path)
		if string(got) == before || !strings.Contains(string(got), f.ours) || f.file.JSON() && !json.Valid(got) {
			t.Errorf("%s: %s", name, got)
		}
		// The same program installs it again.
		if out := g.atTerminal("n", f.install...); !strings.Contains(out, "Nothing changes") {
			t.Errorf("%s: %s", name, out)
		}
		g.call(3, "", f.uninstall...)
		if out := g.atTerminal("y", f.uninstall...); !strings.Contains(out, "removed") {
			t.Errorf("%s: %s", name, out)
		}
		unchanged("uninstalled")
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(f.path), ".waybill-*")); len(left) > 0 {
			t.Errorf("%s: files are left: %v", name, left)
		}
		_ = os.Remove(f.path)
	}
}

// TestSettingsThatDidNotExist: a file that install makes is gone after uninstall, which says so.
func TestSettingsThatDidNotExist(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no pty")
	}
	g := newGuarded(t, nil)
	for _, f := range g.settingsFiles() {
		name := strings.Join(f.install, " ")
		if out := g.atTerminal("y", f.install...); !strings.Contains(out, " in") {
			t.Errorf("%s: %s", name, out)
		}
		if got, err := os.ReadFile(f.path); err != nil || !strings.Contains(string(got), f.ours) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		if out := g.call(0, "", append(f.uninstall, "--print", "--json")...); !strings.Contains(out, `"removed":true`) {
			t.Errorf("%s: %s", name, out)
		}
		if out := g.atTerminal("y", f.uninstall...); !strings.Contains(out, "has nothing else, and is removed") {
			t.Errorf("%s: %s", name, out)
		}
		if _, err := os.Lstat(f.path); err == nil {
			t.Errorf("%s: the file is left", name)
		}
	}
}

// TestSettingsSelectTheStore: a hook and a server use the store of the call that installed them, also where the
// environment selects it, which a client may not have. The store of an empty environment has no flag.
func TestSettingsSelectTheStore(t *testing.T) {
	g := newGuarded(t, nil)
	data, stores := filepath.Join(g.home, "data"), filepath.Join(g.home, "stores")
	for name, row := range map[string]struct {
		env  []string
		args []string
		want []string
	}{
		"nothing":                         {nil, nil, nil},
		"a tenant":                        {nil, []string{"--tenant", "t"}, []string{"--tenant", "t"}},
		"$WAYBILL_HOME":                   {[]string{"WAYBILL_HOME=" + stores}, nil, []string{"--store", filepath.Join(stores, "local")}},
		"a relative $WAYBILL_HOME":        {[]string{"WAYBILL_HOME=s"}, nil, []string{"--store", filepath.Join(g.dir, "s", "local")}},
		"$WAYBILL_HOME with a tenant":     {[]string{"WAYBILL_HOME=" + stores}, []string{"--tenant", "t"}, []string{"--store", filepath.Join(stores, "t")}},
		"$XDG_DATA_HOME":                  {[]string{"XDG_DATA_HOME=" + data}, nil, []string{"--store", filepath.Join(data, "waybill", "local")}},
		"a store":                         {nil, []string{"--store", "s"}, []string{"--store", filepath.Join(g.dir, "s")}},
		"a relative $XDG_DATA_HOME":       {[]string{"XDG_DATA_HOME=data"}, nil, nil},
		"$WAYBILL_HOME of the same store": {[]string{"WAYBILL_HOME=" + filepath.Join(g.home, ".local", "share", "waybill")}, nil, nil},
	} {
		env := append([]string{"HOME=" + g.home, "USERPROFILE=" + g.home, "NO_COLOR=1"}, row.env...)
		call := func(args ...string) (lines []string) {
			var out, errOut bytes.Buffer
			if status := run(append(append(args, "--print", "--json"), row.args...), strings.NewReader(""), &out, &errOut, env); status != 0 {
				t.Fatalf("%s: %s%s", name, out.String(), errOut.String())
			}
			var doc struct{ Data struct{ Difference []string } }
			if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
				t.Fatal(err)
			}
			return doc.Data.Difference
		}
		words := func(want ...string) string {
			text, _ := json.Marshal(append(append([]string{}, row.want...), want...))
			return string(text)
		}
		server := strings.Join(call("mcp", "install", "claude"), "")
		if got := strings.Join(strings.Fields(strings.NewReplacer("+", "", `"args":`, "").Replace(server)), ""); !strings.Contains(got, words("mcp")) {
			t.Errorf("%s: the server has %s, want %s", name, server, words("mcp"))
		}
		hooks := strings.Join(call("guard", "install", "claude"), "\n")
		flags := ""
		for _, w := range row.want {
			flags += " " + w
		}
		if !strings.Contains(hooks, flags+" guard hook Stop --client claude") || flags == "" && strings.Contains(hooks, "--store") {
			t.Errorf("%s: the hooks are %s", name, hooks)
		}
	}
}

// refusedSettings calls a command that has to refuse the settings: one sentence says why.
func (g *guarded) refusedSettings(name, want string, args ...string) {
	g.Helper()
	var out, errOut bytes.Buffer
	status := run(args, strings.NewReader(""), &out, &errOut, g.env())
	text := strings.Join(strings.Fields(errOut.String()), " ")
	if status == 0 || out.Len() > 0 || !strings.Contains(text, want) || !strings.Contains(text, "Nothing was changed.") {
		g.Errorf("%s, %v: exit status %d, %s%s", name, args, status, out.String(), errOut.String())
	}
	g.wantByHand(errOut.String(), args)
}

// wantByHand checks that what is printed beside a refusal lets a person do it by hand: the lines to add, or what to remove.
func (g *guarded) wantByHand(printed string, args []string) {
	g.Helper()
	c, ok := guard.ClientOf(args[2])
	if !ok {
		return
	}
	if args[1] == "uninstall" {
		if strings.Contains(printed, "{") || !strings.Contains(printed, "by hand") {
			g.Errorf("%v: %s", args, printed)
		}
		return
	}
	f := c.Servers
	if args[0] == "guard" {
		f = c.Settings
	}
	_, lines, _ := strings.Cut(printed, ":\n")
	switch {
	case f.JSON() && !json.Valid([]byte(lines)), f.Plugin() && !strings.HasPrefix(lines, "// waybill-guard"),
		!f.JSON() && !f.Plugin() && !strings.HasPrefix(lines, "[mcp_servers.waybill]\n"):
		g.Errorf("%v: the lines are %s", args, lines)
	}
	var out struct {
		Error struct {
			Suggestion string
			Details    struct{ Lines []string }
		}
	}
	if err := json.Unmarshal([]byte(g.call(2, "", append(args, "--json")...)), &out); err != nil ||
		strings.Join(out.Error.Details.Lines, "\n")+"\n" != lines || !strings.HasSuffix(out.Error.Suggestion, ":") {
		g.Errorf("%v: %v, %+v", args, err, out)
	}
}

// TestSettingsThatAreRefused: settings that cannot be changed stay as they are, for each client and command.
func TestSettingsThatAreRefused(t *testing.T) {
	g := newGuarded(t, nil)
	kinds := map[string]map[string][2]string{
		".json": {"comments": {"{} // mine", "not JSON"}, "empty": {"", "empty"}, "list": {"[]", "not an object"},
			"torn": {`{"hooks":{"Stop":[`, "not JSON"}, "two values": {"{}{}", "not JSON"},
			"byte order mark": {"\ufeff{}", "not JSON"},
			"large":           {"{" + strings.Repeat(" ", 20<<20) + "}", "it has more than"}},
		".toml": {"inline": {"mcp_servers = {}\n", "a form that is not edited here"},
			"byte order mark": {"\ufeffa = 1\n", "not valid TOML"}, "torn": {"a = [\n", "not valid TOML"},
			"large": {strings.Repeat("#\n", 10<<20), "not valid TOML"}},
		".js": {"another": {"export const Mine = 1\n", "another plugin"}, "empty": {"", "another plugin"},
			"large": {strings.Repeat("/", 20<<20), "another plugin"}},
	}
	for _, f := range g.settingsFiles() {
		for name, row := range kinds[filepath.Ext(f.path)] {
			g.write(f.path, row[0])
			for _, args := range [][]string{f.install, f.uninstall} {
				g.refusedSettings(name, row[1], append(args, "--print")...)
				if got, _ := os.ReadFile(f.path); string(got) != row[0] {
					t.Errorf("%s, %v: %.100s", name, args, got)
				}
			}
		}
		_ = os.Remove(f.path)
		if err := os.Mkdir(f.path, 0o700); err != nil {
			t.Fatal(err)
		}
		g.refusedSettings("directory", "not a regular file", f.install...)
		_ = os.Remove(f.path)
		if runtime.GOOS != "windows" {
			target := filepath.Join(g.home, "target")
			g.write(target, f.before())
			if err := os.Symlink(target, f.path); err != nil {
				t.Fatal(err)
			}
			g.refusedSettings("link", "symbolic link", append(f.install, "--print")...)
			g.refusedSettings("link", "symbolic link", append(f.uninstall, "--print")...)
			if got, _ := os.ReadFile(target); string(got) != f.before() {
				t.Errorf("the target of the link: %s", got)
			}
			_ = os.Remove(f.path)
		}
	}
	// Read-only settings are refused before the question.
	for _, f := range g.settingsFiles() {
		before := f.before()
		if before == "" {
			r, _ := guard.Install(nil, guard.Clients[3], guard.Program{Path: "/old/waybill"})
			before = string(r.Text)
		}
		g.write(f.path, before)
		if err := os.Chmod(f.path, 0o440); err != nil {
			t.Fatal(err)
		}
		g.refusedSettings("read-only", "read-only", f.install...)
		g.refusedSettings("read-only", "read-only", append(f.install, "--print")...)
		_ = os.Chmod(f.path, 0o600)
		_ = os.Remove(f.path)
	}
	for name, text := range map[string]string{"object": `{"hooks":1}`, "twice": `{"hooks":{},"hooks":{}}`} {
		f := g.settingsFiles()[0]
		g.write(f.path, text)
		g.refusedSettings(name, `"hooks"`, f.install...)
	}
	for _, args := range [][]string{{"guard", "install", "x"}, {"mcp", "uninstall", "x"}} {
		g.call(2, "", args...)
	}
	// The other form of the settings of OpenCode.
	other := filepath.Join(g.home, "config", "opencode", "opencode.jsonc")
	g.write(other, "{ /* mine */ }")
	g.refusedSettings("opencode.jsonc", "opencode.jsonc: the client reads it", "mcp", "install", "opencode")
	g.call(0, "", "mcp", "uninstall", "opencode")
	if _, err := os.Stat(filepath.Join(g.home, "config", "opencode", "opencode.json")); err == nil {
		t.Error("a second file was made")
	}
	g.write(filepath.Join(g.home, "config", "opencode", "opencode.json"), "{}")
	g.call(0, "", "mcp", "install", "opencode", "--print")
}

// TestSettingsThatChangeMeanwhile: settings that another program changes between the question and the answer, that are
// read-only or whose directory is, are not changed, and no file is left.
func TestSettingsThatChangeMeanwhile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no pty")
	}
	g := newGuarded(t, nil)
	for _, f := range g.settingsFiles() {
		before := f.before()
		if before == "" {
			c, _ := guard.ClientOf("opencode")
			r, err := guard.Install(nil, c, guard.Program{Path: "/old/waybill"})
			if err != nil {
				t.Fatal(err)
			}
			before = string(r.Text) // the same plugin of another place
		}
		refused := func(name, want string, mode fs.FileMode, change string) {
			t.Helper()
			g.write(f.path, before)
			if err := os.Chmod(f.path, mode); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("waybill", f.install...)
			cmd.Dir, cmd.Env = g.dir, append(os.Environ(), append(g.env(), changedMeanwhileFile+"="+change)...)
			out, err := withPerson(cmd, "y")
			got, _ := os.ReadFile(f.path)
			wantText := before
			if change != "" {
				wantText += "\n"
			}
			info, _ := os.Stat(f.path)
			if err == nil || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), want) ||
				string(got) != wantText || info.Mode().Perm() != mode {
				t.Errorf("%s, %v: %v\n%s\n%s", name, f.install, err, out, got)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(f.path), ".waybill-*")); len(left) > 0 {
				t.Errorf("%s, %v: files are left: %v", name, f.install, left)
			}
			_ = os.Chmod(f.path, 0o600)
		}
		refused("changed", "changed by another program", 0o640, f.path)
		refused("read-only", "read-only", 0o440, "")
		_ = os.Remove(f.path)
	}
}
