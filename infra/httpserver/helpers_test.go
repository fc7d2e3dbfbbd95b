package httpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/loopback"
)

// The keys of tests. allKey has every scope.
const (
	allKey  = "wb_all_0123456789"
	noneKey = "wb_none_0123456789"
)

// served is a server on a real loopback listener.
type served struct {
	t    *testing.T
	host *fakeHost
	url  string
	addr string
	stop func() // ends the server and waits for it
	web  *http.Client
	mu   sync.Mutex
	log  []Entry
}

// fast is the numbers of tests: times that a test waits for are short, others as long as the test.
func fast() tuning {
	t := defaultTuning()
	t.stop = 2 * time.Second
	return t
}

// serve starts a server over one host, whose keys are allKey and noneKey.
func serve(t *testing.T, change ...func(*tuning)) *served {
	t.Helper()
	h := newHost()
	h.addKey("all", allKey, allScopes()...)
	h.addKey("none", noneKey)
	return serveHosts(t, []Host{h}, change...)
}

func serveHosts(t *testing.T, hosts []Host, change ...func(*tuning)) *served {
	t.Helper()
	return serveSeams(t, hosts, true, change...)
}

// serveSeams is serveHosts for a server with or without the routes of test seams.
func serveSeams(t *testing.T, hosts []Host, seams bool, change ...func(*tuning)) *served {
	t.Helper()
	tune := fast()
	for _, c := range change {
		c(&tune)
	}
	l, err := loopback.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, web: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 20}}, addr: l.Addr().String(), url: "http://" + l.Addr().String()}
	s.host, _ = hosts[0].(*fakeHost)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	server := Server{Hosts: hosts, Version: "test", Seams: seams, tune: &tune, Log: func(e Entry) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, e)
	}}
	go func() { ended <- server.Serve(ctx, l) }()
	s.stop = sync.OnceFunc(func() {
		s.web.CloseIdleConnections() // the server waits for connections that are open and were not used
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve returned %v", err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// entries waits until n requests are logged, and returns them.
func (s *served) entries(n int) []Entry {
	s.t.Helper()
	var out []Entry
	s.eventually("request log", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		out = append([]Entry{}, s.log...)
		return len(out) >= n
	})
	return out
}

// eventually waits until a condition holds. A test that waits in vain ends by its own timeout, and says for what.
func (s *served) eventually(what string, holds func() bool) {
	s.t.Helper()
	for i := 0; !holds(); i++ {
		if i == 3000 {
			s.t.Fatalf("waited in vain for: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// answered is an answer with its body.
type answered struct {
	status int
	header http.Header
	body   string
}

// json is the body as a value.
func (a answered) json(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("%v: %q", err, a.body)
	}
	return out
}

// code is the error code of an envelope. It checks that the envelope is closed.
func (a answered) code(t *testing.T) string {
	t.Helper()
	doc := a.json(t)
	for name := range doc {
		if name != "error" && name != "message" && name != "details" {
			t.Errorf("the envelope has a member %s: %s", name, a.body)
		}
	}
	if text, _ := doc["message"].(string); text == "" {
		t.Errorf("the envelope has no message: %s", a.body)
	}
	code, _ := doc["error"].(string)
	return code
}

// details is the member details of an envelope.
func (a answered) details(t *testing.T) map[string]any {
	t.Helper()
	d, _ := a.json(t)["details"].(map[string]any)
	return d
}

// do sends a request with allKey. headers are "Name: value"; a value "-" removes a header that is set otherwise.
func (s *served) do(method, path, body string, headers ...string) answered {
	s.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, s.url+path, in)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+allKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case value == "-":
			req.Header.Del(name)
		case name == "Host":
			req.Host = value
		default:
			req.Header.Set(name, value)
		}
	}
	res, err := s.web.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answered{res.StatusCode, res.Header, string(text)}
}

// raw sends bytes on a connection of their own and reads what comes until the server closes it, or end was read.
func (s *served) raw(text string) string {
	s.t.Helper()
	c := s.dial()
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Logf("write: %v", err) // the server may have refused before all was written
	}
	out, _ := io.ReadAll(c)
	return string(out)
}

func (s *served) dial() net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// rawAnswer parses the first answer in bytes.
func rawAnswer(t *testing.T, text string) answered {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), nil)
	if err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	body, _ := io.ReadAll(res.Body)
	return answered{res.StatusCode, res.Header, string(body)}
}

// head is a request line with the headers that the server requires.
func (s *served) head(line string, headers ...string) string {
	return line + "\r\nHost: " + s.addr + "\r\nAuthorization: Bearer " + allKey + "\r\n" +
		strings.Join(append(headers, ""), "\r\n") + "\r\n"
}

// sse is one message of a stream.
type sse struct {
	id, event, data string
}

// opened is an open stream.
type opened struct {
	t      *testing.T
	body   io.ReadCloser
	in     *bufio.Reader
	header http.Header
	quiet  []string // comments that were read
}

// open opens a stream with a query such as "?streamMode=debug".
func (s *served) open(run, query string, headers ...string) *opened {
	s.t.Helper()
	req, err := http.NewRequest("GET", s.url+"/v1/runs/"+run+"/events"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+allKey)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(res.Body)
		s.t.Fatalf("the stream is answered with %d: %s", res.StatusCode, body)
	}
	s.t.Cleanup(func() { _ = res.Body.Close() })
	return &opened{t: s.t, body: res.Body, in: bufio.NewReader(res.Body), header: res.Header}
}

// next reads a message; ok is false at the end of the stream. Comments are collected.
func (o *opened) next() (m sse, ok bool) {
	o.t.Helper()
	for {
		line, err := o.in.ReadString('\n')
		if err != nil {
			if m != (sse{}) {
				o.t.Errorf("the stream ends within a message: %+v", m)
			}
			return sse{}, false
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "":
			if m != (sse{}) {
				return m, true
			}
		case strings.HasPrefix(line, ":"):
			o.quiet = append(o.quiet, line)
			return sse{event: "comment"}, true
		case name == "id":
			m.id = value
		case name == "event":
			m.event = value
		case name == "data":
			m.data = value
		default:
			o.t.Errorf("a line of a stream is %q", line)
		}
	}
}

// message is next without comments.
func (o *opened) message() (m sse, ok bool) {
	o.t.Helper()
	for m, ok = o.next(); m.event == "comment"; m, ok = o.next() {
		continue
	}
	return m, ok
}

// rest reads all messages until the stream ends, without comments.
func (o *opened) rest() (out []sse) {
	o.t.Helper()
	for {
		m, ok := o.next()
		if !ok {
			return out
		}
		if m.event != "comment" {
			out = append(out, m)
		}
	}
}

// names are the events of messages with their ids: "0:run.started".
func names(all []sse) string {
	var b bytes.Buffer
	for _, m := range all {
		fmt.Fprintf(&b, "%s:%s ", m.id, m.event)
	}
	return strings.TrimSpace(b.String())
}

func itoa(n int) string { return fmt.Sprint(n) }
