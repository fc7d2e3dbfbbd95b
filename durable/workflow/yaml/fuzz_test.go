package yaml

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

// FuzzYAML checks that Parse does not panic, that an accepted document is a valid JSON value,
// and that parsing its JSON text as YAML or JSON gives the same value.
func FuzzYAML(f *testing.F) {
	files, _ := filepath.Glob("../../../testdata/workflows/*.y*ml")
	more, _ := filepath.Glob("../../../testdata/workflows/invalid/*.y*ml")
	for _, name := range append(files, more...) {
		if data, err := os.ReadFile(name); err == nil {
			f.Add(string(data))
		}
	}
	for _, seed := range []string{"a: &x 1\nb: *x\n", "? [a]\n: b\n", "- ! 12\n- !!str x\n", "{<<: {a: 1}}",
		"a: 0x1F\nb: 0o17\nc: .5e-3\n", "\"\\ud800\"", "a: |2+\n   x\n\n", "%YAML 1.2\n---\na\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse([]byte(text))
		if err != nil {
			return
		}
		jcs, err := v.AppendJCS(nil)
		if err != nil {
			t.Fatalf("accepted a document that is not JSON: %v", err)
		}
		again, err := canon.Parse(jcs)
		if err != nil || !again.Equal(v) {
			t.Fatalf("read again as JSON: %v, %v; want %s", again, err, jcs)
		}
		// YAML rejects some characters and long keys that JSON allows, but it never gives
		// JSON text another meaning.
		if twice, err := Parse(jcs); err == nil && !twice.Equal(v) {
			t.Fatalf("read again as YAML: %s; want %s", twice.JCS(), jcs)
		}
	})
}
