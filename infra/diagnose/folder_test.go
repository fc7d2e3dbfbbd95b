package diagnose_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/infra/diagnose"
	"github.com/waybill/waybill/ports/porttest/adapters"
	"github.com/waybill/waybill/ports/porttest/storetest"
)

func TestContract(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home", "local")
	adapters.Place(t, storetest.In(t, dir), diagnose.Folder{Dir: dir}, os.Getpid())
}
