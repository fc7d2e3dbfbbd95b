package canon

import (
	"strconv"
	"strings"
)

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// EscapePointer escapes one token of an RFC 6901 JSON pointer.
func EscapePointer(token string) string { return pointerEscapes.Replace(token) }

// unescapePointer is the escaping of a token of a JSON pointer, undone.
var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

// PointerTokens are the tokens of an RFC 6901 JSON pointer, unescaped. The pointer is of the grammar.
func PointerTokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	all := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, t := range all {
		all[i] = unescapePointer.Replace(t)
	}
	return all
}

// At returns the value at an RFC 6901 JSON pointer in v, null where there is none.
func (v Value) At(pointer string) Value {
	for _, token := range PointerTokens(pointer) {
		switch index, err := strconv.Atoi(token); {
		case v.Kind() == Object:
			v, _ = v.Get(token)
		case v.Kind() == Array && err == nil && strconv.Itoa(index) == token && index < v.Len() && index >= 0:
			v = v.Item(index)
		default:
			return Value{}
		}
	}
	return v
}
