package consoleserver

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/loopback"
	"github.com/waybill/waybill/projections/markup"
)

// fakeSite has one page, /runs, and one that fails, /gone.
type fakeSite struct {
	mu      sync.Mutex
	waiters []*fakeWaiter
}

type fakeWaiter struct{ woken chan struct{} }

func (w *fakeWaiter) Woken() <-chan struct{} { return w.woken }
func (w *fakeWaiter) Close()                 {}

func (s *fakeSite) Page(_ context.Context, path string, query map[string]string) (*markup.Node, error) {
	if path != "/runs" {
		return nil, fault.New(fault.RunNotFound, "no run here: <b>")
	}
	return markup.Document{Title: "Runs", Served: true, Body: []*markup.Node{markup.Text("secret " + query["status"])}}.Node(), nil
}

func (s *fakeSite) Changes(string, map[string]string) Waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &fakeWaiter{make(chan struct{}, 1)}
	s.waiters = append(s.waiters, w)
	return w
}

func (s *fakeSite) Fault(err error) *markup.Node { return markup.Text(fault.Of(err).Message) }

// console is a server that runs during a test.
type console struct {
	*testing.T
	url, token string
	site       *fakeSite
	stop       func() error
	mu         sync.Mutex
	log        []Entry
	exchanged  int
}

func serve(t *testing.T) *console {
	t.Helper()
	l, err := loopback.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &console{T: t, url: "http://" + l.Addr().String(), site: &fakeSite{}}
	if c.token, err = NewToken(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	s := Server{Site: c.site, Token: c.token, Exchanged: func() { c.exchanged++ },
		Assets: Assets{Start: []byte("<!DOCTYPE html>start"), Script: "script", Style: "style"},
		Log: func(e Entry) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.log = append(c.log, e)
		}}
	go func() { ended <- s.Serve(ctx, l) }()
	c.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = c.stop() })
	return c
}

// ask sends a request; headers are pairs of name and value, of which Host is set on the request.
func (c *console) ask(method, path, body string, headers ...string) (status int, text string, h http.Header) {
	c.Helper()
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		c.Fatal(err)
	}
	return answer.StatusCode, string(all), answer.Header
}

// bearer exchanges the token.
func (c *console) bearer() string {
	c.Helper()
	status, text, _ := c.ask("POST", "/session", `{"token":"`+c.token+`"}`)
	var doc struct{ Bearer string }
	if json.Unmarshal([]byte(text), &doc) != nil || status != 200 || len(doc.Bearer) < 40 {
		c.Fatalf("%d %s", status, text)
	}
	return doc.Bearer
}

// refusals returns how many entries of the log are refusals.
func (c *console) refusals() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.log {
		if e.Refused != "" && e.Status == 403 {
			n++
		}
	}
	return n
}

// TestTokenIsExchangedOnce: for a bearer, with which alone the pages are shown.
func TestTokenIsExchangedOnce(t *testing.T) {
	c := serve(t)
	for _, path := range []string{"/", "/console.js", "/console.css"} {
		if status, text, _ := c.ask("GET", path, ""); status != 200 || strings.Contains(text, "secret") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, _, _ := c.ask("POST", "/session", `{"token":"`+strings.Repeat("x", 43)+`"}`); status != 403 {
		t.Errorf("a wrong token: %d", status)
	}
	for _, auth := range []string{"", "Bearer ", "Bearer " + c.token, "Bearer " + strings.Repeat("A", 43)} {
		if status, text, _ := c.ask("GET", "/runs", "", "Authorization", auth); status != 403 || strings.Contains(text, "secret") {
			t.Errorf("%q: %d %s", auth, status, text)
		}
	}
	before := c.refusals()
	bearer := c.bearer()
	if status, text, _ := c.ask("GET", "/runs?status=blocked", "", "Authorization", "Bearer "+bearer); status != 200 ||
		!strings.Contains(text, "secret blocked") {
		t.Errorf("%d %s", status, text)
	}
	if status, _, _ := c.ask("POST", "/session", `{"token":"`+c.token+`"}`); status != 403 {
		t.Errorf("a used token: %d", status)
	}
	if n := c.refusals(); n != before+1 || before != 5 {
		t.Errorf("%d refusals before the exchange, %d after it", before, n)
	}
	if c.exchanged != 1 {
		t.Errorf("%d exchanges", c.exchanged)
	}
}

// TestPagesOfOtherSitesAreRefused: by each header that shows where a request comes from, with a valid bearer too.
func TestPagesOfOtherSitesAreRefused(t *testing.T) {
	c := serve(t)
	bearer := c.bearer()
	own := strings.TrimPrefix(c.url, "http://")
	port := own[strings.LastIndexByte(own, ':'):]
	for _, test := range []struct {
		name, path string
		headers    []string
		status     int
	}{
		{"own", "/runs", nil, 200},
		{"own origin", "/runs", []string{"Origin", c.url, "Sec-Fetch-Site", "same-origin"}, 200},
		{"localhost", "/runs", []string{"Host", "localhost" + port, "Origin", "http://localhost" + port}, 200},
		{"typed", "/", []string{"Sec-Fetch-Site", "none"}, 200},
		{"from the file", "/", []string{"Sec-Fetch-Site", "cross-site"}, 200},
		{"a name that resolves to this machine", "/runs", []string{"Host", "evil.example" + port}, 403},
		{"the same for the first page", "/", []string{"Host", "evil.example" + port}, 403},
		{"another port", "/runs", []string{"Host", "127.0.0.1:1"}, 403},
		{"an address of the network", "/runs", []string{"Host", "192.0.2.1" + port}, 403},
		{"another origin", "/runs", []string{"Origin", "http://evil.example"}, 403},
		{"another port as origin", "/runs", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"https as origin", "/runs", []string{"Origin", "https://" + own}, 403},
		{"no origin", "/runs", []string{"Origin", "null"}, 403},
		{"another site", "/runs", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another server of this machine", "/runs", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"the script in another page", "/console.js", []string{"Sec-Fetch-Site", "cross-site"}, 403},
	} {
		before := c.refusals()
		status, text, _ := c.ask("GET", test.path, "", append([]string{"Authorization", "Bearer " + bearer}, test.headers...)...)
		if status != test.status || status == 403 && strings.Contains(text, "secret") {
			t.Errorf("%s: %d %s", test.name, status, text)
		}
		if want := map[bool]int{true: 1}[status == 403]; c.refusals()-before != want {
			t.Errorf("%s: %d refusals in the log", test.name, c.refusals()-before)
		}
	}
	// A form of another page can post a text without asking.
	if status, _, _ := c.ask("POST", "/session", `{"token":"`+c.token+`"}`, "Origin", "http://evil.example"); status != 403 {
		t.Errorf("a token from another origin: %d", status)
	}
}

// TestAnswersHaveThePolicy: no script but the one of the server, no frame, no cookie, no copy in a cache.
func TestAnswersHaveThePolicy(t *testing.T) {
	c := serve(t)
	bearer := c.bearer()
	for _, path := range []string{"/", "/console.js", "/runs", "/gone", "/a//b", "/session"} {
		_, _, h := c.ask("GET", path, "", "Authorization", "Bearer "+bearer)
		csp := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'; script-src 'self';") || strings.Contains(csp, "unsafe") ||
			!strings.Contains(csp, "frame-ancestors 'none'") || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Cache-Control") != "no-store" || h.Get("Set-Cookie") != "" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, h)
		}
	}
	if status, text, _ := c.ask("GET", "/gone", "", "Authorization", "Bearer "+bearer); status != 404 || !strings.Contains(text, "&lt;b&gt;") {
		t.Errorf("%d %s", status, text)
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
		if status, _, _ := c.ask(method, "/runs", "", "Authorization", "Bearer "+bearer); status != 405 {
			t.Errorf("%s: %d", method, status)
		}
	}
	for _, body := range []string{"", "{", "[]", `{"token":1}`, `{"token":"` + strings.Repeat("x", 2000) + `"}`} {
		if status, _, _ := c.ask("POST", "/session", body); status != 400 {
			t.Errorf("%.20q: %d", body, status)
		}
	}
}

// follow opens a stream of changes and returns its messages.
func (c *console) follow(ctx context.Context, bearer string) (messages func() string, status int) {
	c.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", c.url+"/changes?path=/runs", nil)
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+bearer)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	return func() string {
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				return name
			}
		}
		return ""
	}, answer.StatusCode
}

