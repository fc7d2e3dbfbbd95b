package redact

import (
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
)

// Bytes returns an artifact without its secrets. JSON is redacted by Value and written as JCS;
// other text is redacted by Text. Bytes that are not UTF-8 are redacted only where the content
// type is a text type, since a marker inside an image or an archive would break it. Where nothing
// was replaced it returns b itself, so that the digest of the artifact does not change.
func Bytes(b []byte, contentType string, c Counts) []byte {
	own := Counts{} // also shows whether anything was replaced, if c is nil
	kind := essence(contentType)
	var out []byte
	// JSON that does not parse strictly is redacted as text.
	if v, err := canon.Parse(b); jsonType.MatchString(kind) && err == nil {
		out = Value(v, own).JCS()
	} else if utf8.Valid(b) || textType.MatchString(kind) {
		out = []byte(Text(string(b), own))
	}
	if len(own) == 0 {
		return b
	}
	for rule, hits := range own {
		c.add(Rule(rule), hits)
	}
	return out
}

// essence returns a content type in lower case, without parameters such as charset.
func essence(contentType string) string {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	return strings.TrimSpace(kind)
}

// Content types, in lower case and without parameters.
var (
	jsonType = pattern.New(`^application/json$|\+json$`)
	// textType matches the types whose bytes are text that may still not be UTF-8: Latin-1, or a log
	// with a single invalid byte. Some text formats are registered, or commonly used, under
	// application/. An artifact without a type is not treated as text.
	textType = pattern.New(`^text/|\+(?:json|xml|yaml)$|^application/json$|` +
		`^(?:application/)?(?:x-)?(?:xml|yaml|toml|javascript|typescript|sh|shellscript|sql|ndjson|jsonl|json-seq|` +
		`www-form-urlencoded|pem-file|httpd-php)$`)
)
