package canon

import (
	"bytes"
	"cmp"
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
	Column  int    // of the text, in characters from 1; 0 where it is not known
}

// Error returns the reason with pointer and line.
func (e *ParseError) Error() string {
	at := cmp.Or(e.Pointer, "the document")
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
	defer p.release()
	p.text = string(data)
	p.document()
	if p.err != nil {
		return Value{}, p.err
	}
	return p.items[0], nil
}

// ParseMember returns the value of one member of the object that data holds, null where it has
// none; of an array or object only the kind. The text is parsed as strictly as by Parse, except that keys of other members may be
// equal; memory is taken for the member alone, independent of the size of data.
func ParseMember(data []byte, name string) (Value, error) {
	v, err := parseSome(data, func(depth int, of string) bool { return depth > 0 || of != name })
	if err != nil {
		return v, err
	}
	m, _ := v.Get(name)
	return m, nil
}

// ParseFirst is Parse for a text with too many values: it keeps about the first most of them.
// Further members of the outermost object are passed to more; all others are checked and
// dropped. Equal keys are found only among the members that are kept.
func ParseFirst(data []byte, most int, more func(name string)) (Value, error) {
	kept := 0
	return parseSome(data, func(depth int, name string) bool {
		if kept++; kept <= most {
			return false
		}
		if depth == 0 && name != "" {
			more(name)
		}
		return true
	})
}

// parseSome is Parse without the members and items that leave reports.
func parseSome(data []byte, leave func(depth int, name string) bool) (Value, error) {
	p := parsers.Get().(*parser)
	defer p.release()
	p.text, p.leave = string(data), leave
	p.document()
	if p.err != nil {
		return Value{}, p.err
	}
	return p.items[0], nil
}

// parsers pools parsers for their stacks: a log is parsed line by line, and growing new stacks
// would cost more than parsing the line.
var parsers = sync.Pool{New: func() any { return &parser{line: 1} }}

// release returns p to the pool. It drops the text and every reference into it, which would
// otherwise keep whole documents alive.
func (p *parser) release() {
	if cap(p.items) > stackCapMax || cap(p.names) > stackCapMax {
		return
	}
	clear(p.names[:cap(p.names)])
	clear(p.items[:cap(p.items)])
	*p = parser{line: 1, path: p.path[:0], names: p.names[:0], items: p.items[:0]}
	parsers.Put(p)
}

// stackCapMax is the largest capacity of stacks that stay in the pool. Records fit; a huge list
// must not stay in memory, and clearing the stacks must stay cheap.
const stackCapMax = 128

// parser is the one reader of JSON text: a recursive descent over one text. Parse runs it with
// reasons for people; Exact and Checker run it in the mode exact, which gives up without one.
type parser struct {
	text string
	pos  int
	line int
	path valuePath // of the value being read
	err  error     // the first error; nothing is read after it

	// Stacks of the names and values of the arrays and objects that are still open. A
	// closed one gets a list of exactly its size. A value that was read is on top of items.
	names []string
	items []Value

	// leave reports a member or an item (name "") that is checked and not kept: in an object of
	// this depth, or an array. nil keeps all.
	leave func(depth int, name string) bool

	exact bool // refuse everything that the encoder would write in another way
	ended bool // an exact parser gave up because the text ended: more of it could be accepted

	// With a Checker the text is only examined: no values are built.
	checker  *Checker
	watch    *Watch // the members to locate in the value being read
	anyOrder bool   // members need not be in JCS order, nor differ in more than case
}

// fail stores a *ParseError at the current path and line, unless there is an error already.
func (p *parser) fail(format string, args ...any) {
	switch {
	case p.err != nil:
	case p.exact:
		p.err, p.ended = ErrNotCanonical, p.ended || p.pos >= len(p.text)
	default:
		err := &ParseError{Pointer: p.path.pointer(), Line: p.line, Reason: fmt.Sprintf(format, args...)}
		// The line of an earlier part of the text has no column.
		if before := p.text[:p.pos]; strings.Count(before, "\n") == p.line-1 {
			err.Column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
		}
		p.err = err
	}
}

// respelled refuses, if the parser is exact, what was just read and is not canonical.
func (p *parser) respelled() {
	if p.exact && p.err == nil {
		p.err = ErrNotCanonical
	}
}

// push puts a value that was read on the stack.
func (p *parser) push(v Value) {
	if p.checker == nil {
		p.items = append(p.items, v)
	}
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

// document parses one value and checks that only whitespace follows.
func (p *parser) document() {
	if !utf8.ValidString(p.text) {
		p.line += strings.Count(p.text[:firstInvalid(p.text)], "\n")
		p.fail("text is not valid UTF-8")
	}
	p.value(0)
	p.skipSpace()
	if p.pos < len(p.text) {
		p.fail("unexpected %s after the document", p.currentChar())
	}
}

// firstInvalid returns the offset of the first byte that is not valid UTF-8.
func firstInvalid(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return i
		}
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
		p.respelled()
		p.pos++
	}
}

