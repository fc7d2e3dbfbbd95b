package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestSchemaFileIsCurrent: editors are pointed at the file in the documentation, so it
// is, byte for byte, what the program prints.
func TestSchemaFileIsCurrent(t *testing.T) {
	for name := range schemaDocuments {
		var out, errOut bytes.Buffer
		if status := run([]string{"schema", name}, strings.NewReader(""), &out, &errOut, nil); status != 0 || errOut.Len() > 0 {
			t.Fatalf("schema %s: exit status %d, %s", name, status, errOut.String())
		}
		current(t, "../../docs/schema/"+name+".schema.json", out.String())
	}
}
