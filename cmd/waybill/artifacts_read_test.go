package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

// TestArtifactsAreReadExactly: get prints the bytes as they are stored and replaces no file; nothing is
// printed of a damaged artifact, and an erased, an unknown and an ambiguous one are named as such.
func TestArtifactsAreReadExactly(t *testing.T) {
	c := newCalls(t)
	content := []byte("{\"kind\":\"test.x\",\"text\":\"\u202e\\u001b[2J\"}\n")
	if err := os.WriteFile("x.json", content, 0o600); err != nil {
		t.Fatal(err)
	}
	c.with("", "start", "wr.change_checklist", "--set", "change=x")
	c.with("", "checkpoint", "--run", "@last", "--notes", "n", "--artifact", "x.json")
	list := string(c.with("", "artifacts", "list"))
	_, digest, _ := strings.Cut(list, `"sha256":"`)
	digest = digest[:strings.Index(digest, `"`)]
	call := func(want int, args ...string) string {
		t.Helper()
		var out, errOut bytes.Buffer
		if got := run(args, strings.NewReader(""), &out, &errOut, c.env()); got != want {
			t.Fatalf("%v: exit status %d, want %d: %s", args, got, want, errOut.String())
		}
		return out.String()
	}
	stored := filepath.Join(c.dir, "home/local/artifacts", strings.Replace(digest, ":", "_", 1))
	want, err := os.ReadFile(stored)
	if err != nil {
		t.Fatal(err)
	}
	hex := strings.TrimPrefix(digest, "sha256:")
	for _, ref := range []string{digest, hex, hex[:12]} {
		if got := call(0, "artifacts", "get", ref); got != string(want) || canon.Sum([]byte(got)).String() != digest {
			t.Errorf("get %s: %q", ref, got)
		}
	}
	if text := call(0, "artifacts", "show", hex[:8]); strings.ContainsAny(text, "\u202e\x1b") || !strings.Contains(text, "test.x") {
		t.Errorf("show: %q", text)
	}
	call(0, "artifacts", "get", digest, "-o", "out")
	if got, _ := os.ReadFile("out"); !bytes.Equal(got, want) {
		t.Errorf("-o: %q", got)
	}
	call(2, "artifacts", "get", digest, "-o", "out")
	if out := call(2, "artifacts", "get", digest, "-o", ""); out != "" {
		t.Errorf("-o without a name: %q", out)
	}
	call(6, "artifacts", "get", strings.Repeat("0", 64))
	call(6, "artifacts", "show", strings.Repeat("0", 64))
	call(2, "artifacts", "get", "zz")
	call(6, "runs", "logs", "--step", "nothing")
	call(6, "runs", "show", "--step", "nothing")
	damaged := append(bytes.Clone(want), 'x')
	if err := os.WriteFile(stored, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := call(5, "artifacts", "get", digest); out != "" {
		t.Errorf("of a damaged artifact %q is printed", out)
	}
	call(5, "artifacts", "get", digest, "-o", "damaged")
	if _, err := os.Stat("damaged"); err == nil {
		t.Error("a file of a damaged artifact was made")
	}
	call(5, "artifacts", "show", digest)
	if err := os.WriteFile(stored, want, 0o600); err != nil {
		t.Fatal(err)
	}
	c.with("", "artifacts", "erase", digest, "--reason", "a secret", "--yes")
	if text := call(0, "artifacts", "show", digest); !strings.Contains(text, "a secret") {
		t.Errorf("show of an erased artifact: %s", text)
	}
	if text := call(0, "artifacts", "list"); !strings.Contains(text, "erased") {
		t.Errorf("list of an erased artifact: %s", text)
	}
	call(1, "artifacts", "get", digest)
}

// TestArtifactPrefixes: a prefix that two artifacts have names neither, not even if one of them was erased.
func TestArtifactPrefixes(t *testing.T) {
	c := newCalls(t)
	byPrefix := map[string]string{} // text by the first six digits
	var texts []string
	var prefix string
	for i := 0; texts == nil; i++ { // 24 bits collide after some thousand texts
		text := fmt.Sprintf("text %d", i)
		prefix = strings.TrimPrefix(canon.Sum([]byte(text)).String(), "sha256:")[:6]
		if other, ok := byPrefix[prefix]; ok {
			texts = []string{other, text}
		}
		byPrefix[prefix] = text
	}
	c.with("", "start", "wr.change_checklist", "--set", "change=x")
	for _, text := range texts {
		if err := os.WriteFile("x.txt", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.with("", "checkpoint", "--run", "@last", "--notes", text, "--artifact", "x.txt")
	}
	ambiguous := func() {
		t.Helper()
		for _, what := range []string{"show", "get"} {
			var out, errOut bytes.Buffer
			if got := run([]string{"artifacts", what, prefix}, strings.NewReader(""), &out, &errOut, c.env()); got != 2 ||
				out.Len() > 0 || !strings.Contains(errOut.String(), "several artifacts") {
				t.Errorf("%s %s: exit status %d, %s%s", what, prefix, got, out.String(), errOut.String())
			}
		}
	}
	ambiguous()
	c.with("", "artifacts", "erase", canon.Sum([]byte(texts[0])).String(), "--reason", "r", "--yes")
	ambiguous()
	var out, errOut bytes.Buffer
	if got := run([]string{"artifacts", "get", strings.ToUpper(strings.TrimPrefix(canon.Sum([]byte(texts[1])).String(), "sha256:")[:12])},
		strings.NewReader(""), &out, &errOut, c.env()); got != 0 || out.String() != texts[1] {
		t.Errorf("a longer prefix: exit status %d, %s%s", got, out.String(), errOut.String())
	}
}
