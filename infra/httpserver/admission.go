package httpserver

import (
	"net/http"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
)

// admit refuses what no route answers (docs/design.md#openwop-server). A page in a browser reaches loopback
// addresses: by a name of its own that resolves to one, which the header Host shows, or with a request across
// origins, which the header Origin shows. No program that is no browser sends that header.
func (s *service) admit(r *http.Request) error {
	if !s.hostNames[strings.ToLower(r.Host)] {
		return refuse(http.StatusBadRequest, openwop.ErrValidation,
			"the header Host does not name this server: use the URL that it printed")
	}
	if _, has := r.Header["Origin"]; has {
		return refuse(http.StatusForbidden, openwop.ErrForbidden, "requests of web pages, with a header Origin, are refused")
	}
	lines := 0
	for _, values := range r.Header {
		lines += len(values)
	}
	if lines > limits.HTTPHeadersMax {
		return headersTooLarge()
	}
	if raw := r.URL.EscapedPath(); raw == "" || raw[0] != '/' || path.Clean(raw) != raw {
		return noRoute()
	}
	return nil
}

// pathValue returns a value of a path, and whether it can be an id.
func pathValue(r *http.Request, name string) (string, bool) {
	v := r.PathValue(name)
	return v, isID(v)
}

// isID reports a text that can be an id. Any other is not looked up: no id of a store has a slash, or only dots.
func isID(text string) bool {
	bad := func(r rune) bool { return !unicode.IsPrint(r) || r == '/' || r == '\\' }
	return strings.Trim(text, ".") != "" && len(text) <= limits.HTTPPathValueBytesMax && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, bad)
}
