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

// ParseError says what in a JSON text was refused, and where.
type ParseError struct {
	Pointer string // RFC 6901 pointer of the value, "" for the whole document
	Line    int    // 1-based, 0 where there is no text
	Reason  string // one clause, without position
}

// Error is the reason with its place.
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

// Parse reads one JSON document strictly (R5): duplicate keys, keys that differ
// only in case, invalid UTF-8, depth over limits.JSONDepthMax and numbers that
// are not exactly a double are refused with a *ParseError.
func Parse(data []byte) (Value, error) {
	p := parsers.Get().(*parser)
	p.text, p.line = string(data), 1
	v, err := p.document()
	p.reset()
	parsers.Put(p)
	return v, err
}

// parsers are kept for their stacks: a log is parsed line by line, and growing
// them each time would cost more than reading the line.
var parsers = sync.Pool{New: func() any { return &parser{} }}

// reset forgets the text and what still points into it.
func (p *parser) reset() {
	if cap(p.items) > stackMax || cap(p.names) > stackMax {
		*p = parser{}
		return
	}
	clear(p.names[:cap(p.names)])
	clear(p.items[:cap(p.items)])
	*p = parser{path: p.path[:0], names: p.names[:0], items: p.items[:0], scratch: p.scratch[:0]}
}

// stackMax is up to what size stacks are kept: records fit, a huge list must not
// stay, and clearing them has to be cheap.
const stackMax = 128

type parser struct {
	text string
	pos  int
	line int
	path trail // of the value being read

	// Members and items of what is still open: each gets a list of its own size
	// when it is closed.
	names []string
	items []Value

	loose   bool // something read so far is not in its one spelling
	scratch []byte
}

func (p *parser) fail(format string, args ...any) error {
	return &ParseError{Pointer: p.path.pointer(), Line: p.line, Reason: fmt.Sprintf(format, args...)}
}

// trail is the way from the document to a value. It becomes text only when
// something is wrong there: spelling out every index would cost more than reading.
type trail []turn

// turn is one step of a trail: a member's name, or an item's index.
type turn struct {
	name string
	item int
}

const noItem = -1

