package httpserver

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/loopback"
)

// Server serves the hosts of one or several stores. Hosts is required.
type Server struct {
	Hosts   []Host
	Version string // of the program, in the OpenAPI document
	// Seams: the routes of test seams are served, which are unknown paths without it, and keys may force a version of the engine.
	Seams bool
	// Trace returns the context with which a request is executed, and what is called with its method and route when it
	// was answered; nil: a request has the context of its connection.
	Trace func(context.Context) (context.Context, func(method, route string))
	Log   func(Entry) // called once for each answered request, from many goroutines; nil discards

	tune *tuning // nil: those of package limits
}

// Entry is one line of the request log. It contains no body, key, query or id of the request.
type Entry struct {
	Method        string // a method of HTTP, "OTHER" for any else
	Route         string // the path of the route with its placeholders, "" for none
	Status        int    // 0 where the client was gone before an answer
	Bytes         int64  // of the body that was written
	Duration      time.Duration
	Key           string // the name of the key, "" without a valid one
	CorrelationID string // in the header X-Request-Id, and in the details of errors with a status from 500 on
	Err           error  // the cause of such an error, or what failed beside the answer; nil otherwise
}

// tuning is the numbers of package limits that tests replace.
type tuning struct {
	headerRead, bodyRead, drain, idle, write, keepalive, poll, turn, stop time.Duration
	connectionsMax, streamsMax, requestsMax                               int
}

// defaultTuning are the numbers of package limits.
func defaultTuning() tuning {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	return tuning{headerRead: ms(limits.HTTPHeaderReadMs), bodyRead: ms(limits.HTTPBodyReadMs),
		drain: ms(limits.HTTPDrainMs), idle: ms(limits.HTTPIdleMs), write: ms(limits.HTTPWriteMs),
		keepalive: ms(limits.HTTPKeepaliveMs), poll: limits.HTTPPollSecondsMax * time.Second, turn: ms(limits.HTTPTurnMs),
		stop: ms(limits.HTTPStopMs), connectionsMax: limits.HTTPConnectionsMax, streamsMax: limits.HTTPStreamsMax,
		requestsMax: limits.HTTPRequestsMax}
}

// service is a Server that listens.
type service struct {
	Server
	tuning
	hostNames map[string]bool // accepted Host headers, in lower case
	mux       *http.ServeMux
	verbs     map[string]node // of one run, by the verb
	openAPI   func() ([]byte, error)
	stopping  context.Context // done when streams and polls have to end
	streams   chan struct{}   // an element for each open stream and waiting poll
	requests  chan struct{}   // an element for each other request that is executed
	keyed     inflight
}

// Serve answers the requests that arrive at a listener of loopback.Listen, until ctx is done. Then it accepts no more, ends
// streams and polls with the reason, and gives other requests limits.HTTPStopMs to end. It closes the listener. It
// returns nil after that, and an error where the listener fails or is not on a loopback address.
func (s Server) Serve(ctx context.Context, l net.Listener) error {
	defer l.Close()
	addr, err := loopback.AddrOf(l)
	if err != nil {
		return err
	}
	if len(s.Hosts) == 0 {
		return fault.New(fault.Internal, "the server has no store to serve")
	}
	stopping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	web := s.service(addr, stopping)
	server := &http.Server{
		Handler:                      web,
		ReadHeaderTimeout:            web.headerRead,
		ReadTimeout:                  web.bodyRead,         // of a request with its body; behind that a client may be silent
		WriteTimeout:                 web.write + web.poll, // of answers of net/http; those of this package renew it
		IdleTimeout:                  web.idle,
		MaxHeaderBytes:               limits.HTTPHeaderBytesMax,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(io.Discard, "", 0), // clients that break the protocol are no diagnostics
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(bound(l, web.connectionsMax)) }()
	select {
	case err := <-ended:
		return fault.Wrap(err, fault.StoreIO, "the server can accept no more connections")
	case <-ctx.Done():
	}
	stop()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), web.stop)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fault.Wrap(err, fault.StoreIO, "the server can accept no more connections")
	}
	return nil
}

// service prepares what all requests share.
func (s Server) service(addr netip.AddrPort, stopping context.Context) *service {
	t := defaultTuning()
	if s.tune != nil {
		t = *s.tune
	}
	web := &service{Server: s, tuning: t, hostNames: loopback.Names(addr), stopping: stopping,
		streams: make(chan struct{}, t.streamsMax), requests: make(chan struct{}, t.requestsMax)}
	web.openAPI = sync.OnceValues(func() ([]byte, error) { return openAPI(s.Version) })
	web.mux = web.routes()
	return web
}
