package redact

import (
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
)

// Bytes is an artifact without its secrets: JSON as Value has it, in JCS; other text as
// Text, and what is not UTF-8 only where its type says that it is text, for a marker in an
// image or an archive would break it. Where nothing was taken out it is b itself.
func Bytes(b []byte, contentType string, c Counts) []byte {
	own := Counts{}
	essence, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	essence = strings.TrimSpace(essence)
	var out []byte
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

func isJSON(essence string) bool {
	return essence == "application/json" || strings.HasSuffix(essence, "+json")
}

// isText reports a type of which people read the bytes. Latin-1 and logs with a stray
// byte are such; without a type nothing is known.
func isText(essence string) bool {
	if strings.HasPrefix(essence, "text/") || isJSON(essence) || strings.HasSuffix(essence, "+xml") ||
		strings.HasSuffix(essence, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(strings.TrimPrefix(essence, "application/"), "x-") {
	case "xml", "yaml", "toml", "javascript", "typescript", "sh", "shellscript", "sql", "ndjson", "jsonl", "json-seq",
		"www-form-urlencoded", "pem-file", "httpd-php":
		return essence != ""
	}
	return false
}
