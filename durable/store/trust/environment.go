package trust

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/limits"
)

// variables are the environment variables that checks get: where programs and their files are, who
// the user is, the language and the time zone. None of them chooses what a program does, as options
// for compilers, loaders and test runners do.
var variables = []string{
	"ANDROID_HOME", "APPDATA", "CARGO_HOME", "COMSPEC", "CONDA_PREFIX", "DOTNET_ROOT", "GEM_HOME", "GOCACHE",
	"GOMODCACHE", "GOPATH", "GOROOT", "GRADLE_USER_HOME", "HOME", "HOMEDRIVE", "HOMEPATH", "JAVA_HOME", "LANG",
	"LANGUAGE", "LOCALAPPDATA", "LOGNAME", "NVM_DIR", "PATHEXT", "PNPM_HOME", "PROGRAMDATA", "PROGRAMFILES",
	"PYENV_ROOT", "RBENV_ROOT", "RUSTUP_HOME", "SHELL", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "TZ",
	"USER", "USERNAME", "USERPROFILE", "VIRTUAL_ENV", "VOLTA_HOME", "WINDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
	"XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
}

// Environment returns the variables of an environment, as from os.Environ, that checks get
// (docs/design.md#checks). Of PATH the relative folders are left out, since what they contain depends on
// the folder in which a check runs, and those that usable reports as false: a program that the work can
// replace is no program of a check. So are values that are no text or longer than
// limits.EnvironmentValueBytesMax.
func Environment(environ []string, usable func(dir string) bool) map[string]string {
	out := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		upper := strings.ToUpper(name)
		if upper == "PATH" {
			name, value = "PATH", searched(value, usable)
		}
		_, listed := slices.BinarySearch(variables, upper)
		if !listed && upper != "PATH" && !strings.HasPrefix(name, "LC_") || value == "" || !utf8.ValidString(pair) ||
			strings.ContainsRune(pair, 0) || len(value) > limits.EnvironmentValueBytesMax {
			continue
		}
		out[name] = value
	}
	return out
}

// searched returns the absolute folders of a PATH that are usable.
func searched(path string, usable func(dir string) bool) string {
	folders := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) || !usable(dir) })
	return strings.Join(folders, string(filepath.ListSeparator))
}

// nullDevice is a file that is always empty.
var nullDevice = map[rune]string{'/': "/dev/null", '\\': "NUL"}[filepath.Separator]

// settings are variables with which tools ignore the settings of the user in the home folder, where
// those can switch tests off: any program that runs as the user can write them.
var settings = map[string]string{
	"GOENV":                 "off",      // of "go env -w", GOFLAGS among them
	"MAVEN_SKIP_RC":         "1",        // ~/.mavenrc, with options
	"NPM_CONFIG_USERCONFIG": nullDevice, // ~/.npmrc: script-shell is what runs the tests
	"ZDOTDIR":               nullDevice, // ~/.zshenv, which each script of zsh begins with
}

// Environ returns the environment in which checks run: what was fixed, and variables with which tools
// ignore settings of the user that can switch tests off. A check that needs these has the variable in
// its own env.
func (f Fixed) Environ() map[string]string {
	out := maps.Clone(settings)
	maps.Copy(out, f.Env)
	return out
}

// HomeFolders returns the folders of PATH that are the home folder of the user or below it, as they are
// in PATH. A check finds programs there that each program of the user can replace.
func (f Fixed) HomeFolders() (out []string) {
	home := cmp.Or(f.Env["HOME"], f.Env["USERPROFILE"])
	if !filepath.IsAbs(home) {
		return nil
	}
	for _, dir := range filepath.SplitList(f.Env["PATH"]) {
		if rel, err := filepath.Rel(home, dir); err == nil && filepath.IsLocal(rel) {
			out = append(out, dir)
		}
	}
	return out
}
