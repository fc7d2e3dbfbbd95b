package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/forms"
	"github.com/waybill/waybill/durable/redact/words"
)

// White space and Markdown emphasis between a name and its value: **Password:** `x`. In JSON and
// YAML, the value may be on a further line.
var (
	gap       = classOf(" \t*`")
	quotedGap = classOf(" \t*`\r\n")
)

// markup matches tags of HTML between a name and its value.
var markup = pattern.New(`^(?:</?(?:b|strong|em|i|code|tt|kbd|span|p|td|th|dd|dt)>[ \t]*){1,3}`)

// typeName matches a type and an equals sign: an identifier, possibly qualified, generic, an array,
// a pointer or optional.
var typeName = pattern.New(`^(?:&'static )?[\w.>\[\]?&][\w.<>\[\]?&]{0,63}[ \t]*=[ \t]*`)

// named returns the value that follows the colon or equals sign at i, behind the secret name n. It
// returns 0, 0 where there is no secret to replace.
func (sc *scanner) named(i int, n nameContext) (from, to int) {
	s := sc.text
	from = i + 1
	sign := s[i:min(len(s), i+2)]
	switch sign {
	case "==", "::": // a comparison, or a qualified name
		return 0, 0
	case ":?", ":+": // ${NAME:?message}
		if strings.HasSuffix(n.before, "${") {
			return 0, 0
		}
	case "=>", ":=":
		from++
	}
	if k := len(n.before); s[i] == ':' && k > 1 && n.before[k-1] == ':' && alnum[n.before[k-2]] { // a part of a resource name
		return 0, 0
	}
	if n.definesType() || strings.HasPrefix(s[i:], ":'") && s[i-1] == ' ' { // a type, or a variable in SQL
		return 0, 0
	}
	if n.name == "PWD" && !n.quoted && !strings.HasSuffix(strings.TrimRight(n.before, " "), ";") {
		return 0, 0 // the working directory of a shell
	}
	b := bareContext{nameContext: n, assigned: sign == ":=", equals: sign == ":=" || s[i] == '='}
	between := gap
	if n.quoted {
		between = quotedGap
	}
	if from, to := rawText(s, from); b.equals && to > 0 {
		return from, to
	}
	presented := span(s, from, between)
	if presented < len(s) && s[presented] == '<' { // <b>Password:</b> x
		presented += len(markup.FindString(s[presented:min(len(s), presented+escapeMax)]))
	}
	b.spaced = presented > from
	from = scheme(s, presented)
	b.schemed = from > presented
	if m := literalPrefix.FindString(s[from:min(len(s), from+3)]); m != "" {
		if from += len(m); openQuote(s, from-1) > 0 {
			from--
		}
	}
	if n.quoted || b.spaced || s[i] == '=' {
		from += len(continuedValue.FindString(s[from:min(len(s), from+escapeMax)]))
	}
	if strings.HasPrefix(s[from:], htmlQuote) {
		from += len(htmlQuote)
		if n := strings.Index(s[from:min(len(s), from+classifiedMax)], htmlQuote); n > 0 && words.Stated(s[from:from+n]) {
			return from, from + n
		}
		return 0, 0
	}
	if open := openQuote(s, from); open > 0 {
		if strings.EqualFold(n.name, "accesskey") && from+open+1 < len(s) && openQuote(s, from+open+1) > 0 {
			return 0, 0 // the letter of a shortcut in HTML
		}
		if strings.HasPrefix(s[from+open:], pemBegin) {
			return 0, 0 // read as a private key
		}
		return quoted(s, from, open)
	}
	if n.index { // a value without quotes is an expression
		return 0, 0
	}
	// In password: str = "x" the value is behind the type, so it is only scheduled here.
	if !b.equals && !b.schemed {
		typed := from + len(typeAt(s[from:min(len(s), from+2*nameMax)]))
		if open := openQuote(s, typed); open > 0 {
			from, to := quoted(s, typed, open)
			sc.schedule(from, to, NamedSecret)
			return 0, 0
		}
		if typed > from && strings.HasPrefix(s[typed:], "`") {
			behind(sc, typed, shortest)
			return 0, 0
		}
	}
	return sc.bare(from, b)
}

// typeAt returns the type and the equals sign with which a text begins. The padding of base64 is no such sign.
func typeAt(s string) string {
	v := typeName.FindString(s)
	if len(v) > 16 && forms.Mixed.Match(v) && strings.HasSuffix(v, "=") && words.StrongRun(v) {
		return ""
	}
	return v
}

