package commandlint

import "strings"

// token is a word or an operator of a script.
type token struct {
	text     string
	operator bool
	expands  bool // a word with a variable or the output of a command in it
	runs     bool // a word with the output of a command in it
}

// operators are those of scripts that are read, longest first. The second member reports that the next word
// is a file.
var operators = []struct {
	text string
	file bool
}{{"&>>", true}, {"<<<", true}, {"&&", false}, {"||", false}, {"|&", false}, {"&>", true}, {">>", true}, {">&", true}, {"<&", true},
	{">|", true}, {"<>", true}, {"&", false}, {"|", false}, {";", false}, {"(", false}, {")", false}, {"\n", false}, {"<", true}, {">", true}}

// tokens splits a script for a shell; ok is false for one with a document in it, with an open quotation,
// and with other things that are not read. Files of redirections are left out.
func tokens(script string) (out []token, ok bool) {
	file := false // the next word is one
	for i := 0; i < len(script); {
		switch c := script[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case c == '#':
			for i < len(script) && script[i] != '\n' {
				i++
			}
			continue
		}
		if strings.HasPrefix(script[i:], "<<") && !strings.HasPrefix(script[i:], "<<<") || strings.HasPrefix(script[i:], "<(") ||
			strings.HasPrefix(script[i:], ">(") || strings.HasPrefix(script[i:], ";;") {
			return nil, false
		}
		if op, takesFile := operatorAt(script[i:]); op != "" {
			i += len(op)
			if file = takesFile; !file {
				out = append(out, token{text: op, operator: true})
			}
			continue
		}
		word, n := wordAt(script[i:])
		if n < 0 {
			return nil, false
		}
		i += n
		if isNumber := strings.Trim(word.text, "0123456789") == ""; isNumber && i < len(script) && strings.IndexByte("<>", script[i]) >= 0 {
			continue // the descriptor of a redirection
		}
		if !file {
			out = append(out, word)
		}
		file = false
	}
	return out, !file
}

// operatorAt returns the operator with which a text begins, "" for none.
func operatorAt(text string) (op string, file bool) {
	for _, o := range operators {
		if strings.HasPrefix(text, o.text) {
			return o.text, o.file
		}
	}
	return "", false
}

// wordAt returns the word with which a text begins, without its quotes, and its length; -1 for one without an
// end.
func wordAt(text string) (w token, n int) {
	var b strings.Builder
	double := false
	i := 0
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			if i++; text[i] != '\n' {
				b.WriteByte(text[i])
			}
		case c == '\'' && !double:
			end := strings.IndexByte(text[i+1:], '\'')
			if end < 0 {
				return w, -1
			}
			b.WriteString(text[i+1 : i+1+end])
			i += end + 1
		case c == '"':
			double = !double
		case c == '`' || strings.HasPrefix(text[i:], "$("):
			end := commandEnd(text[i:])
			if end < 0 {
				return w, -1
			}
			w.expands, w.runs = true, true
			b.WriteString(text[i : i+end])
			i += end - 1
		case c == '$':
			w.expands = true
			b.WriteByte(c)
		case !double && strings.IndexByte(" \t\r\n;&|()<>", c) >= 0:
			w.text = b.String()
			return w, i
		default:
			b.WriteByte(c)
		}
	}
	w.text = b.String()
	if double {
		return w, -1
	}
	return w, i
}

// commandEnd is the length of the command in backquotes, or of $( and what belongs to it, with which a text
// begins; -1 without its end.
func commandEnd(text string) int {
	if text[0] == '`' {
		if end := strings.IndexByte(text[1:], '`'); end >= 0 {
			return end + 2
		}
		return -1
	}
	open := 0
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return i + 1
			}
		}
	}
	return -1
}