func (t trail) pointer() string {
	var b strings.Builder
	for _, turn := range t {
		b.WriteByte('/')
		if turn.item == noItem {
			b.WriteString(EscapePointer(turn.name))
		} else {
			b.WriteString(strconv.Itoa(turn.item))
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

func (p *parser) document() (Value, error) {
	if !utf8.ValidString(p.text) {
		p.line += strings.Count(p.text[:firstInvalid(p.text)], "\n")
		return Value{}, p.fail("text is not valid UTF-8")
	}
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.pos < len(p.text) {
		return Value{}, p.fail("unexpected %s after the document", p.here())
	}
	return v, nil
}

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

// here names what stands at the position, for messages.
func (p *parser) here() string {
	if p.pos >= len(p.text) {
		return "end of text"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return fmt.Sprintf("%q", r)
}

func (p *parser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case '\n':
			p.line++
		case ' ', '\t', '\r':
		default:
			return
		}
		p.loose = true
		p.pos++
	}
}

// value reads a value that depth arrays and objects enclose.
func (p *parser) value(depth int) (Value, error) {
	p.space()
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
	for _, word := range words {
		if strings.HasPrefix(p.text[p.pos:], word.text) {
			p.pos += len(word.text)
			return word.v.AtLine(int(line)), nil
		}
	}
	return Value{}, p.fail("unexpected %s where a value should stand", p.here())
}

// words are the literals of JSON.
var words = [...]struct {
	text string
	v    Value
}{{"true", OfBool(true)}, {"false", OfBool(false)}, {"null", Value{}}}

func (p *parser) array(depth int, line int32) (Value, error) {
	v := Value{kind: Array, line: line}
	p.pos++
	p.space()
	if p.take(']') {
		return v, nil
	}
	from := len(p.items)
	for {
		p.path = append(p.path, turn{item: len(p.items) - from})
		item, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		p.path = p.path[:len(p.path)-1]
		p.items = append(p.items, item)
		p.space()
		if p.take(']') {
			v.list = slices.Clone(p.items[from:])
			p.items = p.items[:from]
			return v, nil
		}
		if !p.take(',') {
			return Value{}, p.fail("unexpected %s in an array: want , or ]", p.here())
		}
	}
}

func (p *parser) object(depth int, line int32) (Value, error) {
	v := Value{kind: Object, line: line}
	p.pos++
	p.space()
	if p.take('}') {
		return v, nil
	}
	from, named, sorted := len(p.items), len(p.names), true
	for {
		p.space()
		if p.pos >= len(p.text) || p.text[p.pos] != '"' {
			return Value{}, p.fail("unexpected %s: want a key in double quotes", p.here())
		}
		name, err := p.string()
		if err != nil {
			return Value{}, err
		}
		p.path = append(p.path, turn{name, noItem})
		p.space()
		if !p.take(':') {
			return Value{}, p.fail("unexpected %s after a key: want a colon", p.here())
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		p.path = p.path[:len(p.path)-1]
		sorted = sorted && (len(p.names) == named || CompareKeys(p.names[len(p.names)-1], name) < 0)
		p.names, p.items = append(p.names, name), append(p.items, item)
		p.space()
		if p.take('}') {
			v.keys, v.list = slices.Clone(p.names[named:]), slices.Clone(p.items[from:])
			p.names, p.items = p.names[:named], p.items[:from]
			return p.seal(v, sorted)
		}
		if !p.take(',') {
			return Value{}, p.fail("unexpected %s in an object: want , or }", p.here())
		}
	}
}

// seal puts the members in JCS order and refuses keys that two readers could
// confuse: equal ones, and ones that differ only in case.
func (p *parser) seal(v Value, sorted bool) (Value, error) {
	if !sorted {
		p.loose = true
		order := make([]int, len(v.keys))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return CompareKeys(v.keys[a], v.keys[b]) })
		keys, list := make([]string, len(order)), make([]Value, len(order))
		for to, from := range order {
			keys[to], list[to] = v.keys[from], v.list[from]
			if to > 0 && keys[to] == keys[to-1] {
				p.line = int(list[to].line)
				return Value{}, p.fail("duplicate key %q", keys[to])
			}
		}
		v.keys, v.list = keys, list
	}
	if i, j, ok := twins(v.keys); ok {
		p.line = int(max(v.list[i].line, v.list[j].line))
		return Value{}, p.fail("keys %q and %q differ only in case", v.keys[i], v.keys[j])
	}
	return v, nil
}

// twins finds two keys that differ only in case, as strings.EqualFold has it.
func twins(keys []string) (i, j int, found bool) {
	if !slices.ContainsFunc(keys, hasUpper) {
		return 0, 0, false // all one case: distinct keys cannot be twins
	}
	if len(keys) <= fewKeys {
		return fewTwins(keys)
	}
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

// fewKeys is up to how many keys each is compared with each: a record's dozen is
// done before a map would be made.
const fewKeys = 16

func fewTwins(keys []string) (i, j int, found bool) {
	for j := range keys {
		for i := range keys[:j] {
			if sameLetter(keys[i], keys[j]) && strings.EqualFold(keys[i], keys[j]) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// sameLetter rules nearly every pair out by its first letters; beyond ASCII it
// rules out none.
func sameLetter(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	return (a[0]^b[0])&^('a'-'A') == 0 || a[0] >= utf8.RuneSelf || b[0] >= utf8.RuneSelf
}

// fold is the one letter that stands for r in any case: the least of its orbit.
func fold(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return least
}

// hasUpper reports letters that may have a twin in lower case.
func hasUpper(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

func (p *parser) take(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}
