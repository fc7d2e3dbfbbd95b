package httpserver

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/redact"
)

// parseQuery returns the values of the known parameters of a query. Others are ignored, in any spelling: a later
// version may know them. A known one that occurs twice, or that is not spelled as a URL requires, is refused.
func parseQuery(raw string, known []parameter) (map[string]string, error) {
	out := map[string]string{}
	for raw != "" {
		var part string
		part, raw, _ = strings.Cut(raw, "&")
		name, value, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		if err != nil || !slices.ContainsFunc(known, func(p parameter) bool { return p.name == name }) {
			continue
		}
		value, err = url.QueryUnescape(value)
		if err != nil || strings.Contains(part, ";") {
			return nil, invalid("the parameter " + name + " is not encoded as a URL requires")
		}
		if _, twice := out[name]; twice {
			return nil, invalid("the parameter " + name + " is given twice")
		}
		out[name] = value
	}
	return out, nil
}

// number returns a parameter that is an integer from 0 to most, and fallback where it is absent.
func (c *call) number(name string, fallback, most int64) (int64, error) {
	text, ok := c.query[name]
	if !ok {
		return fallback, nil
	}
	return natural("the parameter "+name, text, most)
}

// natural parses an integer from 0 to most, in its one spelling.
func natural(what, text string, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > most || strconv.FormatInt(n, 10) != text {
		return 0, invalid(what + " is not an integer from 0 to " + strconv.FormatInt(most, 10))
	}
	return n, nil
}

// integerMax is the largest integer that JSON numbers represent exactly.
const integerMax = 1 << 53

// readBody reads the body of a request, if it has one, within its limits (docs/design.md#json-from-outside). Without
// a body the value is null.
func (c *call) readBody() error {
	if c.route.body == nil {
		if c.r.ContentLength != 0 {
			return invalid("this request has no body").closing()
		}
		return nil
	}
	if c.r.ContentLength == 0 {
		return c.withoutBody()
	}
	if err := checkMedia(c.r.Header); err != nil {
		return err
	}
	if c.r.ContentLength > limits.HTTPBodyBytesMax {
		return bodyTooLarge()
	}
	// The writer of net/http, and not that of the call: it ends the connection behind a body that is too large.
	raw, err := io.ReadAll(http.MaxBytesReader(c.w.ResponseWriter, c.r.Body, limits.HTTPBodyBytesMax))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return bodyTooLarge()
	}
	if err != nil {
		return invalid("the body ended before it was complete, or did not arrive in time").closing()
	}
	if len(raw) == 0 {
		return c.withoutBody()
	}
	if canon.CountValues(raw) > limits.HTTPBodyValuesMax {
		return refuse(http.StatusRequestEntityTooLarge, openwop.ErrTooLarge, "the body has too many values").
			with("maxValues", limits.HTTPBodyValuesMax)
	}
	c.raw = raw
	if c.body, err = canon.Parse(raw); err != nil {
		return malformedBody(err)
	}
	return nil
}

// withoutBody accepts a request without a body, or with an empty one, where the body may be absent.
func (c *call) withoutBody() error {
	if c.route.body.required {
		return invalid("a body is required")
	}
	return nil
}

// checkMedia refuses a body that is not plain JSON in UTF-8.
func checkMedia(h http.Header) error {
	types := h["Content-Type"]
	if len(types) == 1 {
		media, params, err := mime.ParseMediaType(types[0])
		if charset, has := params["charset"]; err == nil && media == "application/json" &&
			(!has || strings.EqualFold(charset, "utf-8")) && h.Get("Content-Encoding") == "" {
			return nil
		}
	}
	return refuse(http.StatusUnsupportedMediaType, openwop.ErrUnsupportedMedia,
		"a body is application/json in UTF-8, without an encoding").with(openwop.DetailSupported, []string{"application/json"}).closing()
}

// bodyTooLarge is the answer to a body over its limit; the rest of it is not read.
func bodyTooLarge() *refusal {
	return refuse(http.StatusRequestEntityTooLarge, openwop.ErrTooLarge, "the body is too large").
		with("maxRequestBodyBytes", limits.HTTPBodyBytesMax).closing()
}

// malformedBody is the answer to a body that is not of its form, nil for no error. A place or reason can contain text
// of the body: both are redacted.
func malformedBody(err error) error {
	var bad *canon.ParseError
	if !errors.As(err, &bad) {
		return err
	}
	reason := redact.Text(bad.Reason, nil)
	return invalid("the body is not valid: "+reason).with("pointer", redact.Text(bad.Pointer, nil)).with("reason", reason)
}

// decode fills the request of a route from its body; without a body, out stays as it is.
func (c *call) decode(out any) error {
	if c.raw == nil {
		return nil
	}
	return malformedBody(canon.Decode(c.body, out))
}

// idempotencyKey returns the key of a request, "" for none.
func (c *call) idempotencyKey() (string, error) {
	values := c.r.Header["Idempotency-Key"]
	if len(values) == 0 || !c.route.idempotent && !c.route.keyed {
		return "", nil
	}
	key := values[0]
	visible := !strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' })
	if len(values) > 1 || key == "" || len(key) > limits.IdempotencyKeyBytesMax || !visible {
		return "", invalid("an Idempotency-Key has 1 to 255 visible ASCII characters")
	}
	return key, nil
}
