package trust

import (
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
// (docs/design.md#checks). Relative folders of PATH are left out: what they contain depends on the
// folder in which a check runs. So are values that are no text or longer than
// limits.EnvironmentValueBytesMax.
func Environment(environ []string) map[string]string {
	out := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		upper := strings.ToUpper(name)
		if upper == "PATH" {
			name, value = "PATH", absolute(value)
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

// absolute returns the absolute folders of a PATH.
func absolute(path string) string {
	folders := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(folders, string(filepath.ListSeparator))
}
