package httpserver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/openwop"
)

// writer writes an answer, with a deadline for each write, and counts it.
type writer struct {
	http.ResponseWriter
	rc     *http.ResponseController
	limit  time.Duration
	found  node // set by the router
	status int
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. A client that does not read makes it fail after the deadline, which a write
// renews. Its error is errGone.
func (w *writer) Write(p []byte) (int, error) {
	w.renew()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	if err != nil {
		err = errGone
	}
	return n, err
}

// Flush sends what was written.
func (w *writer) Flush() error {
	w.renew()
	return w.rc.Flush()
}

func (w *writer) renew() { _ = w.rc.SetWriteDeadline(time.Now().Add(w.limit)) }

// reply is what a route answers: a document that canon.Marshal accepts, or bytes of one.
type reply struct {
	status int
	doc    any
	header map[string]string
}

// send answers with a JSON document. Characters that a terminal executes or hides are escaped
// (docs/design.md#printed-bytes).
func (c *call) send(status int, doc any, header map[string]string) error {
	body, err := canon.Marshal(doc)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "the answer cannot be written as JSON")
	}
	for name, value := range header {
		c.w.Header()[name] = []string{value}
	}
	c.sendBytes(status, invisible.EscapeJSON(body))
	return nil
}

// sendBytes answers with a JSON text. A client that is gone is no error of the server.
func (c *call) sendBytes(status int, body []byte) {
	h := c.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", fmt.Sprint(len(body)))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(body)
}

// sendPublic answers with a document that any cache may keep, or with 304 if the client has the same.
func (c *call) sendPublic(body []byte) { c.sendKept(body, "public, max-age=300") }

// sendKept answers with a document that may be kept as cache says, or with 304 if the client has the same.
func (c *call) sendKept(body []byte, cache string) {
	sum := sha256.Sum256(body)
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	h := c.w.Header()
	h.Set("Cache-Control", cache)
	h.Set("Vary", "Authorization")
	h.Set("ETag", etag)
	for _, list := range c.r.Header.Values("If-None-Match") {
		for known := range strings.SplitSeq(list, ",") {
			if known = strings.TrimPrefix(strings.TrimSpace(known), "W/"); known == etag || known == "*" {
				c.w.WriteHeader(http.StatusNotModified)
				return
			}
		}
	}
	c.sendBytes(http.StatusOK, body)
}

// refuse answers with the envelope of an error. Its correlation id is in the request log too.
func (c *call) refuse(err error) {
	if c.r.ContentLength != 0 && c.raw == nil {
		_ = c.rc.SetReadDeadline(time.Now().Add(c.drain)) // net/http reads what is left of the body before it answers
	}
	status, e, header := answerOf(err)
	for name, values := range header {
		c.w.Header()[name] = values
	}
	if after, ok := e.Details[openwop.DetailRetry]; ok {
		c.w.Header().Set("Retry-After", fmt.Sprint(after))
	} else if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		c.w.Header().Set("Retry-After", "1")
	}
	if status >= http.StatusInternalServerError {
		e.Details = maps.Clone(e.Details)
		if e.Details == nil {
			e.Details = map[string]any{}
		}
		e.Details[openwop.DetailCorrelation] = c.id
	}
	if c.send(status, e, nil) != nil { // details that are no JSON must not hide the error
		_ = c.send(status, openwop.Envelope{Error: e.Error, Message: "the request failed"}, nil)
	}
}
