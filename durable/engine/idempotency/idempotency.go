// Package idempotency keeps the answers to requests with an idempotency key for a day, so that a repeated request gets the
// answer of the first one and is not carried out again (docs/design.md#idempotency-keys).
//
// It knows neither routes nor answers, and reads no clock. Runs have start keys instead (durable/engine/startkey). Start
// reading at Keeper.Replay.
package idempotency

import (
	"context"
	"errors"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Store is what the answers require of a store.
type Store interface {
	ports.Logs
	ports.Locks
	ports.Identity
	ports.Keyring
	ports.HeadCache
}

// Recorded is an answer that is kept.
type Recorded struct {
	Status int
	Body   canon.Value // null for none
}

// Keeper keeps the answers of one store. It is safe for concurrent use.
type Keeper struct {
	store Store

	mu     sync.Mutex
	owner  id.Store // of window; zero before the first reading
	window *window
	saved  manifest.Head // that the cache has
}

// New returns the keeper of the answers of a store.
func New(s Store) *Keeper { return &Keeper{store: s} }

// Replay returns the answer that is kept for a key on a route, nil if there is none. body is the digest of the JCS of the
// request's body. What it returns survives a power cut.
//
// Errors: IDEMPOTENCY_MISMATCH, if another request had the key. VALIDATION_ERROR for a key or a route that is too long.
// SESSION_UNHEALTHY, if the log is damaged: it is not known then whether the request was answered.
func (k *Keeper) Replay(ctx context.Context, key, route string, body canon.Digest, nowMs int64) (*Recorded, error) {
	if err := check(key, route, body); err != nil {
		return nil, err
	}
	store, err := k.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	log := idempotency.LogOf(store)
	for range replayReadings {
		if err := k.follow(ctx, store, log); err != nil {
			return nil, err
		}
		e, ok := k.window.find(idempotency.KeyDigest(key, route), nowMs)
		if !ok {
			return nil, nil
		}
		if e.body != body.Raw() {
			return nil, mismatch()
		}
		var out *Recorded
		if out, err = k.read(ctx, log, e); err == nil {
			return out, k.store.Confirm(ctx, log, k.window.head)
		}
		if !errors.Is(err, manifest.ErrNotOnChain) {
			return nil, err
		}
		k.window = nil // the log was replaced meanwhile
	}
	return nil, err
}

// replayReadings is how often the log is read while it is replaced.
const replayReadings = 3

// Record keeps an answer. An answer that is not kept is none: its status is one of idempotency.IsKept's exceptions, or it is
// too long. If an answer to the same request is kept already, that one remains.
//
// Errors: IDEMPOTENCY_MISMATCH, if another request has got the key since. Further errors are those of an append; the request
// was carried out, and a repeated one is carried out again.
func (k *Keeper) Record(ctx context.Context, key, route string, body canon.Digest, out Recorded, nowMs int64) error {
	if err := check(key, route, body); err != nil {
		return err
	}
	if _, kept := idempotency.New(key, route, body, int64(out.Status), out.Body, nowMs, 0); !kept {
		return nil
	}
	store, err := k.store.StoreID(ctx, ports.MayCreate)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	log := idempotency.LogOf(store)
	k.open(ctx, store, log)
	inside := func(w ports.Witness, v manifest.Verdict) error {
		if e, ok := k.window.find(idempotency.KeyDigest(key, route), nowMs); ok {
			if e.body != body.Raw() {
				return mismatch()
			}
			return nil
		}
		r, _ := idempotency.New(key, route, body, int64(out.Status), out.Body, nowMs, v.Head.Next)
		e := event.New(log.Owner, v.Head.Next, event.Scope{}, event.Actor{Kind: event.Engine}, nowMs, r)
		plan := manifest.Plan{Log: log, Events: []event.Event{e}}
		head, err := k.store.Append(ctx, w, v.Head, plan)
		if err != nil {
			k.window = nil // what was committed is read again
			return err
		}
		return k.window.Visit(manifest.Segment{Events: plan.Events}, head)
	}
	err = ports.WithHealthySession(ctx, k.store, k.store, log, k.window.head, ports.Into(&k.window, newWindow), inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		err = ports.WithHealthySession(ctx, k.store, k.store, log, manifest.Head{}, ports.Into(&k.window, newWindow), inside)
	}
	if err != nil {
		return unhealthy(err)
	}
	k.save(ctx, log, nowMs)
	return nil
}

// check refuses keys and routes of the wrong length. A key is never repeated in an error.
func check(key, route string, body canon.Digest) error {
	if body.IsZero() {
		return fault.New(fault.Internal, "the body of a request with an idempotency key has no digest")
	}
	if n := len(key); n == 0 || n > limits.IdempotencyKeyBytesMax {
		return fault.New(fault.ValidationError, "the idempotency key has %d bytes: 1 to %d are possible", n,
			limits.IdempotencyKeyBytesMax)
	}
	if n := len(route); n == 0 || n > limits.IdempotencyRouteBytesMax {
		return fault.New(fault.ValidationError, "the path of a request with an idempotency key has %d bytes: at most %d are possible",
			n, limits.IdempotencyRouteBytesMax)
	}
	return nil
}

// mismatch is IDEMPOTENCY_MISMATCH.
func mismatch() error {
	return fault.New(fault.IdempotencyMismatch, "this idempotency key was sent with another request; nothing was done")
}

// open makes sure that there is a window, at first an empty one at the saved place.
func (k *Keeper) open(ctx context.Context, store id.Store, log manifest.Log) {
	if k.window == nil || k.owner != store {
		k.owner, k.window = store, newWindow()
		k.saved = k.savedStart(ctx, log)
		k.window.head = k.saved
	}
}

// follow reads what was appended to the log since the last reading.
func (k *Keeper) follow(ctx context.Context, store id.Store, log manifest.Log) error {
	k.open(ctx, store, log)
	v, err := ports.Continue(ctx, k.store, ports.ReadRequest{Log: log, From: k.window.head},
		ports.Into(&k.window, newWindow))
	if err == nil && v.Health != manifest.Healthy {
		err = ports.Unhealthy(log, v)
	}
	if err != nil {
		k.window = nil // it may have a part of what was read
	}
	return unhealthy(err)
}

// unhealthy describes a damaged log: a request may have been answered that it does not have.
func unhealthy(err error) error {
	if !fault.Is(err, fault.SessionUnhealthy) {
		return err
	}
	f := fault.Wrap(err, fault.SessionUnhealthy, "the log of answers to idempotency keys cannot be used: %s",
		fault.Of(err).Message)
	f.Details = fault.Of(err).Details
	return f.Suggest("See what is wrong with %s, and repair it with %s.", fault.Command{"verify"}, fault.Command{"repair"})
}

// errFound ends a reading.
var errFound = errors.New("the record was read")

// read reads the answer of an entry. manifest.ErrNotOnChain: the log has another history by now.
func (k *Keeper) read(ctx context.Context, log manifest.Log, e entry) (out *Recorded, err error) {
	v, err := k.store.Read(ctx, ports.ReadRequest{Log: log, From: e.before},
		ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
			for _, have := range seg.Events {
				if r, ok := have.Data.(idempotency.ResponseRecorded); ok && have.Index == e.index {
					out = &Recorded{int(r.Status), r.Answer}
				}
			}
			return errFound
		}))
	switch {
	case out != nil && errors.Is(err, errFound):
		return out, nil
	case err == nil && v.Health != manifest.Healthy:
		return nil, unhealthy(ports.Unhealthy(log, v))
	case err == nil || errors.Is(err, errFound):
		return nil, manifest.ErrNotOnChain // the log ends before the entry, or has another event there
	}
	return nil, err
}