// TestStreamTellsOfChanges: several at once are one, and the end of the server is the last message.
func TestStreamTellsOfChanges(t *testing.T) {
	c := serve(t)
	next, status := c.follow(t.Context(), c.bearer())
	if first := next(); status != 200 || first != "open" {
		t.Fatalf("%d %s", status, first)
	}
	for range 3 {
		select {
		case c.site.waiters[0].woken <- struct{}{}:
		default:
		}
	}
	if got := next(); got != "changed" {
		t.Errorf("%q", got)
	}
	go func() { _ = c.stop() }()
	if got := next(); got != "closed" {
		t.Errorf("%q after the end", got)
	}
	if err := c.stop(); err != nil {
		t.Error(err)
	}
}

// TestStreamsAreBounded: one more than the limit is refused with the reason, and a stream that ends makes room.
func TestStreamsAreBounded(t *testing.T) {
	c := serve(t)
	bearer := c.bearer()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var opening sync.WaitGroup
	for range streamsMax {
		opening.Go(func() {
			if _, status := c.follow(ctx, bearer); status != 200 {
				t.Errorf("%d", status)
			}
		})
	}
	opening.Wait()
	if status, text, _ := c.ask("GET", "/changes?path=/runs", "", "Authorization", "Bearer "+bearer); status != 503 ||
		!strings.Contains(text, "Too many pages are open") {
		t.Errorf("%d %s", status, text)
	}
	if status, _, _ := c.ask("GET", "/runs", "", "Authorization", "Bearer "+bearer); status != 200 {
		t.Errorf("a page beside the streams: %d", status)
	}
	cancel()
	for deadline := time.Now().Add(10 * time.Second); ; {
		again, stop := context.WithCancel(t.Context())
		_, status := c.follow(again, bearer)
		stop()
		if status == 200 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still %d after the streams ended", status)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestEntranceIsPrivate: the file has mode 0600 in a folder with mode 0700, leads to the server, and is removed as a whole.
func TestEntranceIsPrivate(t *testing.T) {
	dir := t.TempDir()
	e, err := NewEntrance(dir, "http://127.0.0.1:1", "a-token")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Stat(e.Path)
	if err != nil || file.Mode().Perm() != 0o600 || !strings.HasPrefix(e.Path, dir) {
		t.Errorf("%s: %v, %v", e.Path, file, err)
	}
	if folder, err := os.Stat(filepath.Dir(e.Path)); err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", folder, err)
	}
	text, err := os.ReadFile(e.Path)
	if err != nil || !strings.Contains(string(text), "http://127.0.0.1:1/#token=a-token") {
		t.Errorf("%s, %v", text, err)
	}
	e.Remove()
	e.Remove()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v are left", left, err)
	}
	if e, err = NewEntrance("relative", "http://127.0.0.1:1", "a-token"); err != nil || !filepath.IsAbs(e.Path) {
		t.Errorf("%v, %v", e, err)
	}
	e.Remove()
}
