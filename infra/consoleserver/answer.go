package consoleserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/projections/markup"
)

// policy is the content security policy of all answers: scripts and styles of this server, and nothing from elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'"

// The addresses that are no pages.
const (
	startPath   = "/"
	sessionPath = "/session"
	scriptPath  = "/console.js"
	stylePath   = "/console.css"
	changesPath = "/changes"
	iconPath    = "/favicon.ico"
)

// refusal is a request that is refused.
type refusal struct {
	status int
	why    string
}

func (r refusal) Error() string { return r.why }

func refuse(status int, why string) error { return refusal{status, why} }

// answer is one answer. It notes the status for the log.
type answer struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// ServeHTTP implements http.Handler.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun, a := time.Now(), &answer{ResponseWriter: w, status: http.StatusOK}
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	_ = http.NewResponseController(w).SetWriteDeadline(begun.Add(writeMax))
	err := s.serve(a, r)
	var no refusal
	if errors.As(err, &no) {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		a.WriteHeader(no.status)
		_, _ = io.WriteString(a, no.why+"\n")
		err = nil
	}
	if s.Log != nil {
		s.Log(Entry{Method: method(r), Path: shown(r.URL.Path), Status: a.status, Duration: time.Since(begun), Refused: no.why, Err: err})
	}
}

// method returns a method of HTTP, "OTHER" for any else.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return r.Method
	}
	return "OTHER"
}

// shown returns a path for the log, which has no other text of a request.
func shown(p string) string {
	const shownMax = 80
	if len(p) > shownMax {
		p = p[:shownMax]
	}
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, p)
}

// admit refuses what no page of this server sends. A page in a browser reaches loopback addresses: by a name of its own
// that resolves to one, which the header Host shows, or from another origin, which Origin and Sec-Fetch-Site show.
func (s *service) admit(r *http.Request) error {
	if !s.names[strings.ToLower(r.Host)] {
		return refuse(http.StatusForbidden, "The header Host does not name this server. Open the file that waybill console printed.")
	}
	if origins, has := r.Header["Origin"]; has && (len(origins) != 1 || !s.origins[strings.ToLower(origins[0])]) {
		return refuse(http.StatusForbidden, "Requests of other sites are refused.")
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
	case "none": // typed, or opened from the file
	default:
		if r.URL.Path != startPath || r.Method != http.MethodGet {
			return refuse(http.StatusForbidden, "Requests of other sites are refused.")
		}
	}
	if raw := r.URL.EscapedPath(); raw == "" || raw[0] != '/' || path.Clean(raw) != raw {
		return refuse(http.StatusNotFound, "There is no such page.")
	}
	return nil
}

// serve answers a request.
func (s *service) serve(a *answer, r *http.Request) error {
	if err := s.admit(r); err != nil {
		return err
	}
	if r.URL.Path == sessionPath {
		return s.session(a, r)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		a.Header().Set("Allow", "GET, HEAD")
		return refuse(http.StatusMethodNotAllowed, "The console changes nothing: it answers GET and HEAD.")
	}
	switch r.URL.Path {
	case startPath:
		return send(a, r, "text/html; charset=utf-8", s.Assets.Start)
	case scriptPath:
		return send(a, r, "text/javascript; charset=utf-8", []byte(s.Assets.Script))
	case stylePath:
		return send(a, r, "text/css; charset=utf-8", []byte(s.Assets.Style))
	case iconPath:
		a.WriteHeader(http.StatusNoContent)
		return nil
	}
	bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || !s.knows(bearer) {
		return refuse(http.StatusForbidden, "This page is for the window that waybill console opened. Run waybill console again.")
	}
	if r.URL.Path == changesPath {
		return s.changes(a, r)
	}
	return s.page(a, r)
}

