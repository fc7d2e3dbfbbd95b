package redact

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/redact/blob"
	"github.com/waybill/waybill/durable/redact/view"
)

// Base64 that hides a secret is replaced as a whole: encoded private keys and files with tokens. Texts
// that decode to something else, such as images and digests, stay.

const (
	// base64Min is the shortest run that is decoded: shorter ones hold no token of the table.
	base64Min = 24
	// base64Line is the shortest line of base64 that continues on the next line.
	base64Line = 40
	// plainMin is the shortest run of readable text in decoded bytes that is searched.
	plainMin = 16
)

var (
	base64Byte = classOf(letters + digits + "+/-_")
	padding    = classOf("=")
	// printed is the class of the bytes of readable text.
	printed = func() *class {
		c := visibleBut("")
		for _, b := range []byte(" \t\r\n") {
			c[b] = true
		}
		return c
	}()
)

// base64Text replaces the base64 of secrets.
func base64Text(s string, c Counts) string {
	var out []byte
	copied := 0
	for i := 0; i < len(s); {
		if !base64Byte[s[i]] {
			i += max(1, marker(s[i:]))
			continue
		}
		to := span(s, i, base64Byte)
		if to-i < base64Min {
			i = to
			continue
		}
		encoded, end := base64Lines(s, i, to)
		if r := hidden(encoded); r != "" {
			out = append(append(out, s[copied:i]...), Marker(r)...)
			copied = end
			c.add(r, 1)
		}
		i = end
	}
	if out == nil {
		return s
	}
	return string(append(out, s[copied:]...))
}

// base64Lines returns the base64 that begins with s[from:to], with the lines that continue it and
// without what separates them, and where it ends, with its padding.
func base64Lines(s string, from, to int) (encoded string, end int) {
	encoded = s[from:to]
	var lines []string
	for to-from >= base64Line {
		next := joint(s, to)
		if next == 0 {
			break
		}
		end := span(s, next, base64Byte)
		if end == next || end < len(s) && !padding[s[end]] && !endsPiece(s, end) {
			break
		}
		lines = append(lines, s[from:to])
		from, to = next, end
	}
	if lines != nil {
		encoded = strings.Join(append(lines, s[from:to]), "")
	}
	for to < len(s) && padding[s[to]] {
		to++
	}
	return encoded, to
}

// hidden returns the rule of a secret in the bytes that a run of base64 stands for, "" where it hides
// none. The run may begin with other text, such as a path, so that all four alignments are read.
func hidden(encoded string) Rule {
	encoded = blob.Standard.Replace(encoded)
	for skip := range 4 {
		run := encoded[skip:]
		if len(run)%4 == 1 { // a byte that decodes to nothing
			run = run[:len(run)-1]
		}
		plain, _ := base64.RawStdEncoding.DecodeString(run)
		if r := readableSecret(string(plain)); r != "" {
			return r
		}
		// A text that is readable as a whole may be a file of settings.
		if skip == 0 && len(plain) >= plainMin && span(string(plain), 0, printed) == len(plain) {
			found := Counts{}
			(&scanner{text: string(plain), source: view.Of(string(plain)), counts: found}).run()
			if len(found) > 0 {
				return Rule(slices.Min(slices.Collect(maps.Keys(found))))
			}
		}
	}
	return ""
}

// readableSecret returns the rule of the first secret in the readable parts of decoded bytes.
func readableSecret(plain string) Rule {
	for i := 0; i < len(plain); {
		to := span(plain, i, printed)
		if to-i >= plainMin {
			if r := tokenIn(plain[i:to]); r != "" {
				return r
			}
		}
		i = to + 1
	}
	return ""
}

// tokenIn returns the rule of the first token, JWT or private key in a text.
func tokenIn(s string) Rule {
	sc := scanner{text: s}
	for i := range len(s) {
		b := table().find(s, i)
		if b == nil {
			continue
		}
		if _, to, r := sc.infixAt(i, b); to > 0 {
			return r
		}
		switch {
		case s[i] == '-':
			if pem(s, i) > i {
				return PrivateKey
			}
		case i == 0 || !word[s[i-1]] || escapeEnds(s, i):
			if to, r := sc.tokenAt(i, b); to-i >= plainMin {
				return r
			}
		}
	}
	return ""
}
