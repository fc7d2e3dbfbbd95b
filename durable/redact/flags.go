package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/words"
)

// flag schedules the argument of a command line flag whose name is a secret's, such as
// --password hunter2, or with which a known command takes a secret, such as mysql -p. Flags with
// an equals sign are found by named.
func (sc *scanner) flag(i int) {
	s := sc.text
	// A flag begins at white space, a quote or an opening bracket; other hyphens join words.
	if i > 0 && strings.IndexByte(" \t\n\"'`(,[", s[i-1]) < 0 {
		return
	}
	// One or two hyphens, then the name.
	begin := i + 1
	if strings.HasPrefix(s[begin:], "-") {
		begin++
	}
	end := span(s[:min(len(s), begin+nameMax)], begin, dashed)
	if end == begin || !letter[s[begin]] {
		return
	}
	// Short flags and --user take a secret with a few commands only.
	if name := s[begin:end]; begin == i+1 || name == "user" || name == "proxy-user" || name == "auth" {
		if sc.line.advance(s, i); sc.shortFlag(i, name) {
			return
		}
	}
	if name := s[begin:end]; name == "cookie" || name == "b" && sc.line.last == "curl" {
		// The cookies of a request, as in its header; a file has no equals sign.
		if at := span(s, end, blank); openQuote(s, at) > 0 && sc.cookieList(at+openQuote(s, at), true) > 0 {
			return
		}
	}
	if s[begin:end] == "value" && parameterValueFlag(sc, i, end) {
		return
	}
	secret := SecretName(s[begin:end]) || s[begin:end] == "secret-string"
	if key, _ := words.KeyName(s[begin:end]); !secret && !key {
		return
	}
	from, exec := argument(s, end)
	if from == end || from == len(s) {
		return
	}
	// A value that begins with a hyphen is the next flag. Quotes delimit a value: no further test is
	// needed that it is one. A token is replaced under its own rule when the scan reaches it.
	from, to, inQuotes := sc.argumentAt(from)
	if to <= from || s[from] == '-' || !inQuotes && (exec || isToken(s, from) || secret && !flagValue(s, i, from, to)) ||
		!secret && !keyValue(s[begin:end], s[from:min(to, from+classifiedMax)]) {
		return
	}
	sc.schedule(from, to, NamedSecret)
}

// argument returns where the value of a flag that ends before i begins: behind white space, or
// behind the "," of an argument list such as ["--password","x"]. exec reports the latter. Without
// a value it returns i.
func argument(s string, i int) (from int, exec bool) {
	open := openQuote(s, i)
	switch {
	case open == 0:
		return span(s, i, blank), false
	case strings.HasPrefix(s[i+open:], ","):
		return span(s, i+open+1, space), true
	}
	return i, false
}

// argumentAt returns the content of the quotes at i, or the value without quotes that begins there;
// to is from or less where there is none.
func (sc *scanner) argumentAt(i int) (from, to int, inQuotes bool) {
	if open := openQuote(sc.text, i); open > 0 {
		from, to = quoted(sc.text, i, open)
		return from, to, true
	}
	return i, sc.bareEnd(i), false
}

var (
	// usage matches the types, upper case placeholders and mount options that help texts show behind
	// a flag.
	usage = pattern.New(`^(?:[\[{(]|id=|type=|[A-Z_-]+$)`)
	// valueFollows matches what follows a value on a command line: the end of the line, a quote, a flag
	// or an operator.
	valueFollows = pattern.New("^(?:$|[\n\"'`]|[ \t]+(?:$|[\n\\\\|&;-]))")
)

// flagValue reports whether s[from:to] is a flag's value, and not the next word of a sentence about
// the flag: it does not look like a word, or its context is a command line.
func flagValue(s string, flag, from, to int) bool {
	v := s[from:to]
	if words.NonValue(v) || usage.MatchString(v) {
		return false
	}
	if secretLike(v) {
		return true
	}
	// The word before the flag must not belong to a sentence or to the usage line of a help text.
	before := strings.TrimRight(s[:flag], " \t")
	countReads(flag - len(before))
	before = before[max(0, len(before)-nameMax):]
	before = before[strings.LastIndexAny(before, " \t\n\r")+1:]
	return valueFollows.MatchString(s[to:]) && !words.Sentence(strings.ToLower(v)) &&
		!words.Sentence(strings.ToLower(before)) && !strings.HasSuffix(before, "]")
}

