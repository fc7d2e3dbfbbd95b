package httpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

// call is one request on its way through the server. It belongs to the goroutine of the request.
type call struct {
	*service
	w         *writer
	r         *http.Request
	rc        *http.ResponseController
	route     *route // nil as long as none is found
	host      Host   // nil without a valid key
	hostIndex int
	key       httpkeys.Key
	query     map[string]string
	raw       []byte      // the body as it was sent, nil for none
	body      canon.Value // the body, null for none
	id        string      // of the request
	note      error       // what the log reports: why the answer is 500 or more, or what failed beside it
}

// by is the actor of the call (docs/design.md#openwop-server).
func (c *call) by() event.Actor { return event.Actor{Kind: event.Agent, Ref: "key:" + c.key.Name} }

// ServeHTTP answers a request. An error, or a panic, is answered with an envelope; if a part of the answer was sent
// already the connection is ended, so that the client does not take the part for the whole.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	rc := http.NewResponseController(w)
	ended := func(string, string) {}
	if s.Trace != nil {
		var ctx context.Context
		ctx, ended = s.Trace(r.Context())
		r = r.WithContext(ctx)
	}
	c := &call{service: s, w: &writer{ResponseWriter: w, rc: rc, limit: s.write}, r: r, rc: rc, id: rand.Text()}
	var cause error
	defer func() {
		if p := recover(); p != nil {
			cause = fault.New(fault.Internal, "panic: %v\n%s", p, debug.Stack())
		}
		if errors.Is(cause, errGone) {
			cause = nil
		}
		partial := cause != nil && c.w.status != 0
		if cause != nil && !partial {
			c.refuse(cause)
		}
		if cause != nil && (partial || c.w.status >= http.StatusInternalServerError) {
			c.note = cause
		}
		ended(c.names())
		c.log(began)
		if partial {
			panic(http.ErrAbortHandler)
		}
	}()
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", c.id)
	if cause = s.admit(r); cause == nil {
		cause = c.perform()
	}
}

// log writes the line of the request log.
func (c *call) log(began time.Time) {
	if c.Log == nil {
		return
	}
	e := Entry{Status: c.w.status, Bytes: c.w.bytes, Duration: time.Since(began), Key: c.key.Name,
		CorrelationID: c.id, Err: c.note}
	e.Method, e.Route = c.names()
	c.Log(e)
}

// names returns the method and the route of a request as they are logged: words that no client chooses.
func (c *call) names() (method, route string) {
	method = "OTHER"
	if slices.Contains([]string{"GET", "HEAD", "OPTIONS", "POST", "PATCH", "DELETE", "PUT"}, c.r.Method) {
		method = c.r.Method
	}
	if c.route != nil {
		route = c.route.path
	}
	return method, route
}

// node is the routes of one path, by method.
type node map[string]*route

// path is what the routes of a node have in common.
func (n node) path() string {
	for _, r := range n {
		return r.path
	}
	return ""
}

// routes makes the router: a path is looked up by the standard library, its methods and verbs here, since a verb is a
// part of a segment (/v1/runs/{runId}:pause) and every refusal is an envelope.
func (s *service) routes() *http.ServeMux {
	paths := map[string]node{}
	for _, r := range table() {
		if r.group == seamGroup && !s.Seams {
			continue
		}
		if paths[r.path] == nil {
			paths[r.path] = node{}
		}
		paths[r.path][r.method] = r
	}
	mux := http.NewServeMux()
	s.verbs = map[string]node{}
	for path, n := range paths {
		if verb, is := strings.CutPrefix(path, runPath+":"); is {
			s.verbs[verb] = n
			continue
		}
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { w.(*writer).found = n })
	}
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	return mux
}

// perform finds the route of a request and answers it. An error is not answered yet.
func (c *call) perform() error {
	c.mux.ServeHTTP(c.w, c.r)
	n := c.w.found
	if n != nil && n.path() == runPath {
		n = c.ofVerb(n)
	}
	if n == nil {
		return noRoute()
	}
	method := c.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	c.route = n[method]
	if c.route == nil {
		return c.otherMethod(n)
	}
	if err := c.authorize(); err != nil {
		return err
	}
	var err error
	if c.query, err = parseQuery(c.r.URL.RawQuery, c.route.query); err != nil {
		return err
	}
	leave, err := c.enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := c.readBody(); err != nil {
		return err
	}
	if c.route.stream != nil {
		return c.route.stream(c)
	}
	return c.answer()
}

// ofVerb returns the routes of the verb in the path of a run, those of the run without a verb, and none for another verb.
func (c *call) ofVerb(run node) node {
	id, verb, is := strings.Cut(c.r.PathValue("runId"), ":")
	switch {
	case !is:
		return run
	case !strings.HasSuffix(c.r.URL.EscapedPath(), ":"+verb): // an encoded colon is no separator
		return nil
	}
	c.r.SetPathValue("runId", id)
	return c.verbs[verb]
}

// otherMethod answers a method that the path does not have.
func (c *call) otherMethod(n node) error {
	methods := append(slices.Collect(maps.Keys(n)), http.MethodOptions)
	if n[http.MethodGet] != nil {
		methods = append(methods, http.MethodHead)
	}
	slices.Sort(methods)
	c.w.Header().Set("Allow", strings.Join(methods, ", "))
	c.route = &route{path: n.path()}
	if c.r.Method == http.MethodOptions {
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return refuse(http.StatusMethodNotAllowed, openwop.ErrMethodNotAllowed,
		"the path has no such method: see the header Allow")
}

// authorize finds the key, asks whether the store provides the group of the route, and checks the scope, in this order.
func (c *call) authorize() error {
	err := c.authenticate()
	if c.route.scope == "" {
		if c.host == nil {
			c.host = c.Hosts[0]
		}
		return nil
	}
	if err != nil {
		return err
	}
	provided := true
	switch c.route.group {
	case feedbackGroup:
		provided, err = c.host.FeedbackProvided(c.r.Context())
	case proposalGroup:
		provided, err = c.host.ProposalsProvided(c.r.Context())
	}
	if err != nil {
		return err
	}
	if !provided {
		return refuse(http.StatusNotImplemented, openwop.ErrCapabilityNotProvided, "the store does not provide these routes").
			with(openwop.DetailCode, string(fault.CapabilityNotProvided))
	}
	for _, scope := range []httpkeys.Scope{c.route.scope, c.route.also} {
		if scope != "" && !c.key.Has(scope) {
			return refuse(http.StatusForbidden, openwop.ErrForbidden,
				fmt.Sprintf("the key does not have the scope %s", scope)).with("requiredScope", string(scope))
		}
	}
	return nil
}

// enter waits for the turn of the request, or takes a place among the streams. The returned function ends both.
func (c *call) enter() (leave func(), err error) {
	if c.route.waits {
		select {
		case c.streams <- struct{}{}:
			return func() { <-c.streams }, nil
		default:
			return nil, refuse(http.StatusTooManyRequests, openwop.ErrTooManyRequests,
				"as many streams as the server keeps are open").with(openwop.DetailRetry, 5)
		}
	}
	turn := time.NewTimer(c.turn)
	defer turn.Stop()
	select {
	case c.requests <- struct{}{}:
		return func() { <-c.requests }, nil
	case <-turn.C:
	case <-c.r.Context().Done():
	case <-c.stopping.Done():
	}
	return nil, refuse(http.StatusServiceUnavailable, openwop.ErrUnavailable, "the server is busy").with(openwop.DetailRetry, 1)
}
