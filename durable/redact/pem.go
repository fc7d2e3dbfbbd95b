package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// The lines around a PEM block.
const (
	pemBegin  = "-----BEGIN "
	pemEnd    = "-----END "
	pemDashes = "-----"
	pemLine   = 64 // the longest label, and what one line of base64 holds

	pemBreak = `(?:[\n\r ]|\\[nr])+` // real or escaped line ends, and indentation
)

// The body of a PEM block. Sentences about keys have neither a long run of base64 nor a line of
// only base64; quotes and commas surround the lines of a key in a source file.
var (
	pemRun   = pattern.New(`[A-Za-z0-9+/=]{16}`)
	pemWhole = pattern.New(`(?m)^[ \t\r>|"',+;\\]*[A-Za-z0-9/=][A-Za-z0-9+/=]*[ \t\r>|"',+;\\]*$`)
	// pemLines matches the lines of a key that was cut off, of which the last one may be short.
	pemLines = pattern.New(`^(?:` + pemBreak + `[A-Za-z0-9+/=]{16,})+(?:` + pemBreak + `[A-Za-z0-9+/=]{1,15})?`)
)

// pem returns the end of the private key whose first line begins at i, 0 where there is none. A
// key without its last line ends where base64 ends; without base64, the line is a sentence about
// keys. A block that contains a marker is not a key, so that a redacted text stays unchanged.
func pem(s string, i int) int {
	label, ok := strings.CutPrefix(s[i:min(len(s), i+len(pemBegin)+pemLine)], pemBegin)
	if !ok {
		return 0
	}
	// Certificates and public keys have the same frame, and are not secret.
	name, _, whole := strings.Cut(label, pemDashes)
	if !whole || !strings.HasSuffix(name, "PRIVATE KEY") && !strings.HasSuffix(name, "PRIVATE KEY BLOCK") {
		return 0
	}
	body := i + len(pemBegin) + len(name) + len(pemDashes)
	inner, _, _ := strings.Cut(s[body:], pemDashes)
	countReads(len(inner))
	end := pemEnd + name + pemDashes
	if strings.HasPrefix(s[body+len(inner):], end) && !strings.Contains(inner, markerStart) && hasKeyBody(inner) {
		return body + len(inner) + len(end)
	}
	if lines := pemLines.FindString(inner); lines != "" {
		return body + len(lines)
	}
	return 0 // the dashes belong to something else
}

// hasKeyBody reports whether inner is the body of a key.
func hasKeyBody(inner string) bool {
	// A key inside a JSON string or a source file has escaped line ends.
	lines := strings.ReplaceAll(inner, `\n`, "\n")
	return pemRun.MatchString(inner) || strings.Contains(lines, "\n") && pemWhole.MatchString(lines)
}
