package canon

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/limits"
)

// ParseError describes what in a JSON text was refused, and where. Its Reason can end up in a
// stored blocker, so existing reasons are not reworded.
type ParseError struct {
	Pointer string // RFC 6901 pointer of the value, "" for the whole document
	Line    int    // 1-based, 0 where there is no text
	Reason  string // one clause, without position
}

// Error returns the reason with pointer and line.
func (e *ParseError) Error() string {
	at := e.Pointer
	if at == "" {
		at = "the document"
	}
	if e.Line == 0 {
		return fmt.Sprintf("%s at %s", e.Reason, at)
	}
	return fmt.Sprintf("%s at %s, line %d", e.Reason, at, e.Line)
}

// Parse parses one JSON document strictly (docs/design.md#json-from-outside). Duplicate keys,
// keys that differ only in case, invalid UTF-8, nesting deeper than limits.JSONDepthMax, text
// behind the document and numbers that are not exactly a double are a *ParseError. Any
// whitespace, member order and escaping is accepted. The caller bounds the size of data.
func Parse(data []byte) (Value, error) {
	p := parsers.Get().(*parser)
	p.text, p.line = string(data), 1
	v, err := p.document()
	p.reset()
	parsers.Put(p)
	return v, err
}

// parsers pools parsers for their stacks: a log is parsed line by line, and growing new stacks
// would cost more than parsing the line.
var parsers = sync.Pool{New: func() any { return &parser{} }}

// reset prepares p for the pool: it drops the text and every reference into it, which would
// otherwise keep whole documents alive.
func (p *parser) reset() {
	if cap(p.items) > stackCapMax || cap(p.names) > stackCapMax {
		*p = parser{}
		return
	}
	clear(p.names[:cap(p.names)])
	clear(p.items[:cap(p.items)])
	*p = parser{path: p.path[:0], names: p.names[:0], items: p.items[:0], scratch: p.scratch[:0]}
}

// stackCapMax is the largest capacity of stacks that stay in the pool. Records fit; a huge list
// must not stay in memory, and clearing the stacks must stay cheap.
const stackCapMax = 128

// parser is a recursive descent parser over one text.
type parser struct {
	text string
	pos  int
	line int
	path valuePath // of the value being read

	// Stacks of the names and values of the arrays and objects that are still open. A
	// closed one gets a list of exactly its size.
	names []string
	items []Value

	nonCanonical bool   // something read so far differs from its canonical spelling
	scratch      []byte // reused to encode what is compared with the text
}

// fail returns a *ParseError at the current path and line.
func (p *parser) fail(format string, args ...any) error {
	return &ParseError{Pointer: p.path.pointer(), Line: p.line, Reason: fmt.Sprintf(format, args...)}
}

// valuePath is the path from the document to a value. It is formatted only for an error: doing so
// for every value would cost more than parsing.
type valuePath []pathStep

// pathStep is one step of a valuePath: a member's name, or an item's index; item is noItem for a
// member.
type pathStep struct {
	name string
	item int
}

const noItem = -1

// pointer formats the path as an RFC 6901 pointer; "" is the document.
func (p valuePath) pointer() string {
	var b strings.Builder
	for _, step := range p {
		b.WriteByte('/')
		if step.item == noItem {
			b.WriteString(EscapePointer(step.name))
		} else {
			b.WriteString(strconv.Itoa(step.item))
		}
	}
	return b.String()
}

// EscapePointer escapes one token of an RFC 6901 JSON pointer.
func EscapePointer(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// document parses one value and checks that only whitespace follows.
func (p *parser) document() (Value, error) {
	if !utf8.ValidString(p.text) {
		p.line += strings.Count(p.text[:firstInvalid(p.text)], "\n")
		return Value{}, p.fail("text is not valid UTF-8")
	}
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.skipSpace()
	if p.pos < len(p.text) {
		return Value{}, p.fail("unexpected %s after the document", p.currentChar())
	}
	return v, nil
}

// firstInvalid returns the offset of the first byte that is not valid UTF-8.
func firstInvalid(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(s)
}

// currentChar quotes the character at the position, for messages.
func (p *parser) currentChar() string {
	if p.pos >= len(p.text) {
		return "end of text"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return fmt.Sprintf("%q", r)
}

// skipSpace skips whitespace and counts lines. Canonical JSON has no whitespace between tokens.
func (p *parser) skipSpace() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case '\n':
			p.line++
		case ' ', '\t', '\r':
		default:
			return
		}
		p.nonCanonical = true
		p.pos++
	}
}

// value parses one value. depth is the number of arrays and objects that enclose it.
func (p *parser) value(depth int) (Value, error) {
	p.skipSpace()
	if p.pos >= len(p.text) {
		return Value{}, p.fail("unexpected end of text")
	}
	line := int32(p.line)
	switch c := p.text[p.pos]; {
	case (c == '{' || c == '[') && depth == limits.JSONDepthMax:
		return Value{}, p.fail("nested deeper than %d levels", limits.JSONDepthMax)
	case c == '{':
		return p.object(depth, line)
	case c == '[':
		return p.array(depth, line)
	case c == '"':
		s, err := p.string()
		return Value{kind: String, line: line, str: s}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number(line)
	}
	// Literals are matched as prefixes; text that continues one, such as "truex", is refused by
	// what must follow a value.
	for _, lit := range literals {
		if strings.HasPrefix(p.text[p.pos:], lit.text) {
			p.pos += len(lit.text)
			return lit.v.AtLine(int(line)), nil
		}
	}
	return Value{}, p.fail("unexpected %s where a value should stand", p.currentChar())
}

