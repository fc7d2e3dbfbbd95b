//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/httpserver/clienttest"
)

// serverMemoryMax bounds the resident memory of a server with a thousand subscribers, in bytes.
const serverMemoryMax = 96 << 20

// TestServedSubscribers: programs create runs and follow each to its end, all streams open at once; the memory of the server
// stays bounded, and afterwards it has the goroutines and descriptors of before.
func TestServedSubscribers(t *testing.T) {
	t.Parallel()
	n := 100
	if os.Getenv("WAYBILL_EXHAUSTIVE") != "" {
		n = 1000
	}
	s := serveAt(t, "", "--fixtures")
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	c := s.client()
	c.HTTP = web
	if _, err := c.Discover(context.Background()); err != nil {
		t.Fatal(err)
	}
	web.CloseIdleConnections()
	time.Sleep(200 * time.Millisecond) // the server ends the connection
	idle := s.descriptors()
	before := s.goroutines()
	s.start()
	s.untilEnded(c, n, "conformance-noop")
	s.untilCancelled(c, n)
	web.CloseIdleConnections()
	peak := s.peak()
	t.Logf("%d runs and subscribers: %.1f MiB resident at most", n, float64(peak)/(1<<20))
	if peak > serverMemoryMax {
		t.Errorf("the server had %d bytes", peak)
	}
	deadline := time.Now().Add(20 * time.Second)
	for s.descriptors() > idle && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	if now := s.descriptors(); now > idle {
		t.Errorf("%d descriptors, %d before", now, idle)
	}
	time.Sleep(200 * time.Millisecond)
	if after := s.goroutines(); after > before {
		t.Errorf("%d goroutines, %d before:\n%s", after, before, s.cmd.Stderr)
	}
}

// untilEnded has n clients at once, each of which creates a run and follows it to its end.
func (s *served) untilEnded(c *clienttest.Client, n int, workflow string) {
	s.t.Helper()
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			run, _, err := c.Create(context.Background(), "ended-"+strconv.Itoa(i), clienttest.Object{"workflowId": workflow})
			if err == nil {
				err = last(c, run, "run.completed", nil)
			}
			if err != nil {
				s.t.Error(err)
			}
		})
	}
	wait.Wait()
}

// untilCancelled creates n runs that last, follows all at once, and cancels them while all streams are open.
func (s *served) untilCancelled(c *clienttest.Client, n int) {
	s.t.Helper()
	ctx := context.Background()
	var wait sync.WaitGroup
	var open atomic.Int64
	all := make(chan struct{})
	runs := make([]string, n)
	for i := range n {
		wait.Go(func() {
			run, _, err := c.Create(ctx, "cancelled-"+strconv.Itoa(i), clienttest.Object{"workflowId": "conformance-cancellable",
				"inputs": clienttest.Object{"delaySeconds": 60}})
			runs[i] = run
			if err == nil {
				err = last(c, run, "run.cancelled", sync.OnceFunc(func() {
					if open.Add(1) == int64(n) {
						close(all)
					}
				}))
			}
			if err != nil {
				s.t.Error(err)
			}
		})
	}
	select {
	case <-all:
	case <-time.After(55 * time.Second):
		s.t.Fatalf("%d of %d streams are open", open.Load(), n)
	}
	for from := 0; from < n; from += 50 {
		if _, err := c.BulkCancel(ctx, "bulk-"+strconv.Itoa(from), runs[from:min(from+50, n)], "enough"); err != nil {
			s.t.Error(err)
		}
	}
	wait.Wait()
}

// last follows a run, calls first when the stream has an event, and requires the type of the last event.
func last(c *clienttest.Client, run, want string, first func()) error {
	var end string
	_, err := c.Stream(context.Background(), run, clienttest.StreamOptions{Mode: "debug"}, func(m clienttest.Message) error {
		if end = m.Event; first != nil {
			first()
		}
		return nil
	})
	if err == nil && end != want {
		err = fmt.Errorf("the last event of %s is %s, not %s", run, end, want)
	}
	return err
}

// peak is the largest resident memory that the server had, in bytes.
func (s *served) peak() int64 {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	size, _, _ := strings.Cut(rest, "kB")
	kib, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return kib << 10
}

// descriptors counts the open files of the server.
func (s *served) descriptors() int {
	s.t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(all)
}

// goroutines ends the server with SIGQUIT, for which it prints its goroutines, and counts those that the runtime did
// not start.
func (s *served) goroutines() int {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	_ = s.cmd.Wait()
	text := s.cmd.Stderr.(*bytes.Buffer).Bytes()
	n := bytes.Count(text, []byte("\ncreated by ")) - bytes.Count(text, []byte("\ncreated by runtime."))
	if n == 0 {
		s.t.Fatal("the server printed no goroutines")
	}
	return n
}
