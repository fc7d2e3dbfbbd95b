package httpserver

import (
	"strings"
	"testing"
)

// TestTheServerSpeaksHTTP1Only: a client that offers HTTP/2 on a plain connection is answered in HTTP/1.1, in builds with the
// HTTP/2 of net/http and in those without it, such as the released program.
func TestTheServerSpeaksHTTP1Only(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for name, c := range map[string]struct{ request, answer string }{
		"an upgrade": {s.head("GET /v1/openapi.json HTTP/1.1", "Connection: Upgrade, HTTP2-Settings, close", "Upgrade: h2c",
			"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"), "HTTP/1.1 200 "},
		"a preface": {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 400 "},
	} {
		if got := s.raw(c.request); !strings.HasPrefix(got, c.answer) {
			t.Errorf("%s is answered with %.60q, expected %s", name, got, c.answer)
		}
	}
}
