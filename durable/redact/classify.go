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
	callPath = pattern.New(`^(?:[A-Za-z_]\w*(?:(?:\.|::|->)\w+)+[(\[]|\$\w+(?:\[|->|::))`)
	// typeEnds matches what follows a type in a declaration: token: string = …, token: string | null,
	// token: string;
	typeEnds = pattern.New(`^(?: [=|}]|[;,)<}])`)
	// identifier matches a name in code, and members an element of an object in code.
	identifier = pattern.New(`^[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*$`)
	// composite matches the beginning of a composite literal: Token{ and schema.Attribute{
	composite = pattern.New(`^[&*]?(?:\w+\.)*[A-Z]\w*\{`)
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
	if b.inCode(v, next) {
		return true
	}
	if from >= 2 && (s[from-2:from] == "=`" && next == " " || s[from-1] == '*' && blank[s[from-2]] &&
		v[len(v)-1] != '*') {
		return true // the output of a command, a YAML alias, a pointer in C
	}
	inCall := b.endsIn("(") && callBegins.MatchString(b.before)
	switch {
	case len(path) < len(v): // f(…), m[…], a generic type, and s.secret;break in minified code
		return v[len(path)] == '(' || v[len(path)] == '[' || v[len(path)] == ';' && strings.Contains(path, ".") && SecretName(path)
	case len(path) > 2 && path[1] == '.' && letter[path[0]] && len(path) == len(v): // a member of a variable in minified code
		return true
	case strings.Contains(path, "."): // cfg.Token: a dot alone also occurs in passwords, so the context decides
		return b.spaced || inCall || words.MemberOwners.Has(strings.ToLower(v[:span(v, 0, word)])) || SecretName(v)
	case next == "(" || next == "[": // the arguments begin with a quote, where the value ended
		return true
	case b.assigned || b.declared(), inCall && (next == "," || next == ")"):
		return true
	case b.equals:
		return b.spaced && next == ";"
	}
	return !b.quoted && typeEnds.MatchString(s[to:])
}

// inCode reports an identifier that is the value of a member, a variable or a field in code, where a secret
// would be in quotes: x.secret = y, {PrivateKey: testPrivateKey}.
func (b bareContext) inCode(v, next string) bool {
	if len(v) > nameMax || span(v, 0, memberByte) < len(v) || !identifier.MatchString(v) {
		return false
	}
	noDigits := !strings.ContainsAny(v, digits)
	switch {
	case b.isType():
		return true
	case b.equals && b.spaced:
		return noDigits && (words.Variable.Has(v) || len(v) <= 2) ||
			SecretName(v) && (strings.Contains(v, ".") || innerUpper(v) && sameEnd(b.name, v))
	case !b.equals && b.quoted: // no document: a word of JSON is in quotes
		return noDigits && next == "," && innerUpper(v)
	}
	return !b.equals && next != "" && strings.Contains(",;)}", next) && innerUpper(v) && SecretName(v) && sameEnd(b.name, v)
}

// memberByte is the class of the bytes of an identifier and of what joins members.
var memberByte = classOf(letters + digits + "_.:->")

// declared reports a name that a keyword declares, and isType one that is the type of a declared variable:
// var x Token = y.
func (n nameContext) declared() bool {
	w, _ := words.Last(n.before)
	return n.endsIn(" ") && words.Declares(w)
}

func (n nameContext) definesType() bool {
	w, _ := words.Last(n.before)
	return n.endsIn(" ") && words.TypeKeyword(w)
}

func (n nameContext) isType() bool {
	name, before := words.Last(strings.TrimRight(n.before, "*0123456789 "))
	keyword, _ := words.Last(before)
	return name != "" && strings.TrimRight(n.before, "* ") != n.before && strings.HasSuffix(before, " ") && (keyword == "var" || keyword == "let" || keyword == "const")
}

// endsIn reports what is directly before the name.
func (n nameContext) endsIn(sign string) bool { return strings.HasSuffix(n.before, sign) }

// sameEnd reports two names that end in the same word, as PrivateKey and testPrivateKey do.
func sameEnd(name, v string) bool {
	name = strings.ToLower(lastName(name))
	return strings.HasSuffix(strings.ToLower(v), name[max(0, len(name)-len("key")):])
}
