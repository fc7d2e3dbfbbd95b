package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/fault"
)

// failing is a writer that always fails, like a closed pipe or a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestWriteErrorOfAnswer(t *testing.T) {
	var errOut bytes.Buffer
	if status := run([]string{"version"}, strings.NewReader(""), failing{}, &errOut, nil); status != fault.ExitFailed ||
		!strings.Contains(errOut.String(), "no room") {
		t.Errorf("exit status %d, %s", status, errOut.String())
	}
}

func TestPanicIsReportedAsError(t *testing.T) {
	var out, errOut bytes.Buffer
	a := &cli.App{Process: cli.Process{In: strings.NewReader(""), Out: &out, Err: &errOut,
		Args: []string{"start", "wr.demo", "--json", "--store", t.TempDir() + "/s"}, Entropy: strings.NewReader("")}}
	// The clock is nil, so the command panics; first the entropy is missing.
	if status := a.Execute(newRoot(a)); status != fault.ExitFailed ||
		!strings.Contains(out.String(), `"code":"INTERNAL_ERROR"`) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("exit status %d: %s", status, out.String())
	}
	out.Reset()
	a.Entropy = strings.NewReader(strings.Repeat("x", 1000))
	if status := a.Execute(newRoot(a)); status != fault.ExitFailed ||
		!strings.Contains(out.String(), "a bug in waybill") ||
		strings.Count(out.String(), "\n") != 1 {
		t.Errorf("exit status %d: %s", status, out.String())
	}
}
