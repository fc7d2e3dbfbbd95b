package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/limits"
)

// errNotJSON is the error of settings that cannot be read.
var errNotJSON = errors.New("it is not JSON, or has comments, and is not changed")

// node is a value of a JSON text with its place in it.
type node struct {
	kind       byte // '{', '[', '"', or 'v' for any other value
	start, end int
	children   []child
}

// child is a member of an object or an item of an array. start is that of the name, or of the item.
type child struct {
	start int
	name  string
	value node
}

// scanner reads a text that json.Valid accepted.
type scanner struct {
	text []byte
	at   int
}

// parse returns the tree of a JSON object.
func parse(text []byte) (node, error) {
	if len(text) > limits.ClientSettingsBytesMax {
		return node{}, fmt.Errorf("it has more than %d bytes, and is not changed", limits.ClientSettingsBytesMax)
	}
	if !json.Valid(text) {
		return node{}, errNotJSON
	}
	s := scanner{text: text}
	root := s.value()
	if root.kind != '{' {
		return node{}, errors.New("it is not an object, and is not changed")
	}
	return root, nil
}

// blank skips white space and the separators, whose places are known to be right.
func (s *scanner) blank() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n,:", s.text[s.at]) >= 0 {
		s.at++
	}
}

// value reads a value.
func (s *scanner) value() node {
	s.blank()
	n := node{kind: s.text[s.at], start: s.at}
	switch n.kind {
	case '{', '[':
		s.at++
		for s.blank(); s.text[s.at] != '}' && s.text[s.at] != ']'; s.blank() {
			c := child{start: s.at}
			if n.kind == '{' {
				c.name = s.str()
			}
			c.value = s.value()
			n.children = append(n.children, c)
		}
		s.at++
	case '"':
		s.str()
	default:
		n.kind = 'v'
		for s.at < len(s.text) && strings.IndexByte(" \t\r\n,:]}", s.text[s.at]) < 0 {
			s.at++
		}
	}
	n.end = s.at
	return n
}

// str reads a string.
func (s *scanner) str() (out string) {
	start := s.at
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	_ = json.Unmarshal(s.text[start:s.at], &out)
	return out
}

// member returns a member of an object, nil without one. A name that occurs twice is an error: which of the two the
// client uses is not known.
func (n node) member(name string) (*child, error) {
	var found *child
	for i := range n.children {
		if n.children[i].name != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("it has the member %q twice, and is not changed", name)
		}
		found = &n.children[i]
	}
	return found, nil
}

// text returns the string that a value is, "" for another value.
func (n node) str(text []byte) (out string) {
	if n.kind == '"' {
		_ = json.Unmarshal(text[n.start:n.end], &out)
	}
	return out
}

// edit replaces a part of a text.
type edit struct {
	from, to int
	by       string
	// place names the member that contains the part, name the member whose value it is, "" where by has the name.
	place, name string
}

// apply returns the text after the edit.
func (e edit) apply(text []byte) []byte {
	out := make([]byte, 0, len(text)-(e.to-e.from)+len(e.by))
	return append(append(append(out, text[:e.from]...), e.by...), text[e.to:]...)
}

// margin returns the white space with which the line of a place begins.
func margin(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// newline returns the line break of a text.
func newline(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// unit returns what a level is indented by, and false for a text whose members are on one line.
func unit(text []byte, root node) (string, bool) {
	if len(root.children) == 0 {
		return "  ", true
	}
	if !bytes.Contains(text[root.start:root.children[0].start], []byte("\n")) {
		return "", false
	}
	if m := margin(text, root.children[0].start); m != "" {
		return m, true
	}
	return "  ", true
}

// add appends a member, or with an empty name an item, behind the last child of a value.
func add(text []byte, root, to node, name string, value any) (edit, error) {
	indent, lines := unit(text, root)
	inline := len(to.children) > 0 && !bytes.Contains(text[to.start:to.children[0].start], []byte("\n"))
	if !lines || inline {
		made, err := encode(value, "", "")
		if name != "" {
			made = quote(name) + ": " + made
		}
		return to.append(made, ", ", "", ""), err
	}
	outer := margin(text, to.start)
	inner := outer + indent
	if len(to.children) > 0 {
		inner = margin(text, to.children[0].start)
	}
	made, err := encode(value, inner, indent)
	nl := newline(text)
	made = strings.ReplaceAll(made, "\n", nl)
	if name != "" {
		made = quote(name) + ": " + made
	}
	return to.append(made, ","+nl+inner, nl+inner, nl+outer), err
}

// append is the edit that puts a text behind the last child, with a separator, or between the brackets of a value
// without children, with what is before and behind it.
func (n node) append(made, separator, before, behind string) edit {
	if len(n.children) == 0 {
		return edit{from: n.start + 1, to: n.end - 1, by: before + made + behind}
	}
	end := n.children[len(n.children)-1].value.end
	return edit{from: end, to: end, by: separator + made}
}

// drop removes the child at an index: of the last one also the comma before it, so that no byte of what add appended is
// left.
func drop(from node, i int) edit {
	switch last := len(from.children) - 1; {
	case last == 0:
		return edit{from: from.start + 1, to: from.end - 1}
	case i == last:
		return edit{from: from.children[i-1].value.end, to: from.children[i].value.end}
	default:
		return edit{from: from.children[i].start, to: from.children[i+1].start}
	}
}

// encode writes a value; with an indentation, on lines of its own.
func encode(value any, prefix, indent string) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent != "" {
		e.SetIndent(prefix, indent)
	}
	if err := e.Encode(value); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// quote writes a string as JSON.
//
//go:noinline
func quote(s string) string {
	out, _ := encode(s, "", "")
	return out
}
