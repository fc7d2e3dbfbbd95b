//go:build unix

package pgtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// socketName is the name of a server's socket in its directory.
const socketName = ".s.PGSQL.5432"

// Proxy is between clients and a server. It knows the bounds of the messages of their protocol: it counts them, cuts a connection at
// one of them, and changes statements; and it is the network that fails, with Cut and Stall. It is safe for concurrent use.
type Proxy struct {
	dir    string
	server string // the path of the server's socket
	listen net.Listener

	mu      sync.Mutex // guards the fields below
	count   int        // messages since Watch
	cut     int        // which of them is the last one of its connection; -1: none
	forward bool       // it is passed on before the connection is cut
	lasting bool       // Cut follows
	change  [][2]string
	silent  bool          // notices of the server are left out
	refuses bool          // new connections end at once
	stalled chan struct{} // nothing passes until it is closed; nil: everything does
	ended   bool
	conns   map[net.Conn]bool
}

// NewProxy returns a proxy of a server. The caller calls Close.
func NewProxy(s *Server) (*Proxy, error) {
	dir, err := os.MkdirTemp("", "wbpx")
	if err != nil {
		return nil, err
	}
	p := &Proxy{dir: dir, server: filepath.Join(s.Socket(), socketName), cut: -1, conns: map[net.Conn]bool{}}
	if p.listen, err = net.Listen("unix", filepath.Join(dir, socketName)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go p.accept()
	return p, nil
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	p.Cut()
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	_ = p.listen.Close()
	_ = os.RemoveAll(p.dir)
}

// Through returns the address of a store by way of the proxy.
func (p *Proxy) Through(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("host", p.dir)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// Watch begins to count messages of both directions, in the order in which they arrive, from 0. The connection of message cut ends with
// that: behind it if forward, else before it. A negative cut is none.
func (p *Proxy) Watch(cut int, forward bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count, p.cut, p.forward, p.lasting = 0, cut, forward, false
}

// WatchLasting is Watch for a connection that does not come back: all others are cut with it, and each new one, until Restore.
func (p *Proxy) WatchLasting(cut int, forward bool) {
	p.Watch(cut, forward)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lasting = true
}

// Count returns how many messages there were since Watch.
func (p *Proxy) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// Change replaces a text in the messages of clients from now on by another one that is not longer: spaces follow it.
func (p *Proxy) Change(old, by string) {
	by += strings.Repeat(" ", len(old)-len(by))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change = append(p.change, [2]string{old, by})
}

// Silence leaves out the notices of the server from now on, warnings among them.
func (p *Proxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = true
}

// Cut ends all connections, and each new one at once, until Restore.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutAll()
}

// cutAll is Cut; the caller holds mu.
func (p *Proxy) cutAll() {
	p.refuses = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.pass()
}

// Stall lets nothing pass until Restore, which delivers what was sent meanwhile, as a network does that lost packets: clients and the
// server see that nothing arrives, and not the end of a connection of the other one.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled == nil {
		p.stalled = make(chan struct{})
	}
}

// Restore ends Cut and Stall.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = false
	p.pass()
}

// pass ends Stall; the caller holds mu.
func (p *Proxy) pass() {
	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
}

// wait waits while nothing passes.
func (p *Proxy) wait() {
	p.mu.Lock()
	stalled := p.stalled
	p.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
}

// accept connects clients with the server until the proxy ends.
func (p *Proxy) accept() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		if p.ended || p.refuses {
			_, _ = client.Close(), server.Close()
		}
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		end := sync.OnceFunc(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.conns, client)
			delete(p.conns, server)
			_, _ = client.Close(), server.Close()
		})
		// The first message of a client has no type.
		go p.relay(client, server, 0, end, true)
		go p.relay(server, client, 1, end, false)
	}
}

// relay passes messages on until one of the connections ends. The first message has a head of typed bytes before its length.
func (p *Proxy) relay(from, to net.Conn, typed int, end func(), ofClient bool) {
	defer end()
	for ; ; typed = 1 {
		head := make([]byte, typed+4)
		if _, err := io.ReadFull(from, head); err != nil {
			p.wait() // the end of a connection does not pass either
			return
		}
		n := int(binary.BigEndian.Uint32(head[typed:]))
		if n < 4 || n > 1<<28 {
			return
		}
		message := append(head, make([]byte, n-4)...)
		if _, err := io.ReadFull(from, message[typed+4:]); err != nil {
			return
		}
		cut, forward := p.arrived(message, ofClient)
		p.wait()
		if !cut && !p.isLeftOut(message, ofClient) || cut && forward {
			if _, err := to.Write(message); err != nil {
				return
			}
		}
		if cut {
			p.isLasting()
			return
		}
	}
}

// isLasting does what WatchLasting says about a connection that is cut.
func (p *Proxy) isLasting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lasting {
		p.cutAll()
	}
}

// arrived counts and changes a message, and reports whether the connection is cut at it.
func (p *Proxy) arrived(message []byte, ofClient bool) (cut, forward bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cut, forward = p.count == p.cut, p.forward
	p.count++
	if ofClient {
		for _, c := range p.change {
			if at := bytes.Index(message, []byte(c[0])); at >= 0 {
				copy(message[at:], c[1])
			}
		}
	}
	return cut, forward
}

// isLeftOut reports a notice of the server that is not passed on.
func (p *Proxy) isLeftOut(message []byte, ofClient bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.silent && !ofClient && message[0] == 'N'
}
