//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/invisible"
)

// TestStoredBytesAreEscapedAtTerminal: what is exact in a pipe has the same value at a terminal, and nothing in it is
// executed or hidden.
func TestStoredBytesAreEscapedAtTerminal(t *testing.T) {
	t.Parallel()
	dir := newDir(t, "")
	if err := os.WriteFile(filepath.Join(dir, "flow.json"), []byte(hostileWorkflow(tame)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"start", "flow.json"}, {"continue", "--run", "@last", "--notes", tame + "\u009b2J"}} {
		s := startAtTerminal(t, dir, 200, append(args, "--json")...)
		<-s.done
		_ = s.cmd.Wait()
	}
	for _, args := range [][]string{{"runs", "events", "@last"}, {"runs", "watch", "@last", "--all", "--json"},
		{"workflows", "compile", "flow.json"}, {"export", "@last", "-o", "-"}} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			s := startAtTerminal(t, dir, 200, args...)
			if args[1] == "watch" {
				s.expect(`"node_output_appended"`)
				_ = s.cmd.Process.Signal(os.Interrupt)
			}
			<-s.done
			_ = s.cmd.Wait()
			s.mu.Lock()
			screen := strings.ReplaceAll(s.all.String(), "\r\n", "\n")
			s.mu.Unlock()
			documents := 0
			rest := strings.NewReader(screen[strings.IndexByte(screen, '{'):])
			for d := json.NewDecoder(rest); ; documents++ {
				var doc any
				if d.Decode(&doc) != nil {
					break
				}
				if raw := screen[:strings.LastIndexByte(screen, '}')+1]; strings.ContainsFunc(raw,
					func(r rune) bool { return r != '\n' && invisible.Is(r) }) && args[1] != "watch" {
					t.Fatalf("shown raw: %q", raw)
				}
			}
			if documents == 0 || !strings.Contains(screen, `\u202e`) || strings.Contains(screen, "\u202e") ||
				strings.Contains(screen, "\u009b") {
				t.Errorf("%d documents: %q", documents, screen)
			}
		})
	}
}
