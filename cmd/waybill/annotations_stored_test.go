package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestStoredAnnotationsMatchSchema checks that stored annotation records are valid by their
// schema, and that records with an added or removed member are not.
func TestStoredAnnotationsMatchSchema(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	call := func(args ...string) string {
		t.Helper()
		var out, errOut bytes.Buffer
		if status := run(append(args, "--json"), strings.NewReader(""), &out, &errOut,
			[]string{"HOME=" + dir, "USERPROFILE=" + dir, "WAYBILL_HOME=" + filepath.Join(dir, "home")}); status != 0 {
			t.Fatalf("%q: %s%s", args, out.String(), errOut.String())
		}
		var doc struct {
			Data struct{ AnnotationID string }
		}
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		return doc.Data.AnnotationID
	}
	call("start", "wr.change_checklist", "--set", "change=x")
	first := call("annotate", "@last", "--rating", "4", "--note", "n")
	second := call("annotate", "@last", "--node", "reason", "--correction", "c", "--confidence", "0.5", "--supersedes",
		first)
	call("annotate", "@last", "--label", "l")
	call("annotate", "@last", "--flag")
	call("annotations", "retract", "@last", second, "--reason", "r")
	records := validStore(t, filepath.Join(dir, "home/local"))["annotation-event"]
	if len(records) != 5 {
		t.Fatalf("%d annotation records, want 5", len(records))
	}
	for _, record := range records {
		refusesOthers(t, "annotation-event", record)
	}
}
