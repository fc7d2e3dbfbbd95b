package redact

import "strings"

// nothing lists the words that stand where a value is told about, not given: what
// became of it, where it comes from, its type, and the words that code begins with.
var nothing = wordSet("required optional missing none null nil true false empty unknown invalid expired hidden set " +
	"unset yes no ok undefined redacted default " +
	"valid todo tbd changed reset rotated revoked refreshed updated created deleted removed stored encrypted hashed " +
	"provided generated masked absent present " +
	"enabled disabled pending rejected accepted denied correct incorrect wrong same see prompt stdin inherit write " +
	"read n/a ... … xxx " +
	"string str bytes byte []byte bool int any object buffer " +
	"await new lambda func function async self this match try not if")

// noValue reports what says that there is a value, or where, and is none itself.
func noValue(v string) bool {
	return nothing[strings.ToLower(strings.TrimRight(v, "!"))] || placeholder(v) || isDigest(v) || isPath(v) ||
		patterned(v) || strings.Trim(v, "{}[]()|<>&*-+?\\,;:.=/…") == ""
}

// opens reports what stands for a value that is filled in elsewhere, by its beginning.
func opens(v string) bool {
	for _, start := range []string{"${", "$(", "{{", "***", "<%", "%(", "#{", "op://", "vault://"} {
		if strings.HasPrefix(v, start) {
			return true
		}
	}
	return false
}

// placeholder reports such a value, the name of a variable, or a word in its place.
func placeholder(v string) bool {
	switch {
	case v == "":
		return false
	case opens(v), strings.HasPrefix(v, "<") && strings.IndexByte(v, '>') == len(v)-1:
		return true
	case v[0] == '$' && len(v) > 1:
		name := v[1:]
		return span(v, 1, func(c byte) bool { return upper(c) || c == '_' }) == len(v) || len(v) == 2 && digit(v[1]) ||
			span(name, 0, word) == len(name) && SecretName(name) || strings.HasPrefix(name, "this-") ||
			strings.HasPrefix(name, "env:")
	case v[0] == '{' || v[0] == ':' || v[0] == '@':
		name := strings.TrimSuffix(v[1:], "}")
		return name == "" || span(name, 0, func(c byte) bool {
			return letter(c) || c == '_' ||
				c == '.'
		}) == len(name) && (v[0] == '{' || SecretName(name))
	case v[0] == '%':
		return len(v) == 2 && letter(v[1])
	}
	return len(v) >= 3 && strings.Trim(v, "xX") == "" || len(v) > 5 && strings.EqualFold(v[:4], "your") && !letter(v[4])
}

// isDigest reports a digest with its algorithm, as sums and locks of packages are written.
func isDigest(v string) bool {
	for _, algorithm := range []string{"sha256:", "blake3:", "sha512:", "sha1:", "sha256_", "sha256-", "sha384-",
		"sha512-"} {
		if sum, ok := strings.CutPrefix(v, algorithm); ok {
			return len(sum) >= 40 && span(sum, 0, base64Byte) == len(sum)
		}
	}
	return false
}

// isPath reports the name of a file that holds the value. Base64 may begin with a slash,
// but has no two more of them in so little.
func isPath(v string) bool {
	for _, start := range []string{"./", "../", "~/", "file:"} {
		if strings.HasPrefix(v, start) {
			return true
		}
	}
	return v[0] == '/' && strings.Count(v, "/") >= 2 &&
		span(v, 0, func(c byte) bool { return dotted(c) || c == '/' }) == len(v)
}

// patterned reports a regular expression for values.
func patterned(v string) bool {
	for _, sign := range []string{`\w`, `\S`, `\d`, `\s`, "[^", ".*", ".+", "(?", "[a-z", "[A-Z", "[0-9"} {
		if strings.Contains(v, sign) {
			return true
		}
	}
	return false
}

// counted reports a number of something: "Password: 8-64 characters".
func counted(s string, to int, v string) bool {
	if span(v, 0, func(c byte) bool { return digit(c) || strings.IndexByte("-+.,", c) >= 0 }) < len(v) {
		return false
	}
	at := span(s, to, blank)
	unit := strings.ToLower(s[at:span(s[:min(len(s), at+nameMax)], at, letter)])
	return at > to && units[unit]
}

var units = wordSet("character characters chars bytes bits digits letters words minutes hours days seconds weeks " +
	"times tokens or to and per")

// reference reports code that says where a value comes from: a call, a member, an
// index, a variable. What is no secret in code stands without quotes.
func reference(s string, from, to int, b bareness) bool {
	v := strings.TrimLeft(s[from:to], "&*!")
	next := byte('\n')
	if to < len(s) {
		next = s[to]
	}
	ident := span(v, 0, word)
	if ident == 0 || digit(v[0]) {
		return false
	}
	if from >= 2 && (s[from-1] == '`' && s[from-2] == '=' && next == ' ' || s[from-1] == '*' && blank(s[from-2]) &&
		v[len(v)-1] != '*') {
		return true // the output of a command, and what YAML and C point at
	}
	path, dots := members(v)
	plain := span(v, 0, func(c byte) bool { return letter(c) || c == '_' }) == len(v)
	switch {
	case path < len(v):
		// f(…), m[…], and a generic type.
		return v[path] == '(' && (dots > 0 || !strings.ContainsAny(v[:path], "0123456789") || b.spaced && b.equals) ||
			v[path] == '[' && !strings.ContainsAny(v[:path], "0123456789")
	case dots > 0:
		return b.spaced || b.argued || owners[strings.ToLower(v[:ident])] || SecretName(v)
	case next == '(' || next == '[':
		return true
	case !plain:
		return false
	case b.code, b.argued && (next == ',' || next == ')'):
		return true
	case b.equals:
		return b.spaced && next == ';'
	}
	annotated := next == ' ' && to+1 < len(s) && (s[to+1] == '=' || s[to+1] == '|')
	return !b.quoted && (annotated || strings.IndexByte(";,)<", next) >= 0)
}

// members is where a path such as cfg.db?.Token ends, and how often it goes down.
func members(v string) (end, dots int) {
	for {
		n := span(v, end, func(c byte) bool { return letter(c) || c == '_' })
		if n == end {
			return end, dots // a dot that nothing follows, or a digit
		}
		end = n
		at := end
		if at < len(v) && (v[at] == '?' || v[at] == '!') {
			at++
		}
		if at+1 >= len(v) || v[at] != '.' || !letter(v[at+1]) && v[at+1] != '_' {
			return end, dots
		}
		end, dots = at+1, dots+1
	}
}

// owners are what code takes members of.
var owners = wordSet("self this process os req request cfg config conf settings opts options args env ctx flags form " +
	"params props state data secrets vars local module environ event res response")
