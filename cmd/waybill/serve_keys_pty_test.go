//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

// keyOn returns the key that a screen shows, which must have exactly one.
func keyOn(t *testing.T, screen string) string {
	t.Helper()
	at := strings.Index(screen, httpkeys.Prefix)
	if at < 0 || strings.Count(screen, httpkeys.Prefix) != 1 || len(screen) < at+56 {
		t.Fatalf("no key, or several, on the screen:\n%s", screen)
	}
	return screen[at : at+56]
}

// TestKeyIsShownOnce: the person who adds a key gets it once, as text or in the document; it is in no file, no list, no log
// and no bundle, and the file has its digest.
func TestKeyIsShownOnce(t *testing.T) {
	t.Parallel()
	dir := newDir(t, shipFlow)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	_ = p.command("start", "w.yaml").Run()
	text := keyOn(t, p.atTerminal(0, "y", "serve", "keys", "add", "text", "--scope", "runs:read", "--log-level", "debug"))
	screen := p.atTerminal(0, "y", "serve", "keys", "add", "json", "--scope", "runs:read,runs:create", "--json")
	var doc struct {
		Kind string
		Data struct {
			Key, Name string
			Scopes    []string
		}
	}
	if err := json.Unmarshal([]byte(screen[strings.LastIndex(screen, `{"v":1,`):]), &doc); err != nil {
		t.Fatal(err, screen)
	}
	if doc.Kind != "serve_key" || doc.Data.Key != keyOn(t, screen) || doc.Data.Name != "json" ||
		strings.Join(doc.Data.Scopes, " ") != "runs:create runs:read" || doc.Data.Key == text {
		t.Errorf("%+v", doc)
	}
	out, err := p.command("export", "@last", "-o", "b.json").CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	digests := map[string]int{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, key := range []string{text, doc.Data.Key} {
			if bytes.Contains(data, []byte(key[len(httpkeys.Prefix):])) {
				t.Errorf("%s has a key", path)
			}
			if bytes.Contains(data, []byte(canon.Sum([]byte(key)).String())) {
				digests[filepath.Base(path)]++
			}
		}
		return err
	})
	if err != nil || len(digests) != 1 || digests["http.json"] != 2 {
		t.Errorf("the digests of the keys are in %v, %v", digests, err)
	}
	for _, args := range [][]string{{"serve", "keys", "list", "--json"}, {"audit", "list", "--json"}, {"doctor"}, {"verify"}} {
		out, _ := p.command(args...).CombinedOutput()
		if strings.Contains(string(out), text[4:]) || strings.Contains(string(out), canon.Sum([]byte(text)).String()) {
			t.Errorf("%v shows the key, or its digest", args)
		}
	}
}

// TestKeysAddedAtOnce: of persons who answer at the same time, each gets a key that counts or a refusal after which nothing
// of it exists; the keys are confirmed afterwards.
func TestKeysAddedAtOnce(t *testing.T) {
	t.Parallel()
	dir := newDir(t, shipFlow)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	p.atTerminal(0, "y", "serve", "keys", "add", "first", "--scope", "runs:read")
	names := []string{"a", "b", "c", "d", "e"}
	sessions := make([]*terminalSession, len(names))
	for i, name := range names {
		sessions[i] = startAtTerminal(t, dir, 80, "serve", "keys", "add", name, "--scope", "runs:read")
		sessions[i].expect("Add it? [y/N]")
	}
	var wg sync.WaitGroup
	for _, s := range sessions {
		s.typeText("y\n")
		wg.Go(func() { <-s.done })
	}
	wg.Wait()
	var doc struct {
		Confirmed bool
		Keys      []struct{ Name string }
	}
	p.json(&doc, "serve", "keys", "list")
	var stored []byte
	stored, err := os.ReadFile(filepath.Join(p.store, "keys", "http.json"))
	if err != nil {
		t.Fatal(err)
	}
	added := 1
	for i, s := range sessions {
		screen := s.text()
		has := bytes.Contains(stored, []byte(`"name":"`+names[i]+`"`))
		switch {
		case strings.Contains(screen, httpkeys.Prefix):
			added++
			if !bytes.Contains(stored, []byte(canon.Sum([]byte(keyOn(t, screen))).String())) {
				t.Errorf("%s: the key that was shown is not stored", names[i])
			}
		case has || !strings.Contains(screen, "[STORE_CONFLICT]"):
			t.Errorf("%s: stored %v:\n%s", names[i], has, screen)
		}
	}
	if !doc.Confirmed || len(doc.Keys) != added || added < 2 {
		t.Errorf("%d keys were added: %+v", added, doc)
	}
	if out, err := p.command("verify").CombinedOutput(); err != nil {
		t.Error(string(out))
	}
}
