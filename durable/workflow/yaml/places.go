package yaml

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/waybill/waybill/durable/canon"
)

// Place is a place in a text, both from 1. Columns count characters.
type Place struct{ Line, Column int }

// Wanted is a set of JSON pointers whose places are looked for, with the pointers that lead to them.
type Wanted map[string]bool

// Add adds a pointer and those that lead to it.
func (w Wanted) Add(pointer string) {
	for i := len(pointer); i >= 0; i-- {
		if i == len(pointer) || pointer[i] == '/' {
			w[pointer[:i]] = true
		}
	}
}

// Places records the places of wanted members (of their keys) and items of a YAML text that Parse
// accepts; for another text it records nothing.
func Places(data []byte, wanted Wanted, at map[string]Place) {
	if root, err := document(strings.TrimPrefix(string(data), "\ufeff")); err == nil {
		places(root, "", wanted, at)
	}
}

// places is Places for the values in a node.
func places(n *yaml.Node, pointer string, wanted Wanted, at map[string]Place) {
	visit := func(key, value *yaml.Node, token string) {
		if inner := pointer + "/" + token; wanted[inner] {
			at[inner] = Place{key.Line, key.Column}
			places(value, inner, wanted, at)
		}
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			visit(n.Content[i], n.Content[i+1], canon.EscapePointer(n.Content[i].Value))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			visit(item, item, strconv.Itoa(i))
		}
	}
}
