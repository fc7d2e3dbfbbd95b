package httpserver

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
)

// Listen opens a listener on a loopback address with a port, such as "127.0.0.1:0", "[::1]:8080" or "localhost:0".
// Any other address is USAGE_ERROR: names are not looked up, since the result could be any machine's address.
func Listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fault.New(fault.UsageError, "an address has the form HOST:PORT, such as 127.0.0.1:0")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return nil, fault.New(fault.UsageError, "the port of an address is a number from 0 to 65535")
	}
	if strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" || !ip.IsLoopback() {
		return nil, fault.New(fault.UsageError,
			"the server listens on loopback addresses only: 127.0.0.1, [::1] or localhost").
			Suggest("Give one with --addr, such as 127.0.0.1:8080.")
	}
	l, err := net.Listen("tcp", net.JoinHostPort(ip.String(), port))
	if err != nil {
		return nil, fault.Wrap(err, fault.UsageError, "the address cannot be listened on: another program may use its port").
			Suggest("Give another port with --addr; port 0 is any free one.")
	}
	return l, nil
}

// listener accepts at most a number of connections at a time.
type listener struct {
	net.Listener
	slots chan struct{} // an element for each open connection
	done  chan struct{}
	close func() error
}

// bound limits the open connections of a listener. Further ones wait in the queue of the operating system.
func bound(l net.Listener, connections int) *listener {
	b := &listener{Listener: l, slots: make(chan struct{}, connections), done: make(chan struct{})}
	b.close = sync.OnceValue(func() error { close(b.done); return l.Close() })
	return b
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(limits.HTTPSocketBytes) // a hint: the operating system may decide otherwise
	}
	return &connection{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close implements net.Listener.
func (l *listener) Close() error { return l.close() }

// connection replaces the plain texts with which net/http answers what is no request by error envelopes.
type connection struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *connection) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// CloseWrite lets net/http send the rest of an answer before it closes the connection.
func (c *connection) CloseWrite() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return nil
}

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
