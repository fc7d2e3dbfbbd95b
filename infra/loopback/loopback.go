// Package loopback opens listeners that only programs of this machine reach, and tells requests for them from those
// that a web page of another site makes.
//
// It speaks no protocol and knows no store. Start reading at Listen.
package loopback

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"github.com/waybill/waybill/durable/fault"
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

// AddrOf returns the address of a listener; an error for one that is not on a loopback address.
func AddrOf(l net.Listener) (netip.AddrPort, error) {
	addr, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil || !addr.Addr().Unmap().IsLoopback() {
		return addr, fault.New(fault.UsageError, "the server listens on loopback addresses only")
	}
	return addr, nil
}

// Names are the values of the header Host, in lower case, that name a listener: its address, and the names of this
// machine, with the port, which may be absent if it is the default one. A page in a browser reaches loopback addresses
// by a name of its own that resolves to one: that name is none of them.
func Names(addr netip.AddrPort) map[string]bool {
	out := map[string]bool{}
	for _, name := range []string{addr.Addr().Unmap().String(), "127.0.0.1", "::1", "localhost"} {
		if strings.Contains(name, ":") {
			name = "[" + name + "]"
		}
		out[fmt.Sprintf("%s:%d", name, addr.Port())] = true
		if addr.Port() == 80 {
			out[name] = true
		}
	}
	return out
}

// Listener accepts at most a number of connections at a time.
type Listener struct {
	net.Listener
	slots chan struct{} // an element for each open connection
	done  chan struct{}
	close func() error
}

// Bound limits the open connections of a listener. Further ones wait in the queue of the operating system.
func Bound(l net.Listener, connections int) *Listener {
	b := &Listener{Listener: l, slots: make(chan struct{}, connections), done: make(chan struct{})}
	b.close = sync.OnceValue(func() error { close(b.done); return l.Close() })
	return b
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.AcceptConn()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// AcceptConn is Accept.
func (l *Listener) AcceptConn() (*Conn, error) {
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
	return &Conn{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close implements net.Listener.
func (l *Listener) Close() error { return l.close() }

// Conn is a connection of a Listener.
type Conn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// CloseWrite lets net/http send the rest of an answer before it closes the connection.
func (c *Conn) CloseWrite() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return nil
}
