package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/cmd/waybill/schema"
)

// TestSchemaFilesAreCurrent: editors use the schema files in docs/schema, so these must be byte
// for byte what the program prints, and the directory must contain no other files.
func TestSchemaFilesAreCurrent(t *testing.T) {
	t.Parallel()
	for _, name := range schema.Names() {
		var out, errOut bytes.Buffer
		if status := run([]string{"schema", name}, strings.NewReader(""), &out, &errOut, nil); status != 0 ||
			errOut.Len() > 0 {
			t.Fatalf("schema %s: exit status %d, %s", name, status, errOut.String())
		}
		current(t, "../../docs/schema/"+name+".schema.json", out.String())
	}
	entries, err := os.ReadDir("../../docs/schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".schema.json"); !ok || !slices.Contains(schema.Names(), name) {
			t.Errorf("docs/schema/%s is not a schema of the program", e.Name())
		}
	}
}
