package folderstore_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/folderstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/adapters"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// opener returns what opens a store in a directory that does not exist yet.
func opener(t testing.TB) func(time.Duration) *folderstore.Store {
	dir := filepath.Join(t.TempDir(), "home", "local")
	return func(wait time.Duration) *folderstore.Store {
		s, err := folderstore.Open(dir, filestore.Options{LockWait: wait})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
}

func TestPorts(t *testing.T) {
	suite.Run(t, func(t testing.TB) suite.Bench {
		open := opener(t)
		return suite.Bench{Open: func(wait time.Duration) suite.Store { return open(wait) }}
	})
}

func TestChanges(t *testing.T) {
	adapters.Changes(t, func(t testing.TB) func() adapters.ChangingStore {
		open := opener(t)
		return func() adapters.ChangingStore { return open(time.Second) }
	})
}

func TestContract(t *testing.T) {
	open, other := opener(t), opener(t)
	adapters.Opened(t, adapters.Handles{Open: func() ports.Store { return open(0) }, Elsewhere: func() ports.Store { return other(0) }})
}
