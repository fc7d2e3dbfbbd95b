package httpserver

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// replayHeader reports whether the answer to a request with an idempotency key was recorded before. It is written in
// the spelling of the protocol; names of headers have no case.
const replayHeader = "openwop-Idempotent-Replay"

// answer performs a route that answers with one document, once for each idempotency key
// (docs/design.md#openwop-server).
func (c *call) answer() error {
	key, err := c.idempotencyKey()
	if err != nil {
		return err
	}
	if key == "" {
		out, err := c.route.handle(c)
		if err != nil || out.status == 0 {
			return err
		}
		return c.send(out.status, out.doc, out.header)
	}
	c.w.Header()[replayHeader] = []string{"false"}
	done, err := c.alone(key)
	if err != nil {
		return err
	}
	defer done()
	if !c.route.idempotent {
		out, err := c.route.handle(c) // with the key: its use case records the answer
		if err != nil {
			return err
		}
		return c.send(out.status, out.doc, out.header)
	}
	return c.recorded(key)
}

// recorded answers from the store's record of an idempotency key, or performs the route and records its answer. The
// record of a path is not that of another one: the path is a part of what the digest is of.
func (c *call) recorded(key string) error {
	digest := canon.Sum(canon.OfMembers(canon.Member{Name: "path", Value: canon.OfString(c.r.URL.Path)},
		canon.Member{Name: "body", Value: c.body}).JCS())
	before, err := c.host.Replay(c.r.Context(), c.by(), key, c.route.name(), digest)
	if err != nil {
		return err
	}
	if before != nil {
		if c.route.accepts && before.Status == http.StatusOK {
			before.Status = http.StatusAccepted
		}
		return c.send(before.Status, before.Body, map[string]string{replayHeader: "true"})
	}
	out, cause := c.route.handle(c)
	if cause != nil {
		status, e, _ := answerOf(cause)
		out = reply{status: status, doc: e}
	}
	kept := out.status
	if c.route.accepts && kept == http.StatusAccepted {
		kept = http.StatusOK // the store keeps no 202, which waits for people everywhere else
	}
	doc, err := canon.ValueOf(out.doc)
	if err == nil {
		// Also for a client that is gone: it asks again with the key.
		err = c.host.Record(context.WithoutCancel(c.r.Context()), c.by(), key, c.route.name(), digest, Recorded{kept, doc})
	}
	if err != nil { // the call was performed: its answer is worth more than the record of it
		c.note = fault.Wrap(err, fault.Internal, "the answer was not recorded for its idempotency key")
	}
	if cause != nil {
		return cause
	}
	return c.send(out.status, out.doc, out.header)
}

// inflight lets one request at a time execute with an idempotency key of a caller and a route of a store.
type inflight struct {
	mu    sync.Mutex
	turns map[[sha256.Size]byte]*turn
}

// turn is the right to execute, and how many requests have or want it.
type turn struct {
	free  chan struct{} // has an element while no request executes
	users int
}

// alone waits until no other request with the same idempotency key is executed, at most for the time of a turn.
func (c *call) alone(key string) (done func(), err error) {
	k := sha256.Sum256([]byte(strings.Join([]string{strconv.Itoa(c.hostIndex), c.route.name(), c.key.Name, key}, "\x00")))
	t := c.keyed.join(k)
	limit := time.NewTimer(c.turn)
	defer limit.Stop()
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; c.keyed.leave(k, t) }, nil
	case <-limit.C:
	case <-c.r.Context().Done():
	case <-c.stopping.Done():
	}
	c.keyed.leave(k, t)
	return nil, fault.New(fault.IdempotencyInFlight, "another request with this idempotency key is executed")
}

func (f *inflight) join(k [sha256.Size]byte) *turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.turns[k]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		if f.turns == nil {
			f.turns = map[[sha256.Size]byte]*turn{}
		}
		f.turns[k] = t
	}
	t.users++
	return t
}

func (f *inflight) leave(k [sha256.Size]byte, t *turn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(f.turns, k)
	}
}
