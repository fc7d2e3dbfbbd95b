package httpserver

import (
	"bytes"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/openwop"
)

// usage is what the process has.
type usage struct {
	memory      uint64 // bytes of heap and stacks in use
	goroutines  int
	descriptors int // 0 where they cannot be counted
}

func measure() usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{memory: m.HeapInuse + m.StackInuse, goroutines: runtime.NumGoroutine()}
	if all, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.descriptors = len(all)
	}
	return u
}

// TestAThousandSubscribers: each costs little, all get every event, and nothing of them is left. It runs alone, since it
// counts goroutines.
func TestAThousandSubscribers(t *testing.T) {
	const subscribers = 1000
	idle := runtime.NumGoroutine() // also of the tests that wait for this one
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	_ = s.do("GET", "/v1/runs/"+run.id, "") // what the first request allocates is no subscriber's
	s.web.CloseIdleConnections()
	s.eventually("the first connection ends", func() bool { return runtime.NumGoroutine() <= idle+2 })
	before := measure()
	conns := make([]net.Conn, subscribers)
	request := []byte(s.head("GET /v1/runs/" + run.id + "/events?streamMode=debug HTTP/1.1"))
	for i := range conns {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatalf("subscriber %d: %v", i, err)
		}
		defer c.Close()
		conns[i] = c
		if _, err := c.Write(request); err != nil {
			t.Fatal(err)
		}
	}
	first := make([]byte, 1024)
	for _, c := range conns { // all wait, behind the first event
		n := 0
		for !bytes.Contains(first[:n], []byte("run.started\"}")) {
			more, err := c.Read(first[n:])
			if err != nil {
				t.Fatalf("%v: %q", err, first[:n])
			}
			n += more
		}
	}
	open := measure()
	each := (int64(open.memory) - int64(before.memory)) / subscribers
	t.Logf("%d subscribers: %d KiB of heap and stacks, %d bytes each; %d goroutines, %d descriptors", subscribers,
		(int64(open.memory)-int64(before.memory))/1024, each, open.goroutines-before.goroutines, open.descriptors-before.descriptors)
	if each > 40<<10 {
		t.Errorf("a subscriber costs %d bytes", each)
	}
	for range 50 {
		run.add(openwop.NodeCompleted)
	}
	run.add(openwop.RunCompleted)
	for i, c := range conns {
		text, err := io.ReadAll(c)
		if n := strings.Count(string(text), "event: node.completed\n"); err != nil || n != 50 ||
			strings.Count(string(text), "event: run.completed\n") != 1 {
			t.Fatalf("subscriber %d has %d of 50 events and %v", i, n, err)
		}
		_ = c.Close()
	}
	s.eventually("all goroutines end", func() bool { return runtime.NumGoroutine() <= before.goroutines })
	after := measure()
	if after.goroutines > before.goroutines || after.descriptors > before.descriptors || s.host.feeds.Load() != 0 {
		t.Errorf("before %+v, after %+v; %d feeds", before, after, s.host.feeds.Load())
	}
}
