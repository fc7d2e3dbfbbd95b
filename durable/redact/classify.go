package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/words"
)

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
		return b.spaced || inCall || words.MemberOwners[strings.ToLower(v[:span(v, 0, word)])] || SecretName(v)
	case next == "(" || next == "[": // the arguments begin with a quote, where the value ended
		return true
	case b.assigned || declares.MatchString(b.before), inCall && (next == "," || next == ")"):
		return true
	case b.equals:
		return b.spaced && next == ";"
	}
	return !b.quoted && typeEnds.MatchString(s[to:])
}
