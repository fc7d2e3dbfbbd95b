package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestLinesOfADocument: items keep their bytes, members beside data stay in the document, and characters that are not
// printed are escaped in all lines.
func TestLinesOfADocument(t *testing.T) {
	for data, want := range map[string]string{
		`{"a":1.50,"xs":[{"b":"\u0041é ","xs":[1, 2]},[],"x"],"z":{"xs":[3]}},"beside":[1]`: `{"b":"\u0041é\u2028","xs":[1, 2]}
[]
"x"
{"v":1,"kind":"k","data":{"a":1.50,"xs":[],"z":{"xs":[3]}},"beside":[1]}
`,
		`{"xs":[]}`: `{"v":1,"kind":"k","data":{"xs":[]}}` + "\n",
	} {
		var out bytes.Buffer
		a := &App{Process: Process{Out: &out}, list: "xs"}
		if err := a.Document("k", []byte(strings.ReplaceAll(data, "é ", "é\u2028"))); err != nil || out.String() != want {
			t.Errorf("%v\n%swant\n%s", err, &out, want)
		}
	}
}
