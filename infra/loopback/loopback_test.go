package loopback

import (
	"net"
	"testing"

	"github.com/waybill/waybill/durable/fault"
)

func TestOnlyLoopbackAddressesAreListenedOn(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0", "10.0.0.1:0", "example.com:0", "localhost.example.com:0",
		"127.0.0.1", "127.0.0.1:http", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:00", "[::1%lo]:0", "[fe80::1]:0", "", "127.1:0"} {
		l, err := Listen(addr)
		if err == nil {
			_ = l.Close()
		}
		if !fault.Is(err, fault.UsageError) {
			t.Errorf("%q: %v", addr, err)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "localhost:0", "LocalHost:0", "127.0.0.2:0"} {
		l, err := Listen(addr)
		if err != nil {
			t.Errorf("%q: %v", addr, err)
			continue
		}
		if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
			t.Errorf("%q listens on %s", addr, l.Addr())
		}
		_ = l.Close()
	}
}
