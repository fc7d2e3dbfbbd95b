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
	got := trust.Environment([]string{"PATH=/usr/bin:.::bin:/bin", "HOME=/home/you", "LC_TIME=C", "SKIP_TESTS=1", "GOFLAGS=-run=^$",
		"BASH_ENV=/tmp/x", "ENV=/tmp/x", "LD_PRELOAD=/tmp/x.so", "GIT_DIR=/tmp/x", "NODE_OPTIONS=--require=/tmp/x", "TZ=", "SHELL",
		"TMPDIR=a\x00b", "USER=\xff", "GOPATH=" + strings.Repeat("x", limits.EnvironmentValueBytesMax+1), "HOME2=/x"})
	want := map[string]string{"PATH": "/usr/bin:/bin", "HOME": "/home/you", "LC_TIME": "C"}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
