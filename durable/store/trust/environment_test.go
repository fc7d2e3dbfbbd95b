package trust_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/store/trust"
)

// TestEnvironment: checks get where programs are, and nothing that chooses what they do.
func TestEnvironment(t *testing.T) {
	usable := func(dir string) bool { return dir != "/project/bin" }
	got := trust.Environment([]string{"PATH=/project/bin:/usr/bin:.::bin:/bin", "HOME=/home/you", "LC_TIME=C", "SKIP_TESTS=1", "GOFLAGS=-run=^$",
		"BASH_ENV=/tmp/x", "ENV=/tmp/x", "LD_PRELOAD=/tmp/x.so", "GIT_DIR=/tmp/x", "NODE_OPTIONS=--require=/tmp/x", "TZ=", "SHELL",
		"TMPDIR=a\x00b", "USER=\xff", "GOPATH=" + strings.Repeat("x", limits.EnvironmentValueBytesMax+1), "HOME2=/x"}, usable)
	want := map[string]string{"PATH": "/usr/bin:/bin", "HOME": "/home/you", "LC_TIME": "C"}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// TestEnviron: settings of the user that can switch tests off are ignored, and those of the person are not changed.
func TestEnviron(t *testing.T) {
	f := trust.Fixed{Env: map[string]string{"PATH": "/bin"}}
	got := f.Environ()
	if got["GOENV"] != "off" || got["NPM_CONFIG_USERCONFIG"] != "/dev/null" || got["ZDOTDIR"] != "/dev/null" || got["MAVEN_SKIP_RC"] != "1" ||
		got["PATH"] != "/bin" || len(f.Env) != 1 {
		t.Errorf("%v of %v", got, f.Env)
	}
	if again := (trust.Fixed{}).Environ(); len(again) != len(got)-1 {
		t.Errorf("%v", again)
	}
}

// TestHomeFolders: folders of PATH in which each program of the user can write.
func TestHomeFolders(t *testing.T) {
	for _, row := range []struct{ home, path, want string }{
		{"/srv/you", "/usr/bin:/srv/you/bin:/srv/yours/bin:/srv:/srv/you/../you/go/bin:/srv/you", "/srv/you/bin /srv/you/../you/go/bin /srv/you"},
		{"/srv/you/", "/usr/bin:/bin", ""},
		{"", "/usr/bin", ""},
		{".", "/usr/bin", ""},
	} {
		f := trust.Fixed{Env: map[string]string{"HOME": row.home, "PATH": row.path}}
		if got := strings.Join(f.HomeFolders(), " "); got != row.want {
			t.Errorf("%q: got %q", row.home, got)
		}
	}
}
