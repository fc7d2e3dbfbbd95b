package terminal_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/infra/terminal"
)

func TestRedraw(t *testing.T) {
	for _, row := range []struct {
		rows       int
		text, want string
	}{{3, "a\nb\n", "a\nb"}, {2, "a\nb\nc\n", "a\nb"}, {0, "a\nb\nc\n", "a\nb\nc"}, {2, "", ""}} {
		var out strings.Builder
		if err := terminal.Redraw(&out, row.rows, row.text); err != nil || out.String() != "\x1b[H\x1b[2J"+row.want {
			t.Errorf("%+v: %q %v", row, out.String(), err)
		}
	}
}
