// Package yaml reads workflow files written in YAML 1.2 as if they had been
// written in JSON: what has no plain JSON meaning (anchors, aliases, tags, merge
// keys, keys that are no strings, several documents) is refused with its place.
//
// It knows no workflow. It finds the structure; how strict JSON must be is decided
// by package canon alone, to which it hands the document as JSON text in which
// every value stands on the line it has in the YAML file.
package yaml

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
)

// Parse reads one YAML document. Every refusal is a *canon.ParseError with the
// pointer, the line in the YAML text and the reason.
func Parse(data []byte) (canon.Value, error) {
	text := strings.TrimPrefix(string(data), "\ufeff")
	if err := refuseBytes(text); err != nil {
		return canon.Value{}, err
	}
	root, err := document(text)
	if err != nil {
		return canon.Value{}, err
	}
	w := writer{source: splitLines(text), line: 1}
	if err := w.node(root); err != nil {
		return canon.Value{}, err
	}
	return canon.Parse(w.out)
}

// refuseBytes keeps out what the YAML library would change without a word: it
// reads UTF-16 as well, and it folds three characters as line breaks that YAML 1.2
// counts as text.
func refuseBytes(text string) error {
	line := 1
	for i, r := range text {
		switch r {
		case '\n':
			line++
		case utf8.RuneError:
			if !strings.HasPrefix(text[i:], "\ufffd") {
				return &canon.ParseError{Line: line, Reason: "text is not valid UTF-8"}
			}
		case '\u0085', '\u2028', '\u2029':
			return &canon.ParseError{Line: line,
				Reason: fmt.Sprintf(`character %U stands bare; write it as "\u%04x" in double quotes`, r, r)}
		}
	}
	return nil
}

// document is the root node of the one document in text.
func document(text string) (root *yaml.Node, err error) {
	// The library turns its own mistakes into panics of several kinds; a file
	// must not be able to end the process.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, &canon.ParseError{Line: 1, Reason: fmt.Sprintf("not YAML that can be read (%v)", p)}
		}
	}()
	in := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	var doc yaml.Node
	if err := in.Decode(&doc); err == io.EOF || err == nil && len(doc.Content) == 0 {
		return nil, &canon.ParseError{Line: 1, Reason: "the document is empty"}
	} else if err != nil {
		return nil, syntaxError(err)
	}
	var second yaml.Node
	if err := in.Decode(&second); err == nil {
		return nil, &canon.ParseError{Line: max(second.Line, 1),
			Reason: "a second document starts here; a file holds one"}
	} else if err != io.EOF {
		return nil, syntaxError(err)
	}
	return doc.Content[0], nil
}

var libraryError = pattern.New(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// syntaxError takes the line out of the library's message, which has it only as text.
func syntaxError(err error) error {
	out := &canon.ParseError{Line: 1, Reason: err.Error()}
	if m := libraryError.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			out.Line = n
		}
		out.Reason = "not valid YAML: " + strings.ToValidUTF8(m[2], "\ufffd")
	}
	return out
}

// splitLines cuts at the line breaks that YAML knows.
func splitLines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
}
