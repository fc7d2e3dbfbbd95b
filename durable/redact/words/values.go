package words

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
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
	// Template matches the beginning of a template expression or of a reference to a secret manager.
	Template = pattern.New(`^(?:\$[{(]|\{\{|\*\*\*|<%|%\(|#\{|op://|vault://)`)
	// dummy matches <name>, the variables $NAME, $1, $this->token and $env:TOKEN, {name}, a verb of a
	// format string such as %s, and xxx. A password such as $eCret1 is none of them.
	dummy = pattern.New(`^(?:<[^>]*>$|\$(?:[A-Z_]+$|null$|[0-9]$|this-|env:)|` +
		`[{:@]\}?$|\{\d\}?$|[%@]\w+[%@]$|%\d$|&\w+$|ENC\[|__\w+__$|\[[A-Za-z][A-Za-z _-]*\]?$|\{[A-Za-z_.]+\}?$|%[A-Za-z]$|[xX]{3,}$)`)
	// shortcut matches a key of a keyboard with another one.
	shortcut = pattern.New(`^(?i:alt|ctrl|control|shift|cmd|command|option|meta|super)\+\w{1,8}$`)
	// variable matches $name, and the parameters :name and @name of a query.
	variable = pattern.New(`^(?:\$(\w+)|[:@]([A-Za-z_.]+)\}?)$`)
	// Yours matches the beginning of your-password.
	Yours = pattern.New(`^(?i:your)[^A-Za-z]`)
)

// HexKey matches 32 or more hexadecimal digits, and UUID an id.
var (
	HexKey = pattern.New(`^(?:[0-9a-f]{32,}|[0-9A-F]{32,})$`)
	UUID   = pattern.New(`^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// NonValue reports a text that describes or refers to a value and is not a secret itself. The first
// byte of a text, or its length, decides which expressions are tried.
func NonValue(v string) bool {
	if State(strings.ToLower(strings.TrimRight(v, "!"))) || Placeholder(v) || v == "" {
		return true
	}
	return len(v) > 40 && digest.MatchString(v) || strings.IndexByte("./~f", v[0]) >= 0 && filePath.MatchString(v) ||
		strings.ContainsAny(v, `\[.(`) && expression.MatchString(v) || strings.Trim(v, "#{}[]()|<>&*-+?\\,;:.=/…") == "" || v == "!0" || v == "!1" || shortcut.MatchString(v) ||
		strings.HasPrefix(v, "&lt;") || strings.HasPrefix(v, "&#x3C;")
}

// Placeholder reports a template expression, a variable reference, or a dummy such as xxx or
// your-token.
func Placeholder(v string) bool {
	if Dummy(v) {
		return true
	}
	if v == "" || strings.IndexByte("$@:{*<%#[xXyYvo&E_", v[0]) < 0 {
		return false
	}
	name := variable.FindStringSubmatch(v)
	return Template.MatchString(v) || dummy.MatchString(v) || len(v) > len("your-") && Yours.MatchString(v) ||
		name != nil && SecretName(name[1]+name[2])
}
