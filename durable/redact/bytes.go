package redact

import (
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
)

// Bytes returns an artifact without its secrets. JSON is redacted by Value and written as JCS;
// other text is redacted by Text. Bytes that are not UTF-8 are redacted only where the content
// type is a text type, since a marker inside an image or an archive would break it. Where nothing
// was replaced it returns b itself, so that the digest of the artifact does not change.
func Bytes(b []byte, contentType string, c Counts) []byte {
	own := Counts{} // also shows whether anything was replaced, if c is nil
	// The content type without parameters such as charset.
	essence, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	essence = strings.TrimSpace(essence)
	var out []byte
	// JSON that does not parse strictly is redacted as text.
	if v, err := canon.Parse(b); isJSON(essence) && err == nil {
		out = Value(v, own).JCS()
	} else if utf8.Valid(b) || isText(essence) {
		out = []byte(Text(string(b), own))
	}
	if len(own) == 0 {
		return b
	}
	for rule, hits := range own {
		if c != nil {
			c[rule] += hits
		}
	}
	return out
}

// isJSON reports a JSON content type; essence is the lower case type without parameters.
func isJSON(essence string) bool {
	return essence == "application/json" || strings.HasSuffix(essence, "+json")
}

// isText reports a text content type, whose bytes may still not be UTF-8: Latin-1, or a log with
// a single invalid byte. An artifact without a type is not treated as text.
func isText(essence string) bool {
	if strings.HasPrefix(essence, "text/") || isJSON(essence) || strings.HasSuffix(essence, "+xml") ||
		strings.HasSuffix(essence, "+yaml") {
		return true
	}
	// Text formats that are registered, or commonly used, under application/.
	switch strings.TrimPrefix(strings.TrimPrefix(essence, "application/"), "x-") {
	case "xml", "yaml", "toml", "javascript", "typescript", "sh", "shellscript", "sql", "ndjson", "jsonl", "json-seq",
		"www-form-urlencoded", "pem-file", "httpd-php":
		return essence != ""
	}
	return false
}