// accept consumes the byte c if it is next.
func (p *parser) accept(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// value parses one value and pushes it. depth is the number of arrays and objects that enclose it.
func (p *parser) value(depth int) {
	p.skipSpace()
	if p.pos >= len(p.text) {
		p.fail("unexpected end of text")
	}
	if p.err != nil {
		return
	}
	line := int32(p.line)
	switch c := p.text[p.pos]; {
	case (c == '{' || c == '[') && depth == limits.JSONDepthMax:
		p.fail("nested deeper than %d levels", limits.JSONDepthMax)
	case c == '{':
		p.object(depth, line)
	case c == '[':
		p.array(depth, line)
	case c == '"':
		p.push(Value{kind: String, line: line, str: p.string()})
	case c == '-' || c >= '0' && c <= '9':
		p.push(Value{kind: Number, line: line, num: p.number()})
	default:
		p.literal()
	}
}

// literals are the three literals of JSON.
var literals = [...]struct {
	text string
	v    Value
}{{"true", OfBool(true)}, {"false", OfBool(false)}, {"null", Value{}}}

// literal parses a literal. Literals are matched as prefixes; text that continues one, such as
// "truex", is refused by what must follow a value.
func (p *parser) literal() {
	rest := p.text[p.pos:]
	for _, lit := range literals {
		if strings.HasPrefix(rest, lit.text) {
			p.pos += len(lit.text)
			p.push(lit.v.AtLine(p.line))
			return
		}
		p.ended = p.ended || strings.HasPrefix(lit.text, rest)
	}
	p.fail("unexpected %s where a value should stand", p.currentChar())
}

// another reports whether a comma, and so another item, follows in an array or object, and
// consumes it or the closing bracket.
func (p *parser) another(shut byte, where string) bool {
	p.skipSpace()
	if p.accept(shut) {
		return false
	}
	if !p.accept(',') {
		p.fail("unexpected %s in an %s: want , or %c", p.currentChar(), where, shut)
	}
	return p.err == nil
}

// array parses an array whose bracket is at the position. Its items are on the stack while it is
// open; inner arrays and objects push theirs above and remove them again.
func (p *parser) array(depth int, line int32) {
	from := len(p.items)
	p.watch = nil
	p.pos++
	p.skipSpace()
	i := 0
	for more := !p.accept(']'); more; more = p.another(']', "array") {
		p.path = append(p.path, pathStep{item: i})
		p.value(depth + 1)
		p.path = p.path[:len(p.path)-1]
		if p.leave != nil && p.err == nil && p.leave(depth, "") {
			p.items = p.items[:len(p.items)-1]
		}
		i++
	}
	list := append([]Value(nil), p.items[from:]...)
	p.items = p.items[:from]
	p.push(Value{kind: Array, line: line, list: list})
}

// object parses an object whose brace is at the position. It notes whether the members are in
// JCS order already, which spares sorting them for documents that Waybill wrote.
func (p *parser) object(depth int, line int32) {
	from, named, sorted, watch := len(p.items), len(p.names), true, p.watch
	p.pos++
	p.skipSpace()
	for more := !p.accept('}'); more; more = p.another('}', "object") {
		name := p.key()
		sorted = sorted && (len(p.names) == named || CompareKeys(p.names[len(p.names)-1], name) < 0)
		p.names = append(p.names, name)
		member, start := watch.find(name), p.pos
		p.watch = member
		p.value(depth + 1)
		p.path = p.path[:len(p.path)-1]
		if member != nil {
			p.checker.spans[member.Slot] = span{start, p.pos}
		}
		if p.leave != nil && p.err == nil && p.leave(depth, name) {
			p.items, p.names = p.items[:len(p.items)-1], p.names[:len(p.names)-1]
		}
	}
	if !sorted && !p.anyOrder {
		p.respelled()
	}
	if p.err != nil {
		return
	}
	keys, list := p.names[named:], p.items[from:]
	p.names, p.items = p.names[:named], p.items[:from]
	if p.checker == nil {
		p.items = append(p.items, p.newObject(line, keys, list, sorted))
		return
	}
	p.checker.Members = len(keys) // the outermost object is closed last
	if _, _, found := caseCollision(keys); found && !p.anyOrder {
		p.respelled()
	}
}

// key parses a key and its colon, and puts the key on the path.
func (p *parser) key() string {
	p.skipSpace()
	name := ""
	if p.pos < len(p.text) && p.text[p.pos] == '"' {
		start := p.pos
		name = p.string()
		// A checker leaves the escapes of strings; those of names decide their order.
		if p.checker != nil && strings.IndexByte(name, '\\') >= 0 {
			p.pos = start
			name = p.escaped()
		}
	} else {
		p.fail("unexpected %s: want a key in double quotes", p.currentChar())
	}
	p.path = append(p.path, pathStep{name, noItem})
	p.skipSpace()
	if !p.accept(':') {
		p.fail("unexpected %s after a key: want a colon", p.currentChar())
	}
	return name
}

// newObject returns an object of the members that were read, in JCS order. It refuses equal keys,
// of which parsers use the first or the last, and keys that differ only in case, which parsers
// that match fields without case would confuse.
func (p *parser) newObject(line int32, keys []string, list []Value, sorted bool) Value {
	v := Value{kind: Object, line: line}
	v.keys, v.list = append(v.keys, keys...), append(v.list, list...)
	if !sorted {
		order := make([]int, len(keys))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return CompareKeys(keys[a], keys[b]) })
		for to, from := range order {
			v.keys[to], v.list[to] = keys[from], list[from]
			v.list[to].rank = uint16(min(from, rankMax))
			// The sort is stable: of two equal keys, the later one of the text is reported.
			if to > 0 && v.keys[to] == v.keys[to-1] {
				p.line = int(v.list[to].line)
				p.fail("duplicate key %q", v.keys[to])
			}
		}
	}
	if i, j, ok := caseCollision(v.keys); ok && p.err == nil {
		p.line = int(max(v.list[i].line, v.list[j].line))
		p.fail("keys %q and %q differ only in case", v.keys[i], v.keys[j])
	}
	return v
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

// WithoutBOM returns a text of a file without the byte order mark that some editors put before UTF-8. Files that
// people write are read with it; stored and signed bytes never have one.
func WithoutBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }
