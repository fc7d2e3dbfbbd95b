package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/words"
)

// A token that is longer than a line is often split: by a terminal, in a mail, in a source file. It
// is read over one line break where what is on the next line continues it, and not where the next
// line begins with a word of a sentence or with a name of its own.

// splitMax bounds how much of each line is read, splitLine is the shortest piece that has a further
// line behind it, and splitPrefix the shortest part of a prefix that may have one.
const (
	escapeMax   = 48 // of what one pattern reads around an escape or a line end
	splitMax    = 512
	splitLine   = 32
	splitPrefix = 12
)

var (
	// splitByte is the class of the bytes of tokens.
	splitByte = classOf(letters + digits + "_-./+=~:$%@!|")
	// lineJoint matches the end of a line and the beginning of the next one: a quote that closes and a
	// sign that joins strings, a backslash, the line end, also an escaped one, indentation and marks of
	// quoted or commented lines, and a quote that opens.
	lineJoint = pattern.New(`^(?:["'][ \t]*[+.&]?)?[ \t]{0,4}\\?(?:\r*\n|\\r\\n|\\n)[ \t>|#*]{0,40}["']?`)
)

// joint returns where the text behind the line break at i continues, 0 where there is none at i.
func joint(s string, i int) int {
	if i >= len(s) || strings.IndexByte("\"' \t\\\r\n", s[i]) < 0 {
		return 0
	}
	m := lineJoint.FindString(s[i:min(len(s), i+2*escapeMax)])
	countReads(len(m) + 1)
	if m == "" || i+len(m) == len(s) {
		return 0
	}
	// Both quotes, or none.
	last := m[len(m)-1]
	closed, opened := m[0] == '"' || m[0] == '\'', last == '"' || last == '\''
	if closed != opened || closed && m[0] != last {
		return 0
	}
	return i + len(m)
}

// split returns the end of the token at from that continues behind a line break, 0 where it does
// not. line is where the bytes of tokens on its line end, and whole where a token ends on this line
// alone, 0 where there is none.
func (f *form) split(s string, from, line, whole int) (to int) {
	if whole > 0 && f.bounded || line-from > splitMax {
		return 0
	}
	next := joint(s, line)
	if n := len(f.parts); n > 0 && softBreak(s, line) && f.parts[n-1].In != nil && !f.parts[n-1].In['='] {
		line--
	}
	if next == 0 || whole > 0 && whole < line || isToken(s, next) {
		return 0
	}
	end := span(s[:min(len(s), next+splitMax)], next, splitByte)
	joined, first := s[from:line]+s[next:end], line-from
	if !strings.HasPrefix(joined, f.prefix) {
		return 0
	}
	to = f.end(joined, 0)
	if to <= first {
		return 0
	}
	body, tail := first-len(f.prefix), joined[first:to]
	switch {
	case f.Full > 0 && body == f.Full: // whole on the first line
		return 0
	case f.Full > 0 && to-len(f.prefix) == f.Full: // it fits exactly
	case f.bounded: // it fits exactly
		if !endsPiece(joined, to) {
			return 0
		}
	case first < 8, !endsPiece(joined, to), !f.tailLike(tail) && !(shortPiece(tail) && endsLine(joined, to, s, end)):
		return 0
	}
	to = next + to - first
	if f.bounded || f.Full > 0 {
		return to
	}
	return moreLines(s, next, to, f.parts[len(f.parts)-1].In)
}

// tailLike reports that a text on a further line looks like the end of a token of this form.
func (f *form) tailLike(t string) bool {
	if in := f.parts[len(f.parts)-1].In; in != nil && in['='] {
		// The base64 in the middle of the token ends in a sign, or a checksum does follow it.
		switch at := strings.IndexByte(t, '='); {
		case at >= 20 && keyPiece(t[:at]), strings.Contains(t, "=_"), checksum.MatchString(t):
			return true
		}
	}
	return keyPiece(t)
}

// checksum matches the end of a token that has a checksum.
var checksum = pattern.New(`^[\w-]*=[0-9A-F]{8}$`)

// shortPiece reports a text that is no word of small letters, and endsLine that it ends a line: joined is
// its line behind the line before, and end where that line ends in s.
func shortPiece(t string) bool {
	return len(t) > 1 && !strings.Contains(strings.TrimRight(t, "="), "=") && (strings.ContainsAny(t, digits) || innerUpper(t))
}

func endsLine(joined string, to int, s string, end int) bool {
	return to == len(joined) && lineEnds.MatchString(strings.TrimLeft(s[end:min(len(s), end+escapeMax)], `"'`))
}

