package travel

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
)

// TestInterruptedExportRemovesItsFile cancels an export. Its temporary file is in a directory
// that gc does not clean, so the export must remove it.
func TestInterruptedExportRemovesItsFile(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	a := &cli.App{Process: cli.Process{In: strings.NewReader(""), Out: &out, Err: &out, Clock: time.Now,
		Entropy: rand.Reader, Env: []string{"WAYBILL_HOME=" + t.TempDir()}}}
	w, err := a.Workflow(context.Background(), "wr.demo")
	if err != nil {
		t.Fatal(err)
	}
	o, err := a.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if _, err := o.Start(context.Background(), o.Caller(), id.Seed{1}, engine.Start{Workflow: w.Compiled,
		SourceKind: cli.RecordedSourceKind(w.Kind), SourceRef: w.Ref}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "x.json")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = exportTo(ctx, o.Exchange, [16]byte{1}, travel.ExportRequest{Ref: "@last"}, exportInput{file: name}, nil)
	if left, _ := os.ReadDir(dir); !fault.Is(err, fault.Interrupted) || len(left) > 0 {
		t.Errorf("error %v, remaining files %v", err, left)
	}
	if _, err := exportTo(context.Background(), o.Exchange, [16]byte{1}, travel.ExportRequest{Ref: "@last"},
		exportInput{file: name}, nil); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("files %v, want the bundle only", left)
	}
}
