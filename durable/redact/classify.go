package redact

import "strings"

// nonValueWords is the set of words that describe a value in the place of one: its state, its
// source, its type, and keywords that begin an expression.
var nonValueWords = wordSet(
	"required optional missing none null nil true false empty unknown invalid expired hidden set " +
		"unset yes no ok undefined redacted default " +
		"valid todo tbd changed reset rotated revoked refreshed updated created deleted removed " +
		"stored encrypted hashed " +
		"provided generated masked absent present " +
		"enabled disabled pending rejected accepted denied correct incorrect wrong same see prompt " +
		"stdin inherit write " +
		"read n/a ... … xxx " +
		"string str bytes byte []byte bool int any object buffer " +
		"await new lambda func function async self this match try not if")

// nonValue reports a text that describes or refers to a value and is not a secret itself.
func nonValue(v string) bool {
	return nonValueWords[strings.ToLower(strings.TrimRight(v, "!"))] || placeholder(v) || isDigest(v) || isPath(v) ||
		isPattern(v) || strings.Trim(v, "{}[]()|<>&*-+?\\,;:.=/…") == ""
}

// templateBegins reports the beginning of a template expression or of a reference to a secret
// manager.
func templateBegins(v string) bool {
	for _, start := range []string{"${", "$(", "{{", "***", "<%", "%(", "#{", "op://", "vault://"} {
		if strings.HasPrefix(v, start) {
			return true
		}
	}
	return false
}

// placeholder reports such an expression, a variable reference, or a dummy such as xxx or
// your-token.
func placeholder(v string) bool {
	switch {
	case v == "":
		return false
	case templateBegins(v), strings.HasPrefix(v, "<") && strings.IndexByte(v, '>') == len(v)-1:
		return true
	case v[0] == '$' && len(v) > 1:
		// $NAME, $1, $token, $this->token and $env:TOKEN; but not a password such as $eCret1.
		name := v[1:]
		return span(v, 1, func(c byte) bool { return upper(c) || c == '_' }) == len(v) || len(v) == 2 && digit(v[1]) ||
			span(name, 0, word) == len(name) && SecretName(name) || strings.HasPrefix(name, "this-") ||
			strings.HasPrefix(name, "env:")
	case v[0] == '{' || v[0] == ':' || v[0] == '@':
		// {name}, and the parameters :token and @token of a query.
		name := strings.TrimSuffix(v[1:], "}")
		return name == "" || span(name, 0, func(c byte) bool {
			return letter(c) || c == '_' ||
				c == '.'
		}) == len(name) && (v[0] == '{' || SecretName(name))
	case v[0] == '%': // a verb of a format string, such as %s
		return len(v) == 2 && letter(v[1])
	}
	// xxx, or your-password.
	return len(v) >= 3 && strings.Trim(v, "xX") == "" || len(v) > 5 && strings.EqualFold(v[:4], "your") && !letter(v[4])
}

// isDigest reports a digest with its algorithm, as in checksum and package lock files.
func isDigest(v string) bool {
	for _, algorithm := range []string{"sha256:", "blake3:", "sha512:", "sha1:", "sha256_", "sha256-", "sha384-",
		"sha512-"} {
		if sum, ok := strings.CutPrefix(v, algorithm); ok {
			// SHA-1 in hexadecimal digits is the shortest of them.
			return len(sum) >= 40 && span(sum, 0, base64Byte) == len(sum)
		}
	}
	return false
}

// isPath reports a file path, which names where the value is stored. Base64 may begin with a
// slash too, but rarely has a second one and no sign that paths lack.
func isPath(v string) bool {
	for _, start := range []string{"./", "../", "~/", "file:"} {
		if strings.HasPrefix(v, start) {
			return true
		}
	}
	return v[0] == '/' && strings.Count(v, "/") >= 2 &&
		span(v, 0, func(c byte) bool { return dotted(c) || c == '/' }) == len(v)
}

