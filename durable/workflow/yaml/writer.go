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

// writer spells a node tree as JSON. Before each value it ends lines until it
// stands where the value stands in the source.
type writer struct {
	source []string // the YAML text, for what the node tree does not tell
	out    []byte
	line   int
	path   []string
	at     cursor
}

// cursor is a place in the source and the text from there to the line's end.
type cursor struct {
	line, column int
	rest         string
}

// fail refuses n. The pointer is built here and not carried along: almost every
// document is accepted.
func (w *writer) fail(n *yaml.Node, format string, args ...any) error {
	var at strings.Builder
	for _, token := range w.path {
		at.WriteString("/" + canon.EscapePointer(token))
	}
	return &canon.ParseError{Pointer: at.String(), Line: max(n.Line, 1), Reason: fmt.Sprintf(format, args...)}
}

// moveTo ends lines until the output stands on the given one. Lines of a YAML text
// never go back from node to node; should one, its line is too high and nothing else.
func (w *writer) moveTo(line int) {
	for ; w.line < line; w.line++ {
		w.out = append(w.out, '\n')
	}
}

// node writes any value. The depth is checked before the value is entered, so that
// recursion is bounded whatever the library lets through.
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
	return w.fail(n, "not a value that JSON has")
}

// refuse names what YAML offers beyond JSON. All of it would make a workflow file
// mean something else than what stands on the line.
func (w *writer) refuse(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return w.fail(n, "alias *%s: write the value out where it is used", n.Value)
	case n.Anchor != "":
		return w.fail(n, "anchor &%s: anchors and aliases are not read", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		return w.fail(n, "tag %s: tags are not read; quote the text to make it a string", n.Tag)
	case strings.HasPrefix(w.sourceAt(n), "!"):
		// The tag "!" alone leaves no trace in the node tree.
		return w.fail(n, "tag !: tags are not read; quote the text to make it a string")
	}
	return nil
}

// sourceAt is the rest of the line on which n starts. Columns count characters;
// nodes come in the order of the text, so each line is walked once, however long.
func (w *writer) sourceAt(n *yaml.Node) string {
	if n.Line < 1 || n.Line > len(w.source) {
		return ""
	}
	if w.at.line != n.Line || w.at.column > n.Column {
		w.at = cursor{line: n.Line, column: 1, rest: w.source[n.Line-1]}
	}
	for ; w.at.column < n.Column && w.at.rest != ""; w.at.column++ {
		_, size := utf8.DecodeRuneInString(w.at.rest)
		w.at.rest = w.at.rest[size:]
	}
	return w.at.rest
}

// mapping writes members in the order of the source. Equal keys are found here
// and not by canon, because here both lines are known.
func (w *writer) mapping(n *yaml.Node) error {
	w.out = append(w.out, '{')
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if err := w.key(key); err != nil {
			return err
		}
		if line, ok := first[key.Value]; ok {
			return w.fail(key, "duplicate key %q: it stands on line %d already", key.Value, line)
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

// key accepts what is certainly a string. A plain 1, true or ~ is refused, not made
// a string: the author may have meant the value.
func (w *writer) key(k *yaml.Node) error {
	if err := w.refuse(k); err != nil {
		return err
	}
	if k.Kind != yaml.ScalarNode {
		return w.fail(k, "a key that is a list or a mapping: keys are strings")
	}
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

// valid is the last check of a text, after the library has decoded its escapes.
func (w *writer) valid(n *yaml.Node) error {
	if !utf8.ValidString(n.Value) {
		return w.fail(n, "text is not valid UTF-8")
	}
	return nil
}

// sequence writes items; a null item is an item.
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

// member writes a value one level down, keeping the path for messages.
func (w *writer) member(token string, n *yaml.Node) error {
	w.path = append(w.path, token)
	err := w.node(n)
	w.path = w.path[:len(w.path)-1]
	return err
}

// scalar writes quoted and block text as a string, plain text as what the core
// schema says it is.
func (w *writer) scalar(n *yaml.Node) error {
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
