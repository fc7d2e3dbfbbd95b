package yaml

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/pattern"
)

// Member is one member of an Object.
type Member struct {
	Key   string
	Value any
}

// Object is an object whose members are written in this order.
type Object []Member

// Add returns the object with a further member, unless the value is an empty text, list or object, null
// or false: such members say nothing in the files that are written.
//
//go:noinline
func (o Object) Add(key string, v any) Object {
	switch x := v.(type) {
	case string:
		if x == "" {
			return o
		}
	case bool:
		if !x {
			return o
		}
		v = canon.OfBool(true)
	case canon.Value:
		if x.IsNull() {
			return o
		}
	case List:
		if len(x) == 0 {
			return o
		}
	case Object:
		if len(x) == 0 {
			return o
		}
	}
	return append(o, Member{key, v})
}

// List is a list of values.
type List []any

// Text returns a value as a YAML text that Parse reads as the same value: an Object, a List, a string or a
// canon.Value. Members and items have lines of their own; an empty object or list, and a list of plain
// words, is in brackets.
func Text(v any) []byte {
	var out strings.Builder
	writeBlock(&out, normal(v), 0)
	return []byte(out.String())
}

// normal returns a value as an Object, a List, a string or a scalar canon.Value.
func normal(v any) any {
	x, ok := v.(canon.Value)
	if !ok {
		return v
	}
	switch x.Kind() {
	case canon.String:
		return x.Text()
	case canon.Array:
		list := List{}
		for i := range x.Len() {
			list = append(list, x.Item(i))
		}
		return list
	case canon.Object:
		o := Object{}
		for i := range x.Len() {
			o = append(o, Member{x.Key(i), x.Item(i)})
		}
		return o
	}
	return x
}

// writeBlock writes a value that begins in a line of its own, indented by a number of blanks.
func writeBlock(out *strings.Builder, v any, indent int) {
	pad := strings.Repeat(" ", indent)
	if o, ok := v.(Object); ok && len(o) == 0 {
		v = canon.OfMembers()
	}
	if l, ok := v.(List); ok && len(l) == 0 {
		v = canon.OfList()
	}
	switch x := v.(type) {
	case Object:
		for i, m := range x {
			if i > 0 || indent == 0 {
				out.WriteString(pad)
			}
			out.WriteString(scalar(m.Key) + ":")
			writeAfter(out, normal(m.Value), indent, indent+2)
		}
	case List:
		for i, item := range x {
			if i > 0 || indent == 0 {
				out.WriteString(pad)
			}
			item = normal(item)
			out.WriteString("-")
			if o, ok := item.(Object); ok && len(o) > 0 {
				out.WriteString(" ")
				writeBlock(out, item, indent+2)
				continue
			}
			writeAfter(out, item, indent, indent+2)
		}
	default:
		out.WriteString(inline(v) + "\n")
	}
}

// writeAfter writes a value behind a key or a dash: in the same line, or below it.
func writeAfter(out *strings.Builder, v any, indent, below int) {
	if text, ok := v.(string); ok && isBlockText(text) {
		chomp := "|"
		if !strings.HasSuffix(text, "\n") {
			chomp = "|-"
		}
		out.WriteString(" " + chomp + "\n")
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if line != "" {
				line = strings.Repeat(" ", indent+2) + line
			}
			out.WriteString(line + "\n")
		}
		return
	}
	if text := inline(v); text != "" {
		out.WriteString(" " + text + "\n")
		return
	}
	out.WriteString("\n" + strings.Repeat(" ", below))
	writeBlock(out, v, below)
}

// inline returns a value that fits into a line, "" for any other.
func inline(v any) string {
	switch x := v.(type) {
	case string:
		return scalar(x)
	case canon.Value:
		return string(x.JCS())
	case Object:
		if len(x) == 0 {
			return "{}"
		}
	case List:
		if len(x) == 0 {
			return "[]"
		}
		parts := make([]string, len(x))
		n := 0
		for i, item := range x {
			switch item := normal(item).(type) {
			case string:
				parts[i] = scalar(item)
			case canon.Value:
				parts[i] = string(item.JCS())
			default:
				return ""
			}
			n += len(parts[i]) + 2
		}
		if n <= inlineMax {
			return "[" + strings.Join(parts, ", ") + "]"
		}
	}
	return ""
}

// inlineMax is the length of a list in brackets that is easy to read.
const inlineMax = 90

// plainText matches texts that are the same without quotes, also in brackets: words, with single blanks
// between them.
var plainText = pattern.New(`^([A-Za-z_/]|[.]/)[A-Za-z0-9_./@+-]*( [A-Za-z0-9_./@+-]+)*$`)

// scalar returns a text as a scalar: plain if it means the same, else in double quotes as in JSON, with
// escapes for what Parse does not accept as it is.
func scalar(text string) string {
	lit, err := resolve(text)
	// Older readers of YAML take these words for booleans.
	older := slices.Contains([]string{"yes", "no", "on", "off", "y", "n"}, strings.ToLower(text))
	if err == nil && lit == "" && !older && plainText.MatchString(text) {
		return text
	}
	return escape(string(canon.AppendString(nil, text)))
}

// escape replaces the characters that are not shown, which YAML may not have as they are and a reader of the
// file cannot see, and two that it does not have at all. Line feeds remain.
func escape(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r != '\ufffe' && r != '\uffff' && !invisible.Is(r):
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// isBlockText reports a text of several lines that is the same as a block: printable, without blanks at
// the ends of lines, and with no line that begins with a blank before the first one that does not.
func isBlockText(text string) bool {
	body := strings.TrimSuffix(text, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") || strings.HasPrefix(body, "\n") ||
		strings.HasPrefix(body, " ") || escape(text) != text {
		return false
	}
	for _, r := range body {
		if r < ' ' && r != '\n' || r == '\ufffd' {
			return false
		}
	}
	return !strings.Contains(body+"\n", " \n")
}
