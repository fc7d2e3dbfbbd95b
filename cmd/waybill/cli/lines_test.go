package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestLinesOfADocument: items keep their bytes, characters that are not printed are escaped in all lines, and the rest
// of the document is on stderr where it says something.
func TestLinesOfADocument(t *testing.T) {
	for data, want := range map[string]struct{ out, rest string }{
		`{"a":1.50,"xs":[{"b":"\u0041é#","xs":[1, 2]},[],"x"],"z":{"xs":[3]}},"beside":["#"]`: {
			`{"b":"\u0041é\u2028","xs":[1, 2]}` + "\n[]\n" + `"x"` + "\n",
			`{"a":1.50,"xs":[],"z":{"xs":[3]}},"beside":["\u2028"]`},
		`{"xs":[]}`: {},
		`{"health":"healthy","id":"i","partial":false,"none":[],"nextCursor":"","xs":[1]}`: {out: "1\n"},
		`{"health":"corrupt_tail","xs":[]}`:                                                {rest: `{"health":"corrupt_tail","xs":[]}`},
		`{"nextCursor":"c","xs":[]}`:                                                       {rest: `{"nextCursor":"c","xs":[]}`},
		`{"more":true,"xs":[1]}`:                                                           {out: "1\n", rest: `{"more":true,"xs":[]}`},
		`{"partial":true,"xs":[]}`:                                                         {rest: `{"partial":true,"xs":[]}`},
		`{"unreadable":[{}],"xs":[]}`:                                                      {rest: `{"unreadable":[{}],"xs":[]}`},
	} {
		var out, rest bytes.Buffer
		a := &App{Process: Process{Out: &out, Err: &rest}, list: "xs"}
		if want.rest != "" {
			want.rest = `{"v":1,"kind":"k","data":` + want.rest + "}\n"
		}
		err := a.Document("k", []byte(strings.ReplaceAll(data, "#", "\u2028")))
		if err != nil || out.String() != want.out || rest.String() != want.rest {
			t.Errorf("%s: %v\n%swant\n%son stderr\n%swant\n%s", data, err, &out, want.out, &rest, want.rest)
		}
	}
}