// cacheFormat is the number of the form of the saved place, cacheSeal the context of its seal.
const (
	cacheFormat = 1
	cacheSeal   = "waybill 2026 v1 idempotency cache"
)

// savedPlace is what the cache has: the head before the first record that was not too old.
type savedPlace struct {
	Start manifest.Head `json:"start"`
}

// savedStart reads the saved place. Without a valid one the log is read from its beginning.
func (k *Keeper) savedStart(ctx context.Context, log manifest.Log) manifest.Head {
	var saved savedPlace
	key := sealed.Key(ctx, k.store)
	data, err := k.store.CachedHead(ctx, log, cacheFormat, limits.IdempotencyCacheBytesMax)
	if key == nil || err != nil {
		return manifest.Head{}
	}
	doc, ok := sealed.Open(data, cacheSeal, key)
	if !ok || canon.Unmarshal(doc, &saved) != nil {
		return manifest.Head{}
	}
	return saved.Start
}

// saveEach is how many records become too old between two writings of the cache.
const saveEach = 64

// save forgets old records, and writes the place of the others where many were forgotten. Errors are ignored: the cache saves
// time only.
func (k *Keeper) save(ctx context.Context, log manifest.Log, nowMs int64) {
	start := k.window.expire(nowMs)
	if start.NextRecord-k.saved.NextRecord < saveEach && start.NextRecord >= k.saved.NextRecord {
		return
	}
	key := sealed.Key(ctx, k.store)
	doc, err := canon.Marshal(savedPlace{start})
	if key == nil || err != nil {
		return
	}
	if k.store.StoreHead(ctx, log, cacheFormat, sealed.Append(nil, cacheSeal, key, doc)) == nil {
		k.saved = start
	}
}
