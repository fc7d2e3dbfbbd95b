// Package markup builds HTML that is safe by construction: elements and attributes are members of closed sets, texts
// and values are escaped in one place, and an address is a URL of a few schemes. Nothing that a caller passes is
// written as it is, so that no text can become an element, an attribute or a script.
//
// It knows nothing about runs; package pages does. Start reading at E.
package markup

import (
	"bufio"
	"io"
)

// Node is a part of a page: an attribute, a text, an element, or several nodes. Only the functions of this package make
// one. They are not inlined: a page has hundreds of calls of them.
type Node struct {
	kind  nodeKind
	tag   Tag
	name  string // of an attribute
	text  string // or value
	items []*Node
	make  func(emit func(*Node))
}

type nodeKind uint8

const (
	groupNode nodeKind = iota
	textNode
	elementNode
	attrNode
	bareNode // an attribute without a value
	lazyNode
	rawNode // written as it is; of this package only
)

// Group is several nodes.
type Group []*Node

// Node returns the group as one node.
func (g Group) Node() *Node { return &Node{items: g} }

// Lazy returns content that is made when it is written, so that a long document need not be kept in memory.
func Lazy(make func(emit func(*Node))) *Node { return &Node{kind: lazyNode, make: make} }

// Text returns text of any origin. Characters that HTML reads are escaped, and characters that cannot be seen are
// shown.
//
//go:noinline
func Text(text string) *Node { return &Node{kind: textNode, text: text} }

// Nothing returns a node that writes nothing.
//
//go:noinline
func Nothing() *Node { return &Node{} }

// E returns an element. Items are its attributes and its content.
//
//go:noinline
func E(tag Tag, items ...*Node) *Node { return &Node{kind: elementNode, tag: tag, items: items} }

// Render writes nodes to out while they are made.
func Render(out io.Writer, nodes ...*Node) error {
	w := &writer{out: bufio.NewWriterSize(out, bufferBytes)}
	for _, n := range nodes {
		w.node(n)
	}
	return w.out.Flush()
}

// bufferBytes is the size of a write.
const bufferBytes = 64 << 10

// writer writes nodes.
type writer struct {
	out *bufio.Writer
	// plain is set in an element that has no other elements.
	plain bool
}

// raw writes text of this package.
//
//go:noinline
func (w *writer) raw(text string) { _, _ = w.out.WriteString(text) } // Flush returns the error

// node writes content; an attribute is none.
func (w *writer) node(n *Node) {
	switch n.kind {
	case groupNode:
		for _, item := range n.items {
			w.node(item)
		}
	case textNode:
		w.content(n.text)
	case elementNode:
		w.element(n)
	case lazyNode:
		n.make(w.node)
	case rawNode:
		w.raw(n.text)
	}
}

// element writes an element with its attributes and its content. An element in one that has only text is left out: it
// would be text there, or end it.
func (w *writer) element(n *Node) {
	if w.plain {
		return
	}
	name := n.tag.String()
	w.raw("<" + name)
	for _, a := range n.items {
		if a.kind == attrNode || a.kind == bareNode {
			w.attr(a)
		}
	}
	w.raw(">")
	if n.tag.isVoid() {
		return
	}
	w.plain = n.tag.isPlain()
	for _, item := range n.items {
		w.node(item)
	}
	w.plain = false
	w.raw("</" + name + ">")
	if n.tag.isBlock() {
		w.raw("\n")
	}
}

// attr writes an attribute.
func (w *writer) attr(a *Node) {
	w.raw(" " + a.name)
	if a.kind == attrNode {
		w.raw(`="`)
		w.value(a.text)
		w.raw(`"`)
	}
}
