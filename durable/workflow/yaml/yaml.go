// Package yaml parses the subset of YAML 1.2 that has the same meaning in JSON. Anchors,
// aliases, tags, merge keys, keys that are not strings and files of several documents are
// rejected, with the place in the file.
//
// The package knows nothing about workflows. It rewrites the document as JSON text, in
// which each value is on the same line as in the YAML file, and passes that to package
// canon. The rules for numbers, strings and depth are therefore canon's only. Start
// reading at Parse.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
)

// Parse parses one YAML document. Every error is a *canon.ParseError with the JSON
// pointer, the line in the YAML text and the reason. Values report the line that they
// have in data.
func Parse(data []byte) (canon.Value, error) {
	text := strings.TrimPrefix(string(data), "\ufeff")
	if err := refuseBytes(text); err != nil {
		return canon.Value{}, err
	}
	root, err := document(text)
	if err != nil {
		return canon.Value{}, err
	}
	// JSON takes a little more than YAML. A buffer that grows would take several times as much.
	w := writer{source: splitLines(text), line: 1, out: make([]byte, 0, len(text)+len(text)/8)}
	if err := w.node(root); err != nil {
		return canon.Value{}, err
	}
	v, err := canon.Parse(w.out)
	var pe *canon.ParseError
	if errors.As(err, &pe) {
		pe.Column = 0 // that of the JSON text
	}
	return v, err
}

// CountValues returns how many values a YAML text holds, at most, without parsing it: every
// value but the first follows a line break or one of the indicators of lists and mappings.
// Punctuation in texts counts as well.
func CountValues(data []byte) int {
	n := 1
	for i, c := range data {
		switch c {
		case '\n', '\r', ',', ':', '[', '{', '?':
			n++
		case '-':
			if i+1 < len(data) && (data[i+1] == ' ' || data[i+1] == '\t') {
				n++
			}
		}
	}
	return n
}

// ParseFirst is Parse for a text with too many values: it parses the first lines, which hold
// about most of them. Keys of later lines that are not indented are passed to more. A text that
// cannot be cut after a line, such as a list in brackets, is an error.
func ParseFirst(data []byte, most int, more func(name string)) (canon.Value, error) {
	end, n := 0, 0
	for end < len(data) && n < most {
		next := bytes.IndexByte(data[end:], '\n') + 1
		if next == 0 {
			next = len(data) - end
		}
		if n += CountValues(data[end : end+next]); n <= most {
			end += next
		}
	}
	for line := range bytes.Lines(data[end:]) {
		name, _, ok := bytes.Cut(line, []byte{':'})
		if ok && len(name) > 0 && !bytes.ContainsAny(name[:1], " \t#-") {
			more(string(bytes.Trim(name, `"' `)))
		}
	}
	return Parse(data[:end])
}

// refuseBytes rejects text that the YAML library would change silently: it accepts UTF-16
// as well, and it treats three characters as line breaks that are text in YAML 1.2.
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
				Reason: fmt.Sprintf(`character %U is not escaped; write it as "\u%04x" in double quotes`, r, r)}
		}
	}
	return nil
}

// document returns the root node of the only document in text. An empty text and a second
// document are errors.
func document(text string) (root *yaml.Node, err error) {
	// The library panics on internal errors; a file must not be able to end the process.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, &canon.ParseError{Line: 1, Reason: fmt.Sprintf("cannot be parsed as YAML (%v)", p)}
		}
	}()
	in := yaml.NewDecoder(strings.NewReader(text))
	var doc yaml.Node
	if err := in.Decode(&doc); err == io.EOF || err == nil && len(doc.Content) == 0 {
		return nil, &canon.ParseError{Line: 1, Reason: "the document is empty"}
	} else if err != nil {
		return nil, syntaxError(text, err)
	}
	// The decoder stops at a document separator; a second successful Decode is an error.
	var second yaml.Node
	if err := in.Decode(&second); err == nil {
		return nil, &canon.ParseError{Line: max(second.Line, 1),
			Reason: "a second document starts here; a file contains one document only"}
	} else if err != io.EOF {
		return nil, syntaxError(text, err)
	}
	return doc.Content[0], nil
}

// libraryError matches the messages of the YAML library.
var libraryError = pattern.New(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// syntaxError is the error of the library for a text, with the line at which the text begins to have it.
func syntaxError(text string, err error) error {
	line, problem := messageOf(err)
	if problem == "" {
		return &canon.ParseError{Line: 1, Reason: err.Error()}
	}
	return &canon.ParseError{Line: errorLine(text, line, problem),
		Reason: "not valid YAML: " + strings.ToValidUTF8(problem, "\ufffd")}
}

// messageOf returns the line and the problem of an error of the library, which has them only as text. The line is often
// that before the problem, or that at which the value around it begins; 1 if there is none.
func messageOf(err error) (line int, problem string) {
	m := libraryError.FindStringSubmatch(err.Error())
	if m == nil {
		return 1, ""
	}
	if n, err := strconv.Atoi(m[1]); err == nil {
		return n, m[2]
	}
	return 1, m[2]
}

// searchedBytesMax bounds a text whose parts are parsed again to find the line of an error.
const searchedBytesMax = 512 << 10

// errorLine returns the number of the first line, from line on, with which a text has a problem: the lines up to there
// have it, those before it do not.
func errorLine(text string, line int, problem string) int {
	if len(text) > searchedBytesMax {
		return line
	}
	var ends []int // of the lines
	for i, c := range []byte(text) {
		if c == '\n' || c == '\r' && !strings.HasPrefix(text[i+1:], "\n") {
			ends = append(ends, i+1)
		}
	}
	ends = append(ends, len(text))
	n := sort.Search(len(ends)-line, func(n int) bool { return problemOf(text[:ends[line-1+n]]) == problem })
	return line + n
}

// problemOf returns the problem that the library has with a text, "" for none.
func problemOf(text string) (problem string) {
	defer func() {
		if recover() != nil { // see document
			problem = ""
		}
	}()
	in := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc yaml.Node
		if err := in.Decode(&doc); err == io.EOF {
			return ""
		} else if err != nil {
			_, problem = messageOf(err)
			return problem
		}
	}
}

// splitLines splits at the line breaks of YAML: LF, CR and CRLF.
func splitLines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
}
