package guard

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/limits"
)

// errTOML is the error of a file that is not read.
var errTOML = errors.New("it is not valid TOML, or has a form that is not read here, and is not changed")

// statement is a header of a table, or a key with its value, in a TOML file.
type statement struct {
	header, array bool
	path          []string // the parts of the key
	from, to      int      // of the statement in the text, without the comment behind it
	value         int      // where the value begins
}

// statements returns the statements of a TOML text. It reads keys, strings, comments and brackets, and no values: a
// text that is read is not valid for certain, and one in which these do not match is an error.
func statements(text string) (out []statement, err error) {
	if len(text) > limits.ClientSettingsBytesMax || !utf8.ValidString(text) {
		return nil, errTOML
	}
	for _, c := range []byte(text) {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			return nil, errTOML
		}
	}
	s := tomlScanner{text: text}
	for {
		s.skip(" \t\r\n")
		if s.at == len(text) {
			return out, nil
		}
		if text[s.at] == '#' {
			s.line()
			continue
		}
		st, ok := s.statement()
		if !ok {
			return nil, errTOML
		}
		out = append(out, st)
	}
}

// tomlScanner reads a TOML text.
type tomlScanner struct {
	text string
	at   int
}

// skip moves over bytes of a set.
func (s *tomlScanner) skip(set string) {
	for s.at < len(s.text) && strings.IndexByte(set, s.text[s.at]) >= 0 {
		s.at++
	}
}

// line moves to the end of the line.
func (s *tomlScanner) line() {
	if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
		s.at += i
		return
	}
	s.at = len(s.text)
}

// take moves over a text and reports whether it follows.
func (s *tomlScanner) take(what string) bool {
	ok := strings.HasPrefix(s.text[s.at:], what)
	if ok {
		s.at += len(what)
	}
	return ok
}

// ends reports that nothing but a comment follows in the line.
func (s *tomlScanner) ends() bool {
	s.skip(" \t\r")
	return s.at == len(s.text) || s.text[s.at] == '\n' || s.text[s.at] == '#'
}

// statement reads a header, or a key with its value.
func (s *tomlScanner) statement() (st statement, ok bool) {
	st.from = s.at
	closing := ""
	switch {
	case s.take("[["):
		st.header, st.array, closing = true, true, "]]"
	case s.take("["):
		st.header, closing = true, "]"
	}
	if st.path, ok = s.key(); !ok {
		return st, false
	}
	if st.header {
		ok = s.take(closing)
		st.to = s.at
		return st, ok && s.ends()
	}
	if !s.take("=") {
		return st, false
	}
	s.skip(" \t")
	st.value = s.at
	ok = s.values()
	st.to = s.at
	return st, ok && st.to > st.value && s.ends()
}

// key reads a key with its dots.
func (s *tomlScanner) key() (path []string, ok bool) {
	for {
		s.skip(" \t")
		start, part := s.at, ""
		switch {
		case s.at == len(s.text):
			return nil, false
		case s.text[s.at] == '"':
			// An escape that JSON does not have is an error.
			if !s.str() || json.Unmarshal([]byte(s.text[start:s.at]), &part) != nil {
				return nil, false
			}
		case s.text[s.at] == '\'':
			if !s.str() {
				return nil, false
			}
			part = s.text[start+1 : s.at-1]
		default:
			s.skip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
			if part = s.text[start:s.at]; part == "" {
				return nil, false
			}
		}
		path = append(path, part)
		s.skip(" \t")
		if !s.take(".") {
			return path, true
		}
	}
}

// values reads a value up to its end: strings, and brackets over lines.
func (s *tomlScanner) values() bool {
	var open []byte
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case '"', '\'':
			if !s.str() {
				return false
			}
			continue
		case '[', '{':
			if len(open) == limits.JSONDepthMax {
				return false
			}
			open = append(open, c+2) // the bracket that closes it
		case ']', '}':
			if len(open) == 0 || open[len(open)-1] != c {
				return false
			}
			open = open[:len(open)-1]
		case '#', '\n':
			if len(open) == 0 {
				return true
			}
			if c == '#' {
				s.line()
				continue
			}
		case ' ', '\t', '\r':
			if len(open) == 0 && s.blankRest() {
				return true
			}
		}
		s.at++
	}
	return len(open) == 0
}

// blankRest reports whether only white space and a comment follow in the line.
func (s *tomlScanner) blankRest() bool {
	ahead := *s
	return ahead.ends()
}

// str reads a string: of one line, or of several between three quotes.
func (s *tomlScanner) str() bool {
	quote := s.text[s.at : s.at+1]
	escapes := quote == `"`
	end, lines := quote, false
	if s.take(strings.Repeat(quote, 3)) {
		end, lines = strings.Repeat(quote, 3), true
	} else {
		s.at++
	}
	for s.at < len(s.text) {
		switch {
		case s.take(end):
			for range 2 { // three quotes end it, and up to two more before these are in it
				if lines {
					s.take(quote)
				}
			}
			return true
		case escapes && s.text[s.at] == '\\':
			s.at += 2
		case !lines && s.text[s.at] == '\n':
			return false
		default:
			s.at++
		}
	}
	return false
}