// softBreak reports a line that ends at i with the equals sign of a mail in quoted-printable form.
func softBreak(s string, i int) bool {
	return i > 1 && i < len(s) && s[i-1] == '=' && s[i-2] != '=' && (s[i] == '\n' || s[i] == '\r')
}

// moreLines returns the end of a token whose last piece is s[from:to], with the further lines that
// continue it: all but the last one are long.
func moreLines(s string, from, to int, in *class) int {
	for to-from >= splitLine {
		next := joint(s, to)
		if next == 0 || isToken(s, next) {
			break
		}
		end := span(s[:min(len(s), next+splitMax)], next, in)
		if end = trimDots(s, next, end); !endsPiece(s, end) || !keyPiece(s[next:end]) {
			break
		}
		from, to = next, end
	}
	return to
}

// endsPiece reports that nothing continues at i what would then be a name, an address or a word.
func endsPiece(s string, i int) bool {
	return i >= len(s) || strings.IndexByte(" \t\r\n\"'`)]},;.<\\", s[i]) >= 0
}

// keyPiece reports a text that looks like a part of a key, and like no word, number or digest.
func keyPiece(t string) bool {
	var digit, small, capital, changes int
	for i := range len(t) {
		switch c := t[i]; {
		case c >= '0' && c <= '9':
			digit++
		case c >= 'a' && c <= 'z':
			small++
		case c >= 'A' && c <= 'Z':
			capital++
			if i > 0 && t[i-1] >= 'a' && t[i-1] <= 'z' {
				changes++
			}
		}
	}
	countReads(len(t))
	switch {
	case strings.Contains(strings.TrimRight(t, "="), "="): // a name and its value
		return false
	case len(t) < 4:
		return false
	case len(t) < 8:
		return digit > 0 && small > 0 && capital > 0
	}
	return digit > 0 && small > 0 && capital > 0 || changes > 1 && digit == 0 && len(t) > 9 || changes > 2 || digit > 1 && (small > 1 || capital > 1 && len(t) >= 16) && words.StrongRun(t)
}

// splitJWT returns the end of the JWT at from that continues behind a line break, 0 where it does
// not. whole is where one ends on the first line alone, 0 where there is none.
func splitJWT(s string, from, whole int) (to int) {
	line := span(s[:min(len(s), from+2*splitMax)], from, dotted)
	next := joint(s, line)
	if next == 0 || whole > 0 && whole < line || line-from < 12 {
		return 0
	}
	end := trimDots(s, next, span(s[:min(len(s), next+2*splitMax)], next, dotted))
	if !keyPiece(s[next:end]) || !endsPiece(s, end) {
		return 0
	}
	to = moreLines(s, next, end, dotted)
	joined := s[from:line] + strings.Join(strings.Fields(s[next:to]), "")
	if whole == 0 && strings.Count(joined, ".") < 2 {
		return 0
	}
	return to
}

// splitInfix returns the token with the infix at i that has a line break before or behind the infix;
// to is 0 where there is none. floor is where the token may begin, and line the run around i.
func (f *form) splitInfix(s string, i, floor int, line run) (from, to int) {
	left, right := max(line.from, floor), line.to
	if right-left > 2*splitMax {
		return 0, 0
	}
	left += escapeBytes(s, left)
	// The part behind the infix continues on the next line.
	if next := joint(s, right); next > 0 {
		end := span(s[:min(len(s), next+splitMax)], next, splitByte)
		joined := s[left:right] + s[next:end]
		if begin := f.begin(joined, i-left); begin >= 0 {
			if to := f.end(joined, i-left); to > right-left && endsPiece(joined, to) {
				return left + begin, next + to - (right - left)
			}
		}
	}
	// The token begins on the line before: the joint is not longer than one that joint reads.
	for line := left - 1; line >= max(floor, left-escapeMax); line-- {
		countReads(1)
		if splitByte[s[line]] && joint(s, line+1) == left {
			begin := line + 1
			for begin > floor && line-begin < splitMax && splitByte[s[begin-1]] {
				begin--
			}
			countReads(line - begin + 1)
			joined, first := s[begin:line+1]+s[left:right], line+1-begin
			if from := f.begin(joined, first+i-left); from >= 0 && from < first {
				if to := f.end(joined, first+i-left); to > 0 && endsPiece(joined, to) {
					return begin + from, left + to - first
				}
			}
			return 0, 0
		}
	}
	return 0, 0
}
