package filestore_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
)

// TestTheTenantIsThatOfTheCreation: any name a later call gives; a store that recorded none has the name
// of the call.
func TestTheTenantIsThatOfTheCreation(t *testing.T) {
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "store")
	tenant := func(name string, create ports.Create) string {
		t.Helper()
		s, err := filestore.OpenDir(dir, filestore.Options{Tenant: name})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.StoreID(ctx, create); err != nil {
			t.Fatal(err)
		}
		got, err := s.Tenant(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, row := range []struct {
		name   string
		create ports.Create
		want   string
	}{{"before", ports.ReadOnly, "before"}, {"", ports.ReadOnly, "local"}, {"blue", ports.MayCreate, "blue"}, {"red", ports.MayCreate, "blue"}, {"", ports.ReadOnly, "blue"}} {
		if got := tenant(row.name, row.create); got != row.want {
			t.Errorf("opened as %q: %q, want %q", row.name, got, row.want)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if got := tenant("", ports.MayCreate); got != "local" {
		t.Error(got)
	}
	if got := tenant("red", ports.MayCreate); got != "red" {
		t.Errorf("a store without a name, opened as red: %q", got)
	}
}
