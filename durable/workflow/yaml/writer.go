package yaml

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// writer writes a YAML node tree as JSON text. Before each value it appends newlines until
// the output is on the line that the value has in the source, so that canon's line numbers
// are those of the YAML file.
type writer struct {
	source []string // the lines of the YAML text, for what the node tree does not record
	out    []byte
	line   int      // current line of out, from 1
	path   []string // reference tokens from the root to the current value
	at     cursor
}

// cursor is a position in the source and the text from there to the end of the line.
type cursor struct {
	line, column int
	rest         string
}

// fail returns a *canon.ParseError at n. The pointer is built only here, because almost
// every document is accepted.
func (w *writer) fail(n *yaml.Node, format string, args ...any) error {
	var at strings.Builder
	for _, token := range w.path {
		at.WriteString("/" + canon.EscapePointer(token))
	}
	return &canon.ParseError{Pointer: at.String(), Line: max(n.Line, 1), Column: n.Column,
		Reason: fmt.Sprintf(format, args...)}
}

// moveTo appends newlines until the output is on the given line. Line numbers of YAML nodes
// do not decrease in document order; if one did, only its reported line would be wrong.
func (w *writer) moveTo(line int) {
	for ; w.line < line; w.line++ {
		w.out = append(w.out, '\n')
	}
}

// node writes a value of any kind. The depth is checked before descending, so that the
// recursion is bounded even if the library accepts deeper nesting.
func (w *writer) node(n *yaml.Node) error {
	if len(w.path) > limits.JSONDepthMax {
		return w.fail(n, "nested deeper than %d levels", limits.JSONDepthMax)
	}
	if err := w.refuse(n); err != nil {
		return err
	}
	w.moveTo(n.Line)
	switch n.Kind {
	case yaml.MappingNode:
		return w.mapping(n)
	case yaml.SequenceNode:
		return w.sequence(n)
	case yaml.ScalarNode:
		return w.scalar(n)
	}
	return w.fail(n, "not a value of a kind that JSON has")
}

// refuse rejects the YAML features that JSON does not have. With them, the meaning of a line
// would depend on other places of the file.
func (w *writer) refuse(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return w.fail(n, "alias *%s: write the value out where it is used", n.Value)
	case n.Anchor != "":
		return w.fail(n, "anchor &%s: anchors and aliases are not supported", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		return w.fail(n, "tag %s: tags are not supported; quote the text to make it a string", n.Tag)
	case strings.HasPrefix(w.sourceAt(n), "!"):
		// The node tree does not record the tag "!" alone, so it is read from the source.
		return w.fail(n, "tag !: tags are not supported; quote the text to make it a string")
	}
	return nil
}

// sourceAt returns the source from the start of n to the end of the line. Columns count
// characters. Nodes are visited in document order, so each line is scanned once in total,
// which keeps long lines linear.
func (w *writer) sourceAt(n *yaml.Node) string {
	if n.Line < 1 || n.Line > len(w.source) {
		return ""
	}
	if w.at.line != n.Line || w.at.column > n.Column {
		w.at = cursor{line: n.Line, column: 1, rest: w.source[n.Line-1]}
	}
	// Advance by characters: n.Column counts runes, and rest is indexed by bytes.
	for ; w.at.column < n.Column && w.at.rest != ""; w.at.column++ {
		_, size := utf8.DecodeRuneInString(w.at.rest)
		w.at.rest = w.at.rest[size:]
	}
	return w.at.rest
}

// mapping writes the members in source order. Duplicate keys are detected here rather than
// by canon, because the lines of both are known here.
func (w *writer) mapping(n *yaml.Node) error {
	w.out = append(w.out, '{')
	first := map[string]int{} // key → the line of its first use
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if err := w.key(key); err != nil {
			return err
		}
		if line, ok := first[key.Value]; ok {
			return w.fail(key, "duplicate key %q: it is already used on line %d", key.Value, line)
		}
		first[key.Value] = key.Line
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.moveTo(key.Line)
		w.out = append(canon.AppendString(w.out, key.Value), ':')
		if err := w.member(key.Value, value); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

// key checks that a key is a string. A plain 1, true or ~ is rejected rather than converted
// to a string: the author may have intended another value.
func (w *writer) key(k *yaml.Node) error {
	if err := w.refuse(k); err != nil {
		return err
	}
	if k.Kind != yaml.ScalarNode {
		return w.fail(k, "the key is a list or a mapping; keys must be strings")
	}
	// A quoted key is always a string.
	if k.Style != 0 {
		return w.valid(k)
	}
	if k.Value == "<<" {
		return w.fail(k, "merge key <<: write the keys out, or quote it")
	}
	lit, err := resolve(k.Value)
	if err != nil || lit != "" {
		return w.fail(k, "key %q is not a string: put it in quotes", k.Value)
	}
	return w.valid(k)
}

// valid checks that a text is valid UTF-8 after the library has decoded its escapes.
func (w *writer) valid(n *yaml.Node) error {
	if !utf8.ValidString(n.Value) {
		return w.fail(n, "text is not valid UTF-8")
	}
	return nil
}

// sequence writes the items in order, null items included.
func (w *writer) sequence(n *yaml.Node) error {
	w.out = append(w.out, '[')
	for i, item := range n.Content {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.member(strconv.Itoa(i), item); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

// member writes a value one level down. token is its reference token, which fail uses.
func (w *writer) member(token string, n *yaml.Node) error {
	w.path = append(w.path, token)
	err := w.node(n)
	w.path = w.path[:len(w.path)-1]
	return err
}

// scalar writes quoted and block scalars as strings, and plain scalars as the value that
// the core schema resolves them to.
func (w *writer) scalar(n *yaml.Node) error {
	// Style 0 is a plain scalar; all other styles are quoted or block scalars.
	if n.Style == 0 {
		lit, err := resolve(n.Value)
		if err != nil {
			return w.fail(n, "%s", err)
		}
		if lit != "" {
			w.out = append(w.out, lit...)
			return nil
		}
	}
	if err := w.valid(n); err != nil {
		return err
	}
	w.out = canon.AppendString(w.out, n.Value)
	return nil
}