// command tracks the last known command name on a command line, up to a separator such as a pipe.
// The text is read once from left to right. Markers and the secrets they replace are skipped, so
// that redacting a redacted text finds the same commands.
type command struct {
	pos  int    // the text before it was read
	last string // a name in shortFlags or registries, "" behind a separator
}

// advance reads the text up to offset i.
func (c *command) advance(s string, i int) {
	for c.pos < i {
		end := span(s[:i], c.pos, dashed)
		switch w := s[c.pos:end]; {
		case w == "":
			// The end of a command: line end, pipe, sequence or background.
			if strings.IndexByte("\n|;&", s[c.pos]) >= 0 {
				c.last = ""
			}
			end++
		case w == "login" && !registries.Has(c.last):
		case registries.Has(w) || shortFlags[w] != nil:
			c.last = w // other words are arguments
		}
		c.pos = end
	}
}

// registries are the commands whose subcommand login takes a password.
var registries = words.Set("docker podman buildah skopeo helm nerdctl")

// longGap matches what separates a long flag from its value.
const longGap = `(?:=[ \t]*|[ \t]+)`

// passwordFlag is a flag whose value is a password. begins matches the flag and what separates it
// from the value.
type passwordFlag struct {
	begins *pattern.Pattern
	user   bool // the value is user:password
}

var (
	joinedP  = &passwordFlag{begins: pattern.New(`^(?:-p|--proxy-user=)`)}
	flagP    = &passwordFlag{begins: pattern.New(`^(?:-p[ \t]*|--proxy-user` + longGap + `)`)}
	flagA    = &passwordFlag{begins: pattern.New(`^-a[ \t]*`)}
	flagBigP = &passwordFlag{begins: pattern.New(`^-P[ \t]*`)}
	flagAuth = &passwordFlag{user: true, begins: pattern.New(`^(?:--auth|-a)` + longGap)}
	flagK    = &passwordFlag{begins: pattern.New(`^-k[ \t]+`)}
	flagW    = &passwordFlag{begins: pattern.New(`^-w[ \t]*`)}
	flagU    = &passwordFlag{user: true,
		begins: pattern.New(`^(?:(?:--?user|--proxy-user)` + longGap + `|-[uU][ \t]*)`)}
)

// shortFlags maps a command to the flag with which it takes a secret. White space may separate the
// flag from its value except where it is joinedP.
var shortFlags = map[string]*passwordFlag{
	"mysql": joinedP, "mysqldump": joinedP, "mysqladmin": joinedP, "mysqlimport": joinedP, "mariadb": joinedP,
	"mariadb-dump": joinedP,
	"sshpass":      flagP, "login": flagP, "mongo": flagP, "mongosh": flagP, "mongodump": flagP, "mongorestore": flagP,
	"redis-cli": flagA, "sqlcmd": flagBigP, "unzip": flagBigP, "zip": flagBigP, "az": flagP, "7z": joinedP, "http": flagAuth, "openssl": flagK,
	"ldapsearch": flagW, "ldapmodify": flagW, "curl": flagU,
}

// shortFlag schedules the value of the flag at i, of a name of one letter or --user, if the last
// command takes a secret with it. It reports whether it found one.
func (sc *scanner) shortFlag(i int, name string) bool {
	s, flag := sc.text, shortFlags[sc.line.last]
	// Behind a bracket or a comma the flag is an element of a list, not of a command line.
	if flag == nil || strings.IndexByte("(,[", s[max(0, i-1)]) >= 0 {
		return false
	}
	begin := flag.begins.FindString(s[i:])
	from := i + len(begin)
	if begin == "" || begin == "-u" && name == "user" || span(s, from, blank) > from {
		return false
	}
	// The value is quoted, or ends like any value without quotes.
	from, to, inQuotes := sc.argumentAt(from)
	if to <= from || !inQuotes && s[from] == '-' {
		return false
	}
	if flag.user {
		// Without a colon the command asks for the password; name:// begins a URL.
		colon := strings.IndexByte(s[from:to], ':')
		if colon < 0 || strings.HasPrefix(s[from+colon:to], "://") {
			return false
		}
		from += colon + 1
	}
	if from == to || words.NonValue(s[from:to]) {
		return false
	}
	sc.schedule(from, to, NamedSecret)
	return true
}
