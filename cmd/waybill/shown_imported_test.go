//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportedApprovalIsMarked: an approval that came with a bundle is shown, and does not count where it is shown.
func TestImportedApprovalIsMarked(t *testing.T) {
	c := newCalls(t)
	const flow = `{"id":"test.ship","name":"Ship","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p","requireConfirmation":{"kind":"human_approval"}}]}`
	if err := os.WriteFile("ship.json", []byte(flow), 0o600); err != nil {
		t.Fatal(err)
	}
	c.with("", "start", "ship.json")
	var out, errOut strings.Builder
	run([]string{"continue", "--run", "@last", "--notes", "n"}, strings.NewReader(""), &out, &errOut, c.env()) // blocked
	atTerminal(t, c.dir, "approve", "@last", "--as", "ada", "--comment", "fine")
	c.with("", "export", "@last", "-o", "b.json")
	second := filepath.Join(c.dir, "second")
	c.with("", "import", "b.json", "--store", second)
	for store, want := range map[string]bool{filepath.Join(c.dir, "home/local"): false, second: true} {
		var shown struct {
			Approvals []struct {
				By       string
				Imported bool
			}
		}
		if err := json.Unmarshal(c.with("", "runs", "show", "@last", "--store", store), &shown); err != nil {
			t.Fatal(err)
		}
		if a := shown.Approvals; len(a) != 1 || a[0].By != "ada" || a[0].Imported != want {
			t.Errorf("%s: %+v", store, a)
		}
		for _, args := range [][]string{{"runs", "show", "@last"}, {"runs", "show", "@last", "--step", "a"}} {
			text := printedBy(t, c.env(), append(args, "--store", store), false)
			if !strings.Contains(text, "approved by ada at ") || strings.Contains(text, "it does not count here") != want {
				t.Errorf("%v in %s: %s", args, store, text)
			}
		}
	}
}
