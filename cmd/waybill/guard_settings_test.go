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
	cmd := exec.Command("person", append([]string{answer, "waybill"}, args...)...)
	cmd.Dir, cmd.Env = g.dir, append(os.Environ(), g.env()...)
	out, _ := cmd.CombinedOutput()
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
	// A file that does not exist yet.
	if out := g.atTerminal("y", "mcp", "install", "opencode"); !strings.Contains(out, "The server is in") {
		t.Error(out)
	}
	if got, err := os.ReadFile(filepath.Join(g.home, "config", "opencode", "opencode.json")); err != nil || !json.Valid(got) {
		t.Errorf("%s, %v", got, err)
	}
}

// refusedSettings calls a command that has to refuse the settings: one sentence says why.
func (g *guarded) refusedSettings(name, want string, args ...string) {
	g.Helper()
	var out, errOut bytes.Buffer
	status := run(args, strings.NewReader(""), &out, &errOut, g.env())
	if status == 0 || out.Len() > 0 || !strings.Contains(errOut.String(), want) {
		g.Errorf("%s, %v: exit status %d, %s%s", name, args, status, out.String(), errOut.String())
	}
}

// TestSettingsThatAreRefused: settings that cannot be changed stay as they are, for each client and command.
func TestSettingsThatAreRefused(t *testing.T) {
	g := newGuarded(t, nil)
	kinds := map[string]map[string][2]string{
		".json": {"comments": {"{} // mine", "not JSON"}, "empty": {"", "empty"}, "list": {"[]", "not an object"},
			"torn": {`{"hooks":{"Stop":[`, "not JSON"}, "two values": {"{}{}", "not JSON"},
			"large": {"{" + strings.Repeat(" ", 20<<20) + "}", "it has more than"}},
		".toml": {"inline": {"mcp_servers = {}\n", "a form that is not read here"},
			"large": {strings.Repeat("#\n", 10<<20), "a form that is not read here"}},
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
	for name, text := range map[string]string{"object": `{"hooks":1}`, "twice": `{"hooks":{},"hooks":{}}`} {
		f := g.settingsFiles()[0]
		g.write(f.path, text)
		g.refusedSettings(name, `"hooks"`, f.install...)
	}
	g.refusedSettings("unknown", "unknown client", "guard", "install", "x")
	g.refusedSettings("unknown", "unknown client", "mcp", "uninstall", "x")
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
			text, err := guard.Install(nil, c, guard.Program{Path: "/old/waybill"})
			if err != nil {
				t.Fatal(err)
			}
			before = string(text) // the same plugin of another place
		}
		refused := func(name, want string, mode fs.FileMode, change string) {
			t.Helper()
			g.write(f.path, before)
			if err := os.Chmod(f.path, mode); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("person", append([]string{"y", "waybill"}, f.install...)...)
			cmd.Dir, cmd.Env = g.dir, append(os.Environ(), append(g.env(), "CHANGED_MEANWHILE="+change)...)
			out, err := cmd.CombinedOutput()
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
