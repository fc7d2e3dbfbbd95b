package payloadcache_test

import (
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/infra/payloadcache"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/adapters"
	"github.com/waybill/waybill/ports/porttest/storetest"
)

func TestContract(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home", "local")
	adapters.Payloads(t, storetest.In(t, dir), func() ports.Payloads { return payloadcache.New(dir) })
}
