package compile

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// schemaNode is one node of the published schema.
type schemaNode = map[string]any

// drawer draws documents from the published schema, anything that the schema allows. meant
// replaces the definitions for which the schema allows documents without a meaning, such as
// names that do not resolve.
type drawer struct {
	t     *rapid.T
	defs  schemaNode
	meant map[string]func(d *drawer, s schemaNode) any

	ids       int
	depth     int
	functions []string // names that every step sees
	slots     []string // extension points
	levels    map[string][]string
	bodies    []schemaNode // loops whose body is still to be named
}

// of draws a value of a node.
func (d *drawer) of(s schemaNode) any {
	if ref, ok := s["$ref"].(string); ok {
		return d.named(strings.TrimPrefix(ref, "#/$defs/"))
	}
	if c, ok := s["const"]; ok {
		return c
	}
	if enum, ok := s["enum"].([]any); ok {
		return rapid.SampledFrom(enum).Draw(d.t, "enum")
	}
	if options, ok := s["oneOf"].([]any); ok {
		return d.of(rapid.SampledFrom(options).Draw(d.t, "oneOf").(schemaNode))
	}
	switch s["type"] {
	case "object":
		return d.object(s)
	case "array":
		return d.list(s)
	case "string":
		return d.text(s)
	case "number", "integer":
		least, most := int(bound(s, "minimum", 0)), int(bound(s, "maximum", 9))
		return rapid.IntRange(least, max(least, most)).Draw(d.t, "number")
	case "boolean":
		return rapid.Bool().Draw(d.t, "boolean")
	}
	return rapid.SampledFrom([]any{nil, true, "v", 3, []any{"a", 1}, schemaNode{"k": "v"}}).Draw(d.t, "anything")
}

// named draws a definition, by the entry in meant if it has one.
func (d *drawer) named(name string) any {
	s := d.defs[name].(schemaNode)
	if draw, ok := d.meant[name]; ok {
		return draw(d, s)
	}
	return d.of(s)
}

// object draws the required members and some of the others.
func (d *drawer) object(s schemaNode) schemaNode {
	out := schemaNode{}
	properties, _ := s["properties"].(schemaNode)
	required, _ := s["required"].([]any)
	for _, name := range sortedKeys(properties) {
		if slices.Contains(required, any(name)) || rapid.IntRange(0, 3).Draw(d.t, name) == 0 {
			out[name] = d.of(properties[name].(schemaNode))
		}
	}
	if more, ok := s["additionalProperties"]; ok && more != false {
		item, _ := more.(schemaNode)
		for _, name := range []string{"someKey", "other_key"}[:rapid.IntRange(0, 2).Draw(d.t, "more")] {
			out[name] = d.of(item)
		}
	}
	return out
}

// list draws few items, different ones where the schema wants that.
func (d *drawer) list(s schemaNode) []any {
	least := int(bound(s, "minItems", 0))
	n := rapid.IntRange(least, min(least+2, int(bound(s, "maxItems", 9)))).Draw(d.t, "items")
	items, _ := s["items"].(schemaNode)
	out := []any{}
	for tries := 0; len(out) < n && tries < 50; tries++ {
		item := d.of(items)
		if s["uniqueItems"] == true &&
			slices.ContainsFunc(out, func(x any) bool { return spelled(x) == spelled(item) }) {
			continue
		}
		out = append(out, item)
	}
	return out
}

// phrases are texts that are frequent in prompts and must not be changed.
var phrases = []string{"Look at it.", "Write {{path}} and {{review.open}} down.",
	`Send {"kind": "x", "items": [{"a": 1}]}.`,
	"– “quoted” – ✓", "## A title\n\n- one\n- two\n", "50% of {braces} $HOME <tag> & `code`", "0", "name"}

// text draws a string within its bounds.
func (d *drawer) text(s schemaNode) string {
	least, most := int(bound(s, "minLength", 0)), int(bound(s, "maxLength", 9000))
	if pattern, ok := s["pattern"].(string); ok {
		return rapid.StringMatching(pattern).Filter(func(s string) bool {
			n := utf8.RuneCountInString(s)
			return n >= least && n <= most
		}).Draw(d.t, "pattern")
	}
	out := rapid.SampledFrom(phrases).Draw(d.t, "text")
	if rapid.IntRange(0, 19).Draw(d.t, "longest") == 0 && most < 9000 {
		out = strings.Repeat("ü", most)
	}
	for utf8.RuneCountInString(out) < least {
		out += " more"
	}
	if r := []rune(out); len(r) > most {
		out = string(r[:most])
	}
	return out
}

// bound returns a number of a node, or without if it is absent.
func bound(s schemaNode, key string, without float64) float64 {
	if f, ok := s[key].(float64); ok {
		return f
	}
	return without
}

func sortedKeys(s schemaNode) []string {
	var out []string
	for name := range s {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func spelled(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
