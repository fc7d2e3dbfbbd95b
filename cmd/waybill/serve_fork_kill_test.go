//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/httpserver/clienttest"
)

// TestServedForksAreKilled: the server is killed at many moments while a run is forked and the fork performed, and while one
// is replayed. The client repeats its request with the same key and gets the same run, which continues once: a replay has the
// run events of its source, a branch those before the sequence, and the store is sound. WAYBILL_EXHAUSTIVE tries every
// millisecond.
func TestServedForksAreKilled(t *testing.T) {
	t.Parallel()
	s := serveAt(t, servedFlow, "--fixtures")
	c, ctx := s.client(), context.Background()
	source, _, err := c.Create(ctx, "source", clienttest.Object{"workflowId": "test.served",
		"inputs": clienttest.Object{"who": "you"}})
	if err != nil {
		t.Fatal(err)
	}
	long, _, err := c.Create(ctx, "long", clienttest.Object{"workflowId": "conformance-multi-node"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]clienttest.Object{}
	for _, run := range []string{source, long} {
		if want[run], err = c.PollAll(ctx, run); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 24))
	delays := []int{0, 1 + random.IntN(3), 4 + random.IntN(6), 10 + random.IntN(20), 30 + random.IntN(80), 110 + random.IntN(90)}
	if os.Getenv("WAYBILL_EXHAUSTIVE") != "" {
		delays = nil
		for ms := range 250 {
			delays = append(delays, ms)
		}
	}
	made := map[string]bool{source: true, long: true}
	for i, delay := range delays {
		for _, mode := range []string{"branch", "replay"} {
			run := []string{source, long}[i%2]
			if mode == "branch" {
				run = source // its commands take a moment
			}
			from := len(want[run]) / 2
			body, key := clienttest.Object{"fromSeq": from, "mode": mode}, fmt.Sprint(mode, i)
			killed := make(chan struct{})
			go func() {
				defer close(killed)
				time.Sleep(time.Duration(delay) * time.Millisecond)
				s.kill()
				s.start()
			}()
			fork, _, err := c.Fork(ctx, key, run, body)
			var events []clienttest.Object
			if err == nil {
				events, err = c.PollAll(ctx, fork)
			}
			<-killed
			again, reply, againErr := c.Fork(ctx, key, run, body)
			if err != nil || againErr != nil || again != fork || !reply.Replayed {
				t.Fatalf("%s killed behind %d ms: %s, then %s, %v %v", mode, delay, fork, again, err, againErr)
			}
			made[fork] = true
			n := len(want[run])
			if mode == "branch" {
				n = from
			}
			if got := shapeOf(asMaps(events)); len(got) < n || !reflect.DeepEqual(got[:n], shapeOf(asMaps(want[run][:n]))) ||
				mode == "replay" && len(got) != n {
				t.Errorf("%s killed behind %d ms:\n%v\nwant\n%v", mode, delay, got, shapeOf(asMaps(want[run])))
			}
			if last := events[len(events)-1]["type"]; last != "run.completed" {
				t.Errorf("%s killed behind %d ms: it ends with %v", mode, delay, last)
			}
		}
	}
	if _, _, err := c.Fork(ctx, "branch0", source, clienttest.Object{"fromSeq": 0, "mode": "branch"}); err == nil ||
		!strings.Contains(err.Error(), "idempotency_key_mismatch") {
		t.Errorf("another request with a key: %v", err)
	}
	var list struct {
		Data struct{ Runs []struct{ RunID string } }
	}
	if err := json.Unmarshal([]byte(s.runPiped(0, "runs", "list", "--limit", "0", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, row := range list.Data.Runs {
		if !made[row.RunID] {
			t.Errorf("the store has the run %s, which no request was answered with", row.RunID)
		}
	}
	if len(list.Data.Runs) != len(made) {
		t.Errorf("%d runs for %d keys", len(list.Data.Runs), len(made))
	}
	if out := s.runPiped(0, "verify"); !strings.Contains(out, "✓") {
		t.Error(out)
	}
}

// asMaps are events of a client.
func asMaps(all []clienttest.Object) (out []map[string]any) {
	return append(out, all...)
}

// TestReplayedRunOnTheCommandLine: what the command line says of a replay: what it is, that it verifies, decides the same
// again and takes no step, how it compares with its source, and that it travels.
func TestReplayedRunOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := serveAt(t, servedFlow)
	c, ctx := s.client(), context.Background()
	source, _, err := c.Create(ctx, "source", clienttest.Object{"workflowId": "test.served", "inputs": clienttest.Object{"who": "you"}})
	if err == nil {
		_, err = c.PollAll(ctx, source)
	}
	if err != nil {
		t.Fatal(err)
	}
	replay, _, err := c.Fork(ctx, "again", source, clienttest.Object{"mode": "replay"})
	if err == nil {
		_, err = c.PollAll(ctx, replay)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out := s.runPiped(0, "runs", "show", replay); !strings.Contains(out, "replay of "+source[4:12]) {
		t.Errorf("runs show:\n%s", out)
	}
	if out := s.runPiped(0, "replay", replay); !strings.Contains(out, "✓") {
		t.Errorf("replay:\n%s", out)
	}
	if out := s.runPiped(0, "runs", "diff", source, replay); !strings.Contains(out, "No difference in 3 nodes.") {
		t.Errorf("runs diff:\n%s", out)
	}
	if out := s.runPiped(0, "verify"); !strings.Contains(out, "✓") {
		t.Error(out)
	}
	// What came with a bundle is neither continued nor replayed for a client.
	from, host := filepath.Join(s.dir, "source.json"), serveAt(t, "")
	s.runPiped(0, "export", source, "--output", from)
	host.runPiped(0, "import", from)
	for _, mode := range []string{"branch", "replay"} {
		_, _, err := host.client().Fork(ctx, mode, source, clienttest.Object{"fromSeq": 0, "mode": mode})
		if err == nil || !strings.Contains(err.Error(), "403 forbidden") || !strings.Contains(err.Error(), "came with a bundle") {
			t.Errorf("%s of an imported run: %v", mode, err)
		}
	}
	bundle := filepath.Join(s.dir, "replay.json")
	s.runPiped(0, "export", replay, "--output", bundle)
	other := program{t, s.dir, filepath.Join(s.dir, "other")}
	other.runPiped(0, "import", bundle)
	if out := other.runPiped(0, "runs", "show", replay); !strings.Contains(out, "replay") {
		t.Errorf("imported:\n%s", out)
	}
	if out := other.runPiped(0, "verify"); !strings.Contains(out, "✓") {
		t.Error(out)
	}
}
