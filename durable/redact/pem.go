package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// The lines around a PEM block.
const (
	pemBegin  = "-----BEGIN "
	pemDashes = "-----"
	sshBegin  = "---- BEGIN "
	sshDashes = " ----"
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

// pemSpaces reads the plus signs of a form as the spaces of a label.
var pemSpaces = strings.NewReplacer("+", " ")

// pem returns the end of the private key whose first line begins at i, 0 where there is none. A
// key without its last line ends where base64 ends; without base64, the line is a sentence about
// keys. A block that contains a marker is not a key, so that a redacted text stays unchanged.
func pem(s string, i int) int {
	near := s[i:min(len(s), i+len(pemBegin)+pemLine)]
	dashes, line, last := pemDashes, pemDashes, "END "
	if strings.HasPrefix(near, sshBegin) { // the format of RFC 4716
		near, dashes, line, last = near[len(sshBegin)-len(pemBegin):], sshDashes, sshDashes[1:], " END "
	} else if !strings.HasPrefix(near, pemBegin[:len(pemBegin)-1]) {
		return 0
	}
	if len(near) < len(pemBegin) || near[len(pemBegin)-1] != ' ' && near[len(pemBegin)-1] != '+' {
		return 0
	}
	// Certificates and public keys have the same frame, and are not secret.
	name, _, whole := strings.Cut(near[len(pemBegin):], dashes)
	label := pemSpaces.Replace(name)
	if !whole || !strings.HasSuffix(label, "PRIVATE KEY") && !strings.HasSuffix(label, "PRIVATE KEY BLOCK") {
		return 0
	}
	body := i + strings.Index(s[i:], name) + len(name) + len(dashes)
	inner, rest, _ := strings.Cut(s[body:], line)
	countReads(len(inner))
	if end := last + name + dashes; strings.HasPrefix(rest, end) && !strings.Contains(inner, markerStart) && hasKeyBody(inner) {
		return body + len(inner) + len(line) + len(end)
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
