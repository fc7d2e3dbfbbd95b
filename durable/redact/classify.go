package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/words"
)

// Forms of texts that describe or refer to a value.
var (
	// digest matches a digest with its algorithm, as in checksum and package lock files; SHA-1 in
	// hexadecimal digits is the shortest of them.
	digest = pattern.New(
		`^(?:(?:sha256|blake3|sha512|sha1):|sha256_|sha(?:256|384|512)-)[A-Za-z0-9+/=]{40,}$`)
	// filePath matches a path, which names where the value is stored. Base64 may begin with a slash
	// too, but rarely has a second one and no sign that paths lack.
	filePath = pattern.New(`^(?:\./|\.\./|~/|file:|/[\w.-]*/[\w./-]*$)`)
	// expression matches a part of a regular expression, which describes values.
	expression = pattern.New(`\\[wSds]|\[\^|\.[*+]|\(\?|\[(?:a-z|A-Z|0-9)`)
	// template matches the beginning of a template expression or of a reference to a secret manager.
	template = pattern.New(`^(?:\$[{(]|\{\{|\*\*\*|<%|%\(|#\{|op://|vault://)`)
	// dummy matches <name>, the variables $NAME, $1, $this->token and $env:TOKEN, {name}, a verb of a
	// format string such as %s, and xxx. A password such as $eCret1 is none of them.
	dummy = pattern.New(`^(?:<[^>]*>$|\$(?:[A-Z_]+$|null$|[0-9]$|this-|env:)|` +
		`[{:@]\}?$|\{\d\}?$|[%@]\w+[%@]$|%\d$|&\w+$|ENC\[|__\w+__$|\[[A-Za-z][A-Za-z _-]*\]?$|\{[A-Za-z_.]+\}?$|%[A-Za-z]$|[xX]{3,}$)`)
	// variable matches $name, and the parameters :name and @name of a query.
	variable = pattern.New(`^(?:\$(\w+)|[:@]([A-Za-z_.]+)\}?)$`)
	// yours matches the beginning of your-password.
	yours = pattern.New(`^(?i:your)[^A-Za-z]`)
)

// nonValue reports a text that describes or refers to a value and is not a secret itself. The first
// byte of a text, or its length, decides which expressions are tried.
func nonValue(v string) bool {
	if words.State(strings.ToLower(strings.TrimRight(v, "!"))) || placeholder(v) || v == "" {
		return true
	}
	return len(v) > 40 && digest.MatchString(v) || strings.IndexByte("./~f", v[0]) >= 0 && filePath.MatchString(v) ||
		strings.ContainsAny(v, `\[.(`) && expression.MatchString(v) || strings.Trim(v, "{}[]()|<>&*-+?\\,;:.=/…") == ""
}

// placeholder reports a template expression, a variable reference, or a dummy such as xxx or
// your-token.
func placeholder(v string) bool {
	if words.Dummy(v) {
		return true
	}
	if v == "" || strings.IndexByte("$@:{*<%#[xXyYvo&E_", v[0]) < 0 {
		return false
	}
	name := variable.FindStringSubmatch(v)
	return template.MatchString(v) || dummy.MatchString(v) || len(v) > len("your-") && yours.MatchString(v) ||
		name != nil && SecretName(name[1]+name[2])
}

// A number or a range such as 8-64, and the word behind it.
var (
	number    = pattern.New(`^[0-9+.,-]*$`)
	wordAfter = pattern.New(`^[ \t]+([A-Za-z]+)`)
)

// isCount reports a number with a unit: "Password: 8-64 characters".
func isCount(s string, to int, v string) bool {
	unit := wordAfter.FindStringSubmatch(s[to:])
	return unit != nil && units[strings.ToLower(unit[1])] && number.MatchString(v)
}

// units is the set of such units.
var units = words.Set("character characters chars bytes bits digits letters words minutes hours days seconds weeks " +
	"times tokens or to and per")

// Parts of expressions.
var (
	// memberPath matches an identifier or a path of members such as cfg.db?.Token or a!.b, without
	// digits; random values nearly always have some. A dot at the end is not part of it.
	memberPath = pattern.New(`^[A-Za-z_]+(?:(?:[?!]?\.|::|->)[A-Za-z_]+)*`)
	// callPath matches the call of a function with digits in its name, and an element of a variable.
	callPath = pattern.New(`^(?:[A-Za-z_]\w*(?:(?:\.|::|->)\w+)+\(|\$\w+(?:\[|->|::))`)
	// typeEnds matches what follows a type in a declaration: token: string = …, token: string | null,
	// token: string;
	typeEnds = pattern.New(`^(?: [=|}]|[;,)<])`)
)

// codeReference reports an expression that refers to a value: a call, a member, an index, a
// variable. In code, a secret itself is in quotes, and an expression is not.
func codeReference(s string, from, to int, b bareContext) bool {
	v := strings.TrimLeft(s[from:to], "&*!")
	path, next := memberPath.FindString(v), s[to:min(len(s), to+1)]
	if near := s[from:min(len(s), to+1)]; strings.ContainsAny(near, "([>:") && callPath.MatchString(near) {
		return true
	}
	if path == "" {
		return false
	}
	if from >= 2 && (s[from-2:from] == "=`" && next == " " || s[from-1] == '*' && blank[s[from-2]] &&
		v[len(v)-1] != '*') {
		return true // the output of a command, a YAML alias, a pointer in C
	}
	inCall := callBegins.MatchString(b.before)
	switch {
	case len(path) < len(v): // f(…), m[…], and a generic type
		return v[len(path)] == '(' || v[len(path)] == '['
	case len(path) > 2 && path[1] == '.' && letter[path[0]] && len(path) == len(v): // a member of a variable in minified code
		return true
	case strings.Contains(path, "."): // cfg.Token: a dot alone also occurs in passwords, so the context decides
		return b.spaced || inCall || memberOwners[strings.ToLower(v[:span(v, 0, word)])] || SecretName(v)
	case next == "(" || next == "[": // the arguments begin with a quote, where the value ended
		return true
	case b.assigned || declares.MatchString(b.before), inCall && (next == "," || next == ")"):
		return true
	case b.equals:
		return b.spaced && next == ";"
	}
	return !b.quoted && typeEnds.MatchString(s[to:])
}

// memberOwners is the set of variables whose members usually hold configuration or secrets in code.
var memberOwners = words.Set(
	"self this process os req request cfg config conf settings opts options args env ctx flags form " +
		"params props state data secrets vars local module environ event res response")
