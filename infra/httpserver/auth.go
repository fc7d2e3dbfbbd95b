package httpserver

import (
	"net/http"
	"strings"

	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

// authenticate finds the store and the key that the header Authorization presents. The digest of the presented text
// is compared with that of every key of every store, each time in the same time, so that neither the time nor the
// number of comparisons depends on the text. The text itself is kept nowhere.
//
// A store whose keys cannot be read has none: the keys of the others remain valid. Its error is returned where no other
// store has the key. A key of two stores is refused, since it would have to mean one of them.
func (c *call) authenticate() error {
	text, ok := bearer(c.r.Header)
	var unread error
	matches := 0
	for i, h := range c.Hosts {
		keys, err := h.Keys(c.r.Context())
		if err != nil {
			unread = err
			continue
		}
		if k, found := httpkeys.Match(keys, text); found && ok {
			matches++
			c.host, c.hostIndex, c.key = h, i, k
		}
	}
	if matches == 1 {
		return nil
	}
	c.host, c.key = nil, httpkeys.Key{}
	if unread != nil && ok {
		return unread
	}
	e := refuse(http.StatusUnauthorized, openwop.ErrUnauthenticated, "a valid key is required: Authorization: Bearer KEY")
	e.header.Set("WWW-Authenticate", "Bearer")
	return e
}

// bearer returns the key of a request; ok is false without exactly one.
func bearer(h http.Header) (key string, ok bool) {
	values := h["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, key, ok := strings.Cut(values[0], " ")
	return key, ok && strings.EqualFold(scheme, "Bearer") && key != ""
}
