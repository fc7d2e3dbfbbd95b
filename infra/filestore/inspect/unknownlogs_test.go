package inspect_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/filestore"
)

// Directories in sessions/ with a manifest and a name that is no session id are listed, by name.
// Staged imports, directories without a manifest and sessions are not.
func TestUnknownSessionDirectoriesAreListed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"stream-2", "stream-1", ".tmp-x", id.NewSession(id.Seed{1}).String()} {
		at := filepath.Join(dir, "sessions", name)
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "manifest.jsonl"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "sessions", "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := filestore.OpenDir(dir, filestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	names, err := s.UnknownEntries(context.Background())
	if err != nil || !slices.Equal(names, []string{"stream-1", "stream-2"}) {
		t.Errorf("%q, %v", names, err)
	}
	none, err := filestore.OpenDir(filepath.Join(dir, "nothing"), filestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	if names, err := none.UnknownEntries(context.Background()); err != nil || len(names) > 0 {
		t.Errorf("%q, %v", names, err)
	}
}
