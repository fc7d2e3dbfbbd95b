package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/infra/filestore"
)

// TestConfiguredWaitCancelledContext: an unreadable configuration is logged, unless it was not
// read because the context of the call was cancelled.
func TestConfiguredWaitCancelledContext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	a := &App{Process: Process{Err: io.Discard, Clock: time.Now, Entropy: rand.Reader}}
	a.Flags.Store, a.creates = dir, true
	o, err := a.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	change, err := o.PlanSet(context.Background(), "lockWaitMs", "10")
	if err == nil {
		_, err = o.ChangeConfig(context.Background(), o.Caller(), change)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("no configuration"), 0o600); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, row := range map[string]struct {
		ctx   context.Context
		warns bool
	}{"cancelled": {cancelled, false}, "active": {context.Background(), true}} {
		var errOut bytes.Buffer
		a := &App{Process: Process{Err: &errOut}}
		a.Flags.logLevel = "warn"
		store, err := filestore.OpenDir(dir, filestore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c := a.configuration(row.ctx, store); !reflect.DeepEqual(c, config.Config{}) ||
			strings.Contains(errOut.String(), "config.json") != row.warns {
			t.Errorf("%s: %v, logged %q", name, c, errOut.String())
		}
		_ = store.Close()
	}
}
