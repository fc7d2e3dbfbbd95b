package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/filestore"
)

// TestACallThatIsOverSaysNothingOfTheConfiguration: a file that was not read because
// nobody waits any more is no file that cannot be read.
func TestACallThatIsOverSaysNothingOfTheConfiguration(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	a := &app{errOut: io.Discard, clock: time.Now, entropy: rand.Reader}
	a.common.store = dir
	o, err := a.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	if _, err := o.SetConfig(context.Background(), "lockWaitMs", "10"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("no configuration"), 0o600); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for name, row := range map[string]struct {
		ctx   context.Context
		warns bool
	}{"over": {over, false}, "at work": {context.Background(), true}} {
		var errOut bytes.Buffer
		a := &app{errOut: &errOut}
		a.common.logLevel = "warn"
		store, err := filestore.OpenDir(dir, filestore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if wait, ok := a.configuredWait(row.ctx, store); ok ||
			strings.Contains(errOut.String(), "config.json") != row.warns {
			t.Errorf("%s: %v, %v, said %q", name, wait, ok, errOut.String())
		}
		_ = store.Close()
	}
}
