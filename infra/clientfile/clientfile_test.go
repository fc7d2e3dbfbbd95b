package clientfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/waybill/waybill/infra/clientfile"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a", "settings.json")
	if got, err := clientfile.Read(name, 10); got != nil || err != nil {
		t.Fatalf("a missing file: %q, %v", got, err)
	}
	if err := clientfile.Replace(name, nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if got, err := clientfile.Read(name, 10); string(got) != "one" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	for when, before := range map[string][]byte{"missing before": nil, "other bytes": []byte("two"), "a beginning": []byte("on"),
		"empty": {}} {
		if err := clientfile.Replace(name, before, []byte("x")); !errors.Is(err, clientfile.ErrChanged) {
			t.Errorf("%s: %v", when, err)
		}
	}
	if err := clientfile.Replace(name, []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if got, _ := os.ReadFile(name); err != nil || string(got) != "two" || runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
		t.Errorf("%q, %v, %v", got, info.Mode(), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(name)); len(left) != 1 {
		t.Errorf("files are left: %v", left)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	if _, err := clientfile.Read(dir, 10); !errors.Is(err, clientfile.ErrKind) {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, []byte("t"), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := clientfile.Read(link, 10); !errors.Is(err, clientfile.ErrLink) {
		t.Error(err)
	}
	if err := clientfile.Replace(link, []byte("t"), []byte("u")); !errors.Is(err, clientfile.ErrLink) {
		t.Error(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "t" {
		t.Errorf("%q", got)
	}
}
