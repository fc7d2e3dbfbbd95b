// Package idempotency defines the records of the log of answers to requests with an idempotency key: a side log of the store,
// from which a repeated request gets the answer of the first one (docs/design.md#idempotency-keys).
//
// It holds the event type and its checks. It does not append to the log, and does not decide which record answers a request.
package idempotency

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
)

// Table is the closed union of the events of the log, which is stored in the directory "idempotency".
var Table = event.NewTable("idempotency", "storeId", event.Row[ResponseRecorded](event.NoScope))

// LogOf is the log of a store.
func LogOf(s id.Store) manifest.Log { return manifest.StoreLog(s, Table) }

// ResponseRecorded records the answer to a request with an idempotency key. The key itself is not stored.
type ResponseRecorded struct {
	Answer canon.Value `json:"answer"` // the body of the answer, redacted; null for none
	AtMs   int64       `json:"atMs"`   // when it was given
	// BodyDigest is the digest of the JCS of the request's body.
	BodyDigest canon.Digest `json:"bodyDigest"`
	// KeyDigest is that of key and route, see KeyDigest.
	KeyDigest canon.Digest `json:"keyDigest"`
	// Ordinal is the index of the event itself. A key may be used again after its time.
	Ordinal int64  `json:"ordinal"`
	Route   string `json:"route"` // method and path of the request
	Status  int64  `json:"status"`
}

// KeyDigest identifies a key on a route: the digest of the JCS of a list with both.
func KeyDigest(key, route string) canon.Digest {
	return canon.Sum(canon.OfList(canon.OfString(key), canon.OfString(route)).JCS())
}

// Kind is "response_recorded".
func (ResponseRecorded) Kind() string { return "response_recorded" }

// DedupeKey allows one event per index of the log.
func (r ResponseRecorded) DedupeKey(owner string, _ event.Scope) string {
	return "response_recorded:" + owner + ":" + strconv.FormatInt(r.Ordinal, 10)
}

// Check returns an error for a record that New does not make.
func (r ResponseRecorded) Check(event.Scope) error {
	switch {
	case r.Ordinal < 0 || r.Ordinal > limits.EventIndexMax:
		return fmt.Errorf("ordinal %d is no index of an event", r.Ordinal)
	case r.KeyDigest.IsZero() || r.BodyDigest.IsZero():
		return errors.New("keyDigest or bodyDigest is missing")
	case r.AtMs < 0:
		return fmt.Errorf("atMs is %d", r.AtMs)
	case !IsKept(r.Status):
		return fmt.Errorf("an answer with the status %d is not kept", r.Status)
	}
	return cmp.Or(checkRoute(r.Route), checkAnswer(r.Answer))
}

func checkRoute(route string) error {
	if route == "" || len(route) > limits.IdempotencyRouteBytesMax || !utf8.ValidString(route) {
		return fmt.Errorf("route of %d bytes: want 1 to %d of UTF-8", len(route), limits.IdempotencyRouteBytesMax)
	}
	return nil
}

func checkAnswer(v canon.Value) error {
	if err := v.CheckStrict(limits.ContextDepthMax); err != nil { // the line of the event adds levels
		return fmt.Errorf("answer: %w", err)
	}
	if n := len(v.JCS()); n > limits.IdempotencyAnswerBytesMax {
		return fmt.Errorf("answer of %d bytes: want at most %d", n, limits.IdempotencyAnswerBytesMax)
	}
	return nil
}

// IsKept reports whether answers with a status are kept. An answer that the next request need not get is not: what waits for
// people (202), a refusal of a caller (400, 401, 403) or for the moment (429), and errors of the server.
func IsKept(status int64) bool {
	switch status {
	case 202, 400, 401, 403, 429:
		return false
	}
	return status >= 200 && status < 500
}

// IsExpired reports that an answer of a time is not returned any more. One with a later time is: the clock was set back.
func IsExpired(atMs, nowMs int64) bool { return nowMs-atMs > limits.IdempotencyWindowMs }

// New returns the record of an answer for the index ordinal of the log. Its texts are redacted. ok is false for an answer
// that is not kept.
func New(key, route string, body canon.Digest, status int64, answer canon.Value, atMs, ordinal int64) (r ResponseRecorded,
	ok bool) {
	if !IsKept(status) || checkRoute(route) != nil || checkAnswer(answer) != nil {
		return r, false // before the answer is redacted, which takes time
	}
	r = ResponseRecorded{Answer: redact.Value(answer, nil), AtMs: atMs, BodyDigest: body, KeyDigest: KeyDigest(key, route),
		Ordinal: ordinal, Route: redact.Text(route, nil), Status: status}
	return r, r.Check(event.Scope{}) == nil
}