// session exchanges the token for the bearer.
func (s *service) session(a *answer, r *http.Request) error {
	if r.Method != http.MethodPost {
		a.Header().Set("Allow", "POST")
		return refuse(http.StatusMethodNotAllowed, "A token is exchanged with POST.")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyBytesMax+1))
	var in struct {
		Token string `json:"token"`
	}
	if err != nil || len(body) > bodyBytesMax || json.Unmarshal(body, &in) != nil {
		return refuse(http.StatusBadRequest, `The body is no object with a token, such as {"token":"…"}.`)
	}
	bearer, ok := s.exchange(in.Token)
	if !ok {
		return refuse(http.StatusForbidden, "The token is wrong, or was used before. Run waybill console again.")
	}
	if s.Exchanged != nil {
		s.Exchanged()
	}
	text, err := json.Marshal(map[string]string{"bearer": bearer})
	if err != nil {
		return err
	}
	return send(a, r, "application/json", text)
}

// send sends an answer that is in memory.
func send(a *answer, r *http.Request, contentType string, body []byte) error {
	a.Header().Set("Content-Type", contentType)
	a.Header().Set("Content-Length", strconv.Itoa(len(body)))
	a.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = a.Write(body) // the client is gone
	}
	return nil
}

// page sends a page. The error of a page is a page as well, with a status of its own.
func (s *service) page(a *answer, r *http.Request) error {
	select {
	case s.pages <- struct{}{}:
		defer func() { <-s.pages }()
	case <-r.Context().Done():
		return nil
	}
	n, err := s.Site.Page(r.Context(), r.URL.Path, first(r))
	status := http.StatusOK
	if err != nil {
		if r.Context().Err() != nil {
			return nil
		}
		n, status = s.Site.Fault(err), statusOf(err)
	}
	a.Header().Set("Content-Type", "text/html; charset=utf-8")
	a.WriteHeader(status)
	if r.Method == http.MethodHead {
		return err
	}
	_ = http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(writeMax))
	_ = markup.Render(a, n) // the client is gone
	return err
}

// statusOf returns the status of a page that shows an error.
func statusOf(err error) int {
	switch fault.ExitOf(err) {
	case fault.ExitNotFound:
		return http.StatusNotFound
	case fault.ExitUsage:
		return http.StatusBadRequest
	case fault.ExitBusy:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// first returns the first value of each parameter.
func first(r *http.Request) map[string]string {
	out := map[string]string{}
	for name, values := range r.URL.Query() {
		out[name] = values[0]
	}
	return out
}

// changes sends a message whenever the page of the parameter path may have changed, until the client is gone or the
// server ends. The message has no data of the store: the page is asked for again.
func (s *service) changes(a *answer, r *http.Request) error {
	query := first(r)
	of := query["path"]
	if of == "" || of[0] != '/' || path.Clean(of) != of {
		return refuse(http.StatusBadRequest, "The parameter path names a page, such as /runs.")
	}
	delete(query, "path")
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return refuse(http.StatusServiceUnavailable, "Too many pages are open. Close some; this one shows changes when it is loaded again.")
	}
	waiter := s.Site.Changes(of, query)
	defer waiter.Close()
	h := a.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	a.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	text := "event: open\ndata: {}\n\n"
	for {
		control := http.NewResponseController(a.ResponseWriter)
		_ = control.SetWriteDeadline(time.Now().Add(writeMax))
		if _, err := io.WriteString(a, text); err != nil || control.Flush() != nil {
			return nil // the client is gone
		}
		var ok bool
		if text, ok = next(ctx, waiter); !ok {
			if s.stopping.Err() != nil {
				_, _ = io.WriteString(a, "event: closed\ndata: {}\n\n")
			}
			return nil
		}
	}
}

// next waits for the next message of a stream; ok is false when it ends.
func next(ctx context.Context, waiter Waiter) (text string, ok bool) {
	timer := time.NewTimer(keepalive)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return "", false
	case <-timer.C:
		return ": keepalive\n\n", true
	case <-waiter.Woken():
	}
	// What follows at once is one change.
	select {
	case <-ctx.Done():
		return "", false
	case <-time.After(changePause):
	}
	select {
	case <-waiter.Woken():
	default:
	}
	return "event: changed\ndata: {}\n\n", true
}

// Start returns the page without data as Assets has it.
func Start(n *markup.Node) ([]byte, error) {
	var b bytes.Buffer
	err := markup.Render(&b, n)
	return b.Bytes(), err
}
