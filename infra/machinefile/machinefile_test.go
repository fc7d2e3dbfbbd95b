package machinefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
)

var file = ports.ControlFile{Name: "sources.json", Kind: "sources"}

func value(t *testing.T, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// set writes data.
func set(t *testing.T, f Files, text string) error {
	t.Helper()
	return f.UpdateControl(context.Background(), file, func(ports.Control) (ports.Control, error) {
		return ports.Control{V: 1, Data: value(t, text)}, nil
	})
}

func TestControlFilesArePrivateAndComplete(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config", "waybill")
	f := New(dir)
	if c, err := f.Control(context.Background(), file); err != nil || c.V != 0 {
		t.Fatalf("a missing file: %+v, %v", c, err)
	}
	for _, text := range []string{`{"a":1}`, `{"a":2}`} {
		if err := set(t, f, text); err != nil {
			t.Fatal(err)
		}
		c, err := f.Control(context.Background(), file)
		if err != nil || c.V != 1 || string(c.Data.JCS()) != text {
			t.Fatalf("%+v, %v", c, err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, file.Name))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".tmp-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	refused := errors.New("refused")
	err = f.UpdateControl(context.Background(), file, func(c ports.Control) (ports.Control, error) { return c, refused })
	if c, _ := f.Control(context.Background(), file); err != refused || string(c.Data.JCS()) != `{"a":2}` {
		t.Errorf("a refused change: %v, %s", err, c.Data.JCS())
	}
}

// TestOtherFilesAreRefused: an edited, linked or truncated file, a pipe and another kind.
func TestOtherFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, file.Name)
	f := New(dir)
	if err := set(t, f, `{"a":1}`); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.json")
	if err := os.WriteFile(elsewhere, good, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func() error{
		"edited": func() error {
			return os.WriteFile(at, []byte(strings.Replace(string(good), `"a":1`, `"a":2`, 1)), 0o600)
		},
		"truncated": func() error { return os.WriteFile(at, good[:len(good)-1], 0o600) },
		"empty":     func() error { return os.WriteFile(at, nil, 0o600) },
		"linked":    func() error { return os.Symlink(elsewhere, at) },
		"directory": func() error { return os.Mkdir(at, 0o700) },
		"other kind": func() error {
			return os.WriteFile(at, []byte(strings.Replace(string(good), `"sources"`, `"trust"`, 1)), 0o600)
		},
	} {
		_ = os.Remove(at)
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Control(context.Background(), file); !fault.Is(err, fault.StoreCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if err := set(t, f, `{}`); !fault.Is(err, fault.StoreCorrupt) {
			t.Errorf("%s: replaced, %v", name, err)
		}
	}
}

// TestUpdatesExcludeEachOther: each sees the result of the one before it.
func TestUpdatesExcludeEachOther(t *testing.T) {
	f := New(t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			err := f.UpdateControl(context.Background(), file, func(c ports.Control) (ports.Control, error) {
				n, _ := c.Data.Get("n")
				v, err := canon.ValueOf(map[string]float64{"n": n.Float() + 1})
				return ports.Control{V: 1, Data: v}, err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	c, err := f.Control(context.Background(), file)
	if n, _ := c.Data.Get("n"); err != nil || n.Float() != 8 {
		t.Errorf("%s, %v", c.Data.JCS(), err)
	}
}
