package diagnose_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/infra/diagnose"
)

func TestStoreOfAFolder(t *testing.T) {
	dir := t.TempDir()
	if diagnose.HasStoreFile(dir) || diagnose.HasSessions(dir) {
		t.Error("an empty folder is a store")
	}
	fatal(t, os.WriteFile(filepath.Join(dir, "store.json"), nil, 0o600))
	fatal(t, os.MkdirAll(filepath.Join(dir, "sessions", "sess_caaaaaaaaaaaaaaaaaaaaaaaaa"), 0o700))
	if !diagnose.HasStoreFile(dir) || !diagnose.HasSessions(dir) {
		t.Error("a store with sessions is not one")
	}
}