// rawText returns the secret between backticks behind i, as in Go and JavaScript, and 0, 0 where there is none.
func rawText(s string, i int) (from, to int) {
	if i = span(s, i, blank); i == len(s) || s[i] != '`' {
		return 0, 0
	}
	to, _ = words.QuotedWord(s, i)
	v := s[i+1 : max(to, i+1)]
	if len(v) < 2*shortest || strings.ContainsAny(v, " ${}()<>") || words.NonValue(v) || SecretName(v) || !innerUpper(v) && !words.Stated(v) ||
		strings.Contains(v, markerStart) {
		return 0, 0
	}
	return i + 1, to
}

// htmlQuote is a quote in HTML.
const htmlQuote = "&quot;"

var (
	// literalPrefix matches what precedes the quote of a literal: bytes in Python, a verbatim string in C#, text in SQL.
	literalPrefix = pattern.New(`^(?:(?:[brfuBRFUN]{1,2}|@)["']|qq?[{(\[]|\[\[)`)
	// continuedValue matches the end of a line before its value, as in a shell and in YAML, and an object with it.
	continuedValue = pattern.New(`^(?:(?:\\|[>|][+-]?)\r*\n[ \t]+|\{\s{0,16}"value"\s{0,4}:\s{0,4})`)
)

// scheme skips an authentication scheme such as Bearer, which precedes the credential.
func scheme(s string, i int) int {
	if i >= len(s) || strings.IndexByte("bBtTdDaAgGsS", s[i]) < 0 {
		return i
	}
	for _, w := range []string{"Bearer ", "Basic ", "Token ", "Digest ", "ApiKey ", "GenieKey ", "SSWS ", "Splunk "} {
		if s[i]|' ' == w[0]|' ' && hasFold(s[i:], w) {
			return len(s) - len(strings.TrimLeft(s[i+len(w):], " "))
		}
	}
	return i
}

// openQuote returns the length of the quote at i, including the backslashes that escape it inside
// another quoted text; 0 where there is no quote.
func openQuote(s string, i int) int {
	for n := range 4 {
		switch {
		case i+n == len(s):
			return 0
		case s[i+n] == '"' || s[i+n] == '\'':
			return n + 1
		case s[i+n] != '\\':
			return 0
		}
	}
	return 0
}

