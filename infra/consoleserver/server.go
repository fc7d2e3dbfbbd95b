// Package consoleserver serves pages about a store to a browser of this machine, read only (docs/design.md#console). It
// checks who asks, sends pages and their changes, and knows nothing about runs: a Site makes the pages.
//
// A page without data exchanges a one-time token, which is in the fragment of its address, for a bearer, and asks for
// everything else with it. There is no cookie, so that no other page can ask for anything. Start reading at Server.
package consoleserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/loopback"
	"github.com/waybill/waybill/projections/markup"
)

// Site makes the pages. It is called from many goroutines.
type Site interface {
	// Page returns the page of an address, which is clean and begins with a slash, with the first value of each
	// parameter. TARGET_NOT_FOUND and other faults are shown as pages.
	Page(ctx context.Context, path string, query map[string]string) (*markup.Node, error)
	// Changes returns who is woken when the page may have changed.
	Changes(path string, query map[string]string) Waiter
	// Fault returns the page that shows an error.
	Fault(err error) *markup.Node
}

// Waiter waits for changes of a page.
type Waiter interface {
	// Woken is readable after a change.
	Woken() <-chan struct{}
	Close()
}

// Assets are the files of the page without data.
type Assets struct {
	Start         []byte // HTML
	Script, Style string
}

// Server serves one store. All fields but Log are required.
type Server struct {
	Site   Site
	Assets Assets
	// Token is exchanged for the bearer once.
	Token string
	// Exchanged is called after that.
	Exchanged func()
	Log       func(Entry) // called once for each answered request, from many goroutines; nil discards
}

// Entry is one line of the request log. It contains no token and no bearer.
type Entry struct {
	Method, Path string
	Status       int
	Duration     time.Duration
	Refused      string // why, "" if the request was not refused
	Err          error
}

// NewToken returns 32 random bytes as text.
func NewToken() (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(rand.Reader, b[:]); err != nil {
		return "", fault.Wrap(err, fault.Internal, "no random bytes")
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// Bounds of what clients may cost. A browser has few connections and one stream for each of its tabs.
const (
	connectionsMax = 2048
	streamsMax     = 1000
	// pagesMax bounds how many pages are made at a time; others wait.
	pagesMax       = 4
	headerBytesMax = 16 << 10
	bodyBytesMax   = 1 << 10
	headerRead     = 10 * time.Second
	writeMax       = 30 * time.Second
	idleMax        = 2 * time.Minute
	keepalive      = 15 * time.Second
	// changePause is the least time between two changes that a stream reports.
	changePause = 500 * time.Millisecond
	stopMax     = 2 * time.Second
)

// service is a Server that listens.
type service struct {
	Server
	names    map[string]bool // accepted Host headers, in lower case
	origins  map[string]bool // accepted Origin headers, in lower case
	stopping context.Context
	streams  chan struct{} // an element for each open stream
	pages    chan struct{} // an element for each page that is made

	mu     sync.Mutex
	token  [sha256.Size]byte
	used   bool
	bearer [sha256.Size]byte // the digest of no text before the exchange
}

// Serve answers the requests that arrive at a listener of loopback.Listen, until ctx is done; then it ends streams and
// closes the listener. An error where the listener fails or is not on a loopback address.
func (s Server) Serve(ctx context.Context, l net.Listener) error {
	defer l.Close()
	addr, err := loopback.AddrOf(l)
	if err != nil {
		return err
	}
	stopping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	web := &service{Server: s, names: loopback.Names(addr), origins: map[string]bool{}, stopping: stopping,
		streams: make(chan struct{}, streamsMax), pages: make(chan struct{}, pagesMax), token: sha256.Sum256([]byte(s.Token))}
	for name := range web.names {
		web.origins["http://"+name] = true
	}
	server := &http.Server{Handler: web, ReadHeaderTimeout: headerRead, ReadTimeout: headerRead, IdleTimeout: idleMax,
		MaxHeaderBytes: headerBytesMax, DisableGeneralOptionsHandler: true,
		ErrorLog: log.New(io.Discard, "", 0)} // clients that break the protocol are no diagnostics
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(loopback.Bound(l, connectionsMax)) }()
	select {
	case err := <-ended:
		return fault.Wrap(err, fault.StoreIO, "the server can accept no more connections")
	case <-ctx.Done():
	}
	stop()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopMax)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fault.Wrap(err, fault.StoreIO, "the server can accept no more connections")
	}
	return nil
}

// exchange returns the bearer for the token, once. ok is false for a wrong token and a used one.
func (s *service) exchange(token string) (bearer string, ok bool) {
	sum := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	if subtle.ConstantTimeCompare(sum[:], s.token[:]) != 1 || s.used {
		return "", false
	}
	bearer, err := NewToken()
	if err != nil {
		return "", false
	}
	s.used, s.bearer = true, sha256.Sum256([]byte(bearer))
	return bearer, true
}

// knows reports the bearer.
func (s *service) knows(bearer string) bool {
	sum := sha256.Sum256([]byte(bearer))
	s.mu.Lock()
	defer s.mu.Unlock()
	return subtle.ConstantTimeCompare(sum[:], s.bearer[:]) == 1
}