// isPattern reports a regular expression, which describes values.
func isPattern(v string) bool {
	for _, sign := range []string{`\w`, `\S`, `\d`, `\s`, "[^", ".*", ".+", "(?", "[a-z", "[A-Z", "[0-9"} {
		if strings.Contains(v, sign) {
			return true
		}
	}
	return false
}

// isCount reports a number with a unit: "Password: 8-64 characters".
func isCount(s string, to int, v string) bool {
	// The value is a number, or a range such as 8-64.
	if span(v, 0, func(c byte) bool { return digit(c) || strings.IndexByte("-+.,", c) >= 0 }) < len(v) {
		return false
	}
	at := span(s, to, blank)
	unit := strings.ToLower(s[at:span(s[:min(len(s), at+nameMax)], at, letter)])
	return at > to && units[unit]
}

// units is the set of such units.
var units = wordSet("character characters chars bytes bits digits letters words minutes hours days seconds weeks " +
	"times tokens or to and per")

// codeReference reports an expression that refers to a value: a call, a member, an index, a
// variable. In code, a secret itself is in quotes, and an expression is not.
func codeReference(s string, from, to int, b bareContext) bool {
	v := strings.TrimLeft(s[from:to], "&*!")
	next := byte('\n') // the end of the text is like the end of a line
	if to < len(s) {
		next = s[to]
	}
	ident := span(v, 0, word)
	if ident == 0 || digit(v[0]) {
		return false
	}
	if from >= 2 && (s[from-1] == '`' && s[from-2] == '=' && next == ' ' || s[from-1] == '*' && blank(s[from-2]) &&
		v[len(v)-1] != '*') {
		return true // the output of a command, a YAML alias, a pointer in C
	}
	// plain is an identifier without digits; random values nearly always have digits.
	path, dots := memberPath(v)
	plain := span(v, 0, func(c byte) bool { return letter(c) || c == '_' }) == len(v)
	switch {
	case path < len(v):
		// f(…), m[…], and a generic type.
		return v[path] == '(' && (dots > 0 || !strings.ContainsAny(v[:path], "0123456789") || b.spaced && b.equals) ||
			v[path] == '[' && !strings.ContainsAny(v[:path], "0123456789")
	case dots > 0: // cfg.Token: a dot alone also occurs in passwords, so the context decides
		return b.spaced || b.inCall || memberOwners[strings.ToLower(v[:ident])] || SecretName(v)
	case next == '(' || next == '[': // the arguments begin with a quote, where the value ended
		return true
	case !plain:
		return false
	case b.code, b.inCall && (next == ',' || next == ')'):
		return true
	case b.equals:
		return b.spaced && next == ';'
	}
	// A type in a declaration: token: string = …, token: string | null, token: string;
	annotated := next == ' ' && to+1 < len(s) && (s[to+1] == '=' || s[to+1] == '|')
	return !b.quoted && (annotated || strings.IndexByte(";,)<", next) >= 0)
}

// memberPath returns where a member path such as cfg.db?.Token ends, and its number of dots.
func memberPath(v string) (end, dots int) {
	for {
		n := span(v, end, func(c byte) bool { return letter(c) || c == '_' })
		if n == end {
			return end, dots // a dot at the end, or before a digit
		}
		end = n
		at := end
		// Optional chaining a?.b and non-null assertion a!.b.
		if at < len(v) && (v[at] == '?' || v[at] == '!') {
			at++
		}
		if at+1 >= len(v) || v[at] != '.' || !letter(v[at+1]) && v[at+1] != '_' {
			return end, dots
		}
		end, dots = at+1, dots+1
	}
}

// memberOwners is the set of variables whose members usually hold configuration or secrets in code.
var memberOwners = wordSet(
	"self this process os req request cfg config conf settings opts options args env ctx flags form " +
		"params props state data secrets vars local module environ event res response")
