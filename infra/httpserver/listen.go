package httpserver

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/infra/loopback"
)

// listener accepts at most a number of connections at a time.
type listener struct{ *loopback.Listener }

// bound limits the open connections of a listener. Further ones wait in the queue of the operating system.
func bound(l net.Listener, connections int) listener { return listener{loopback.Bound(l, connections)} }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.AcceptConn()
	if err != nil {
		return nil, err
	}
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(limits.HTTPSocketBytes) // a hint: the operating system may decide otherwise
	}
	return &connection{c}, nil
}

// connection replaces the plain texts with which net/http answers what is no request by error envelopes.
type connection struct{ *loopback.Conn }

// plainText is in each answer that net/http makes itself, and in none of this package, behind the status line.
const plainText = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write implements net.Conn.
func (c *connection) Write(p []byte) (int, error) {
	status, ok := answeredByLibrary(p)
	if !ok {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(malformed(status)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// answeredByLibrary reports an answer that net/http makes itself, which is one write: to what is no request, and to a
// header Expect that it does not know.
func answeredByLibrary(p []byte) (status int, ok bool) {
	const prefix = "HTTP/1.1 "
	line, _, ok := bytes.Cut(p, []byte(plainText))
	if bytes.HasPrefix(p, []byte("HTTP/1.1 417 ")) {
		line, ok = p[:len(prefix)+3], true
	}
	if !ok || bytes.Contains(line, []byte("\r\n")) || len(line) < len(prefix)+3 {
		return 0, false
	}
	status, err := strconv.Atoi(string(line[len(prefix) : len(prefix)+3]))
	return status, err == nil
}

// malformed is the answer to bytes that are no request which a route could answer.
func malformed(status int) []byte {
	e := openwop.Envelope{Error: openwop.ErrValidation, Message: "the request is not valid HTTP/1.1"}
	if status == http.StatusRequestHeaderFieldsTooLarge {
		e = headersTooLarge().envelope
	}
	body, err := canon.Marshal(e)
	if err != nil {
		body = []byte(`{"error":"validation_error","message":"the request is not valid"}`)
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"+
		"Cache-Control: no-store\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, http.StatusText(status),
		len(body), body)
}
