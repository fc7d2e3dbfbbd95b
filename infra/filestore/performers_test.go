package filestore_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// TestPerformerStatus: asking whether a session is performed creates no lock file, and writes to none.
func TestPerformerStatus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDir(t, dir, 0)
	plan := suite.NewSessionFixture(1).Start()
	_, err := suite.Gate(s, plan)
	fatal(t, err)
	session := suite.NewSessionFixture(1).Session
	file := filepath.Join(dir, "sessions", session.String(), ".performer.lock")
	fatal(t, s.NotPerformed(t.Context(), session))
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("asking created the lock file: %v", err)
	}
	fatal(t, ports.WithHold(context.Background(), s.Performers(), session, func(ports.Hold) error { return nil }))
	fatal(t, os.WriteFile(file, []byte("a note"), 0o600))
	fatal(t, s.NotPerformed(t.Context(), session))
	if data, err := os.ReadFile(file); err != nil || string(data) != "a note" {
		t.Errorf("asking wrote %q, %v", data, err)
	}
}