// literals are the three literals of JSON.
var literals = [...]struct {
	text string
	v    Value
}{{"true", OfBool(true)}, {"false", OfBool(false)}, {"null", Value{}}}

// array parses an array whose bracket is at the position.
func (p *parser) array(depth int, line int32) (Value, error) {
	v := Value{kind: Array, line: line}
	p.pos++
	p.skipSpace()
	if p.accept(']') {
		return v, nil
	}
	// The items of this array are on the stack from here on; inner arrays and objects push
	// theirs above and remove them again.
	from := len(p.items)
	for {
		p.path = append(p.path, pathStep{item: len(p.items) - from})
		item, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		p.path = p.path[:len(p.path)-1]
		p.items = append(p.items, item)
		p.skipSpace()
		if p.accept(']') {
			v.list = slices.Clone(p.items[from:])
			p.items = p.items[:from]
			return v, nil
		}
		if !p.accept(',') {
			return Value{}, p.fail("unexpected %s in an array: want , or ]", p.currentChar())
		}
	}
}

// object parses an object whose brace is at the position. It notes whether the members are in
// JCS order already, which spares sorting them for documents that Waybill wrote.
func (p *parser) object(depth int, line int32) (Value, error) {
	v := Value{kind: Object, line: line}
	p.pos++
	p.skipSpace()
	if p.accept('}') {
		return v, nil
	}
	from, named, sorted := len(p.items), len(p.names), true
	for {
		p.skipSpace()
		if p.pos >= len(p.text) || p.text[p.pos] != '"' {
			return Value{}, p.fail("unexpected %s: want a key in double quotes", p.currentChar())
		}
		name, err := p.string()
		if err != nil {
			return Value{}, err
		}
		p.path = append(p.path, pathStep{name, noItem})
		p.skipSpace()
		if !p.accept(':') {
			return Value{}, p.fail("unexpected %s after a key: want a colon", p.currentChar())
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		p.path = p.path[:len(p.path)-1]
		sorted = sorted && (len(p.names) == named || CompareKeys(p.names[len(p.names)-1], name) < 0)
		p.names, p.items = append(p.names, name), append(p.items, item)
		p.skipSpace()
		if p.accept('}') {
			v.keys, v.list = slices.Clone(p.names[named:]), slices.Clone(p.items[from:])
			p.names, p.items = p.names[:named], p.items[:from]
			return p.closeObject(v, sorted)
		}
		if !p.accept(',') {
			return Value{}, p.fail("unexpected %s in an object: want , or }", p.currentChar())
		}
	}
}

// closeObject sorts the members of a parsed object into JCS order. It refuses equal keys, of which
// parsers use the first or the last, and keys that differ only in case, which parsers that
// match fields without case would confuse.
func (p *parser) closeObject(v Value, sorted bool) (Value, error) {
	if !sorted {
		p.nonCanonical = true
		order := make([]int, len(v.keys))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return CompareKeys(v.keys[a], v.keys[b]) })
		keys, list := make([]string, len(order)), make([]Value, len(order))
		for to, from := range order {
			keys[to], list[to] = v.keys[from], v.list[from]
			// The sort is stable: of two equal keys, the later one of the text is reported.
			if to > 0 && keys[to] == keys[to-1] {
				p.line = int(list[to].line)
				return Value{}, p.fail("duplicate key %q", keys[to])
			}
		}
		v.keys, v.list = keys, list
	}
	if i, j, ok := caseCollision(v.keys); ok {
		p.line = int(max(v.list[i].line, v.list[j].line))
		return Value{}, p.fail("keys %q and %q differ only in case", v.keys[i], v.keys[j])
	}
	return v, nil
}

// caseCollision finds two keys that are equal under strings.EqualFold. It returns their indices
// in keys.
func caseCollision(keys []string) (i, j int, found bool) {
	if !slices.ContainsFunc(keys, hasUpper) {
		return 0, 0, false // all lower case: distinct keys differ in more than case
	}
	if len(keys) <= pairwiseKeysMax {
		return caseCollisionPairwise(keys)
	}
	// Many keys: one pass with a map of the case-folded keys.
	seen := make(map[string]int, len(keys))
	for j, k := range keys {
		folded := strings.Map(fold, k)
		if i, ok := seen[folded]; ok {
			return i, j, true
		}
		seen[folded] = j
	}
	return 0, 0, false
}

// pairwiseKeysMax is the number of keys up to which all pairs are compared. For the dozen keys of a
// record that is faster than building a map.
const pairwiseKeysMax = 16

// caseCollisionPairwise is caseCollision by comparing all pairs.
func caseCollisionPairwise(keys []string) (i, j int, found bool) {
	for j := range keys {
		for i := range keys[:j] {
			if maybeSameFirstLetter(keys[i], keys[j]) && strings.EqualFold(keys[i], keys[j]) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// maybeSameFirstLetter is a cheap test that excludes nearly every pair by its first letters. It
// excludes no pair with a first letter beyond ASCII, whose case folding is not one bit.
func maybeSameFirstLetter(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	// 'a'-'A' is the bit in which the two cases of an ASCII letter differ.
	return (a[0]^b[0])&^('a'-'A') == 0 || a[0] >= utf8.RuneSelf || b[0] >= utf8.RuneSelf
}

// fold maps r to the least rune of its case folding orbit, so that all cases of a letter give
// one rune.
func fold(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return least
}

// hasUpper reports a letter that may have a lower case form: A to Z, and all beyond ASCII.
func hasUpper(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// accept consumes the byte c if it is next.
func (p *parser) accept(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}