// closeQuote returns where the quoted text that begins at from ends; open is the length of its
// opening quote. whole is false where the line ends before a closing quote.
func closeQuote(s string, from, open int) (to int, whole bool) {
	quote := s[from-1 : from]
	for to = from; ; to++ {
		n := strings.IndexAny(s[to:], quote+"\n")
		if n < 0 {
			n = len(s) - to
		}
		countReads(n + 1)
		if to += n; to == len(s) || s[to] == '\n' {
			return to, false
		}
		// The closing quote has the same number of backslashes as the opening one.
		slashes := to - from - len(strings.TrimRight(s[from:to], `\`))
		countReads(slashes)
		if slashes == open-1 || open > 1 && slashes < open-1 || slashes%2 == 0 && open == 1 {
			return to - slashes*min(1, open-1), true
		}
	}
}

// quoted returns the content of the quotes at i, and the rest of the line where no quote closes
// them. It returns 0, 0 for content that is not a secret.
func quoted(s string, i, open int) (from, to int) {
	from = i + open
	to, whole := closeQuote(s, from, open)
	if credential := scheme(s, from); credential > from && credential < to && s[credential-1] == ' ' {
		from = credential
	}
	in := s[from:to]
	if words.Label(in) || words.Keyword(in) || strings.Trim(in, " .*…•_-") == "" || schemeOnly(in) || strings.Contains(in, markerStart) || words.Placeholder(in) ||
		versionRange.MatchString(in) || otherText.MatchString(in) ||
		continues.MatchString(in) || !whole && endsArgument.MatchString(in) {
		return 0, 0
	}
	return from, to
}

// schemeOnly reports a scheme that code joins with a credential: "Bearer " + token.
func schemeOnly(in string) bool {
	return strings.HasSuffix(in, " ") && scheme(in+"x", 0) == len(in)
}

// otherText matches a comment, a name in a namespace, and characters that are written as escapes.
var otherText = pattern.New(`^(?://(?:$| )|urn:[a-z]|(?:\\\\u[0-9a-fA-F]{4})+$)`)

// versionRange matches the versions that a package needs.
var versionRange = pattern.New(`^[~^<>=]{1,2}[0-9]+(?:\.[0-9]+){0,3}$`)

// The text behind a quote that closes a string which ends in the name, and does not open the value:
// "token=" + token, input("Password: ").
var (
	// continues matches an operator that joins strings, the call of a method, the end of an argument or
	// a statement, the arrow of a map, and a shell operator.
	continues = pattern.New(`(?s)^(?:[ \t]+[+%.&]|[ \t]*(?:[+%.][ \t]|\.[A-Za-z].*\(|` +
		`[,)\]};:](?:[^A-Za-z0-9]|[A-Za-z0-9]?$)|=>|\+[A-Za-z_][\w.()]*[,;)]))`)
	// endsArgument matches the same without a further quote on the line.
	endsArgument = pattern.New(`^[ \t,)\]};:]`)
)

// bareContext describes the context of a value without quotes.
type bareContext struct {
	nameContext
	equals   bool // name=value, not name: value
	assigned bool // name := value
	spaced   bool // white space precedes it
	schemed  bool // a scheme such as Bearer precedes it
}

// bare returns the value without quotes that begins at from, and 0, 0 where it is not a secret.
// Behind a colon the value must look like a secret: in the sentence "the token: is sent" the
// next word is not one.
func (sc *scanner) bare(from int, b bareContext) (_, to int) {
	s := sc.text
	if to = sc.bareEnd(from); to <= from {
		return 0, 0
	}
	if to-from == 4 && strings.ContainsAny(s[from:min(len(s), to+25)], digits) { // an application password of WordPress and Google
		to += len(passwordGroups.FindString(s[to:min(len(s), to+26)]))
	}
	v := s[from:to]
	if len(v) > classifiedMax {
		// No word, path or expression is that long. A secret inside a rejected value is found
		// from the next name in it.
		if b.equals || secretLike(v) {
			return from, to
		}
		return 0, 0
	}
	switch {
	case strings.HasPrefix(s[to:], "..."), words.Label(v), len(v) < 3 && strings.Contains(b.name, ".") && strings.Trim(v, letters) == "", b.reference(s, to, v): // a form, or a name of another value
		return 0, 0
	case b.equals && b.spaced && codeLiteral.MatchString(s[from:min(len(s), from+escapeMax)]), composite.MatchString(v):
		return 0, 0
	case smallNumber.MatchString(v) && (b.spaced || b.quoted), b.equals && strings.HasPrefix(s[to:], ".<"):
		return 0, 0
	case b.spaced && expressionBegins.MatchString(s[from:min(len(s), to+2)]), !b.equals && minified.MatchString(v):
		return 0, 0
	// A description, a word about schemes, the name once more, or an expression.
	case words.NonValue(v), b.schemed && (SecretName(v) || words.SchemeWords.Has(strings.ToLower(v))),
		strings.EqualFold(v, lastName(b.name)), codeReference(s, from, to, b):
		return 0, 0
	// Behind a colon: a structure, a URL, or a number with a unit.
	case !b.equals && (strings.IndexByte("[{&", v[0]) >= 0 && !b.quoted || strings.Contains(v, "://") ||
		words.IsCount(s, to, v)):
		return 0, 0
	case strings.HasSuffix(strings.ToLower(b.name), "authorization") && len(v) < 8 && words.Number.MatchString(v): // a status
		return 0, 0
	// A credential with a scheme that ends the line or the quoted text.
	case b.schemed && (lineEnds.MatchString(s[to:]) || to < len(s) && strings.IndexByte("\"'`", s[to]) >= 0):
		return from, to
	// name=value, a value unlike a word, or a setting that is alone on its line.
	case b.equals, secretLike(v),
		!strings.ContainsAny(v, "/(") && startsLine(b.before) && lineEnds.MatchString(s[to:]):
		return from, to
	}
	return 0, 0
}

var (
	// expressionBegins matches the parameters of a function, the call of one, a command of PowerShell, an
	// element of a map in Perl, and a style variable.
	expressionBegins = pattern.New(`^(?:\([\w, ]*\)? ?=?>?$|\(\w+\) |[A-Za-z_]\w*\([^()]*\)|[A-Za-z_]\w*\([A-Za-z_]\w*\(|` +
		`[A-Z][a-z]+(?:To)?-[A-Z][A-Za-z]+ |\$\w+[{]|--[a-z]+-[a-z-]+)`)
	// codeLiteral matches an address, a composite literal, a conversion, a receive and a variable in code.
	codeLiteral = pattern.New(`^(?:&[A-Za-z_]\w*[.{\[ ,)]|\[\d*\][\w*.]+[{(]|<-\w|[A-Za-z_][\w.]*(?:\{|\[\]\w*\{)|\$\$|` +
		`\(?%[+#]?[A-Za-z]\b|\([A-Za-z_]\w*(?:\.\w+)*\{|-[0-9]+ - iota)`)
	// smallNumber matches a number that is no secret: that of an enumeration, a status, a result.
	smallNumber = pattern.New(`^(?:[0-9]{1,2}|0x[0-9A-Fa-f]{1,4}|-[0-9]{1,5})$`)
	// minified matches the members of an object in minified code.
	minified = pattern.New(`^[A-Za-z_$][\w$]{0,2},[\w$]+:`)
)

// passwordGroups matches the further groups of a password of groups of four.
var passwordGroups = pattern.New(`^(?: [A-Za-z0-9]{4}){3,5}\b`)

// yamlTag matches a tag in YAML that reads a value from elsewhere: !Ref, !vault.
var yamlTag = pattern.New(`^![A-Za-z]+$`)

// reference reports a value that names another one: the name of a secret, a tag, or the number of a
// field in a declaration.
func (b bareContext) reference(s string, to int, v string) bool {
	next := s[to:min(len(s), to+1)]
	switch {
	case next == " " && yamlTag.MatchString(v):
		return true
	case b.equals && b.spaced && words.Number.MatchString(v) && len(v) < 4 && strings.HasPrefix(s[to:], " ["):
		return true // the number of a field with options
	case b.equals && b.spaced && !b.quoted:
		return next == ";" && len(v) < 4 && words.Number.MatchString(v) || SecretName(v) && memberPath.FindString(v) == v
	}
	if (!b.equals && strings.ContainsAny(v, "-_") || strings.HasPrefix(b.name, "--")) && !strings.ContainsAny(v, digits) {
		return SecretName(v)
	}
	return !b.equals && strings.EqualFold(b.name, "token") && strings.Trim(v, capitals+"_") == "" // of a grammar
}

// The bytes of a value without quotes, and what may end it before another byte.
var (
	bareByte = visibleBut("\"'`<>")
	// stopByte is the class of the first bytes of what stops such a value.
	stopByte = classOf("[&;,\\")
	// parameterName is the class of the bytes of the name of a parameter, settingName that of the name
	// in a connection string.
	parameterName = dotted
	settingName   = classOf(letters + digits + "_-. ")
)

// stops reports what ends a value without quotes before the byte at i: a marker, the next parameter
// of a query or of a connection string, and an escaped line end or ampersand.
func stops(s string, i int) bool {
	name := parameterName
	switch s[i] {
	case '[':
		return marker(s[i:]) > 0
	case '\\':
		return strings.HasPrefix(s[i+1:], "n") || strings.HasPrefix(s[i+1:], "r") || strings.HasPrefix(s[i+1:], "u0026")
	case '&':
		if strings.HasPrefix(s[i:], htmlQuote) || strings.HasPrefix(s[i:], "&rdquo;") {
			return true
		}
	case ';':
		name = settingName
	}
	to := span(s[:min(len(s), i+1+nameMax)], i+1, name)
	return to > i+1 && to < len(s) && s[to] == '='
}

// bareEnd returns where the value at from ends: at white space, a quote, the next parameter of a
// query or an escaped line end, and before closing punctuation. It returns from or less for an
// empty value, a placeholder, and a value that contains a marker.
func (sc *scanner) bareEnd(from int) (to int) {
	s := sc.text
	if from < sc.markerEndsBefore || from < len(s) && strings.IndexByte("${*<%#ov", s[from]) >= 0 &&
		words.Template.MatchString(s[from:min(len(s), from+escapeMax)]) {
		return 0
	}
	to = from
	for to < len(s) && bareByte[s[to]] && !(stopByte[s[to]] && stops(s, to)) {
		to++
	}
	countReads(to - from)
	if marker(s[to:]) > 0 {
		sc.markerEndsBefore = to // values that begin later in this run end at the same marker
		return 0
	}
	// An exclamation mark ends more passwords than sentences with one.
	return from + len(strings.TrimRight(s[from:to], ".,;:?)]}\\"))
}

// secretLike reports a value that does not look like a word: it has digits, capitals behind the
// first letter, or signs that sentences do not have.
func secretLike(v string) bool {
	v = strings.TrimRight(v, "!") // of a sentence
	if acronyms.MatchString(v) {
		return false
	}
	return len(v) >= 3 && (strings.ContainsAny(v, "0123456789!@#$%^&*+=_~|:;?[]{}") || innerUpper(v))
}

// acronyms matches several of what capitals name: IVs, APIs.
var acronyms = pattern.New(`^[A-Z]{2,5}s$`)

// lineEnds matches the end of a line with only closing punctuation before it.
var lineEnds = pattern.New("^[ \t\r.,;:!?)\\]}*`\\\\]*(?:\n|\\\\[nr]|$)")

// lastName returns the last member of a dotted name.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
