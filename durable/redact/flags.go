package redact

import "strings"

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
	begin := span(s[:min(len(s), i+2)], i, func(c byte) bool { return c == '-' })
	end := span(s[:min(len(s), begin+nameMax)], begin, dashed)
	if end == begin || !letter(s[begin]) {
		return
	}
	// Short flags and --user take a secret with a few commands only.
	if begin == i+1 || s[begin:end] == "user" || s[begin:end] == "proxy-user" {
		if sc.line.advance(s, i); sc.shortFlag(i, begin, end) {
			return
		}
	}
	if !SecretName(s[begin:end]) {
		return
	}
	from, exec := argument(s, end)
	if from == end || from == len(s) {
		return
	}
	if open := openQuote(s, from); open > 0 {
		// Quotes delimit the value: no further test is needed that it is one.
		from, to := quoted(s, from, open)
		if to > from && s[from] != '-' {
			sc.schedule(from, to, NamedSecret)
		}
		return
	}
	// A value that begins with a hyphen is the next flag; a token of a family is replaced under
	// its own rule when the scan reaches it.
	to, ok := sc.bareEnd(from)
	if !ok || exec || s[from] == '-' || ofFamily(s, from) || !flagValue(s, i, from, to) {
		return
	}
	sc.schedule(from, to, NamedSecret)
}

// argument returns where the value of a flag that ends before i begins: behind white space, or
// behind the "," of an argument list such as ["--password","x"]. exec reports the latter. Without
// a value it returns i.
func argument(s string, i int) (from int, exec bool) {
	if open := openQuote(s, i); open > 0 {
		comma := i + open
		if comma < len(s) && s[comma] == ',' {
			return span(s, comma+1, space), true
		}
		return i, false
	}
	return span(s, i, blank), false
}

// flagValue reports whether s[from:to] is a flag's value, and not the next word of a sentence about
// the flag: it does not look like a word, or its context is a command line.
func flagValue(s string, flag, from, to int) bool {
	v := s[from:to]
	// Help texts show types, upper case placeholders and mount options behind a flag.
	if nonValue(v) || strings.IndexByte("[{(", v[0]) >= 0 || strings.HasPrefix(v, "id=") ||
		strings.HasPrefix(v, "type=") ||
		span(v, 0, func(c byte) bool { return upper(c) || c == '_' || c == '-' }) == len(v) {
		return false
	}
	if secretLike(v) {
		return true
	}
	if sentenceWords[strings.ToLower(v)] {
		return false
	}
	// On a command line, a value is followed by the line's end, a quote, a flag or an operator.
	at := span(s, to, blank)
	follows := at == len(s) || s[at] == '\n' || to == at && strings.IndexByte("\"'`", s[at]) >= 0 || at > to &&
		strings.IndexByte("-\\|&;", s[at]) >= 0
	// The word before the flag must not belong to a sentence or to the usage line of a help text.
	word := flag
	for word > 0 && blank(s[word-1]) {
		word--
	}
	countReads(flag - word)
	begin := word
	for begin > 0 && word-begin < nameMax && !space(s[begin-1]) {
		begin--
	}
	return follows && !sentenceWords[strings.ToLower(s[begin:word])] && !strings.HasSuffix(s[begin:word], "]")
}

// sentenceWords is the set of words that appear before and behind a flag in sentences.
var sentenceWords = wordSet(
	"a an the this that and or with without via by use using uses pass passing passes give gives " +
		"given set sets setting add adds needs need see of to for is are was be no not as in " +
		"flag flags option options argument arguments parameter value again instead now too only " +
		"twice first later does " +
		"takes when then if run it support supports drop remove")

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
		if at := c.pos; !dashed(s[at]) {
			c.pos++
			// The end of a command: line end, pipe, sequence or background.
			if strings.IndexByte("\n|;&", s[at]) >= 0 {
				c.last = ""
			}
			continue
		}
		// Other words are arguments, and leave the last command as it is.
		end := span(s[:i], c.pos, dashed)
		w := s[c.pos:end]
		if c.pos = end; w == "login" && registries[c.last] || shortFlags[w] != "" && w != "login" {
			c.last = w
		} else if registries[w] {
			c.last = w
		}
	}
}

// registries are the commands whose subcommand login takes a password.
var registries = wordSet("docker podman buildah skopeo helm nerdctl")

// shortFlags maps a command to the flag with which it takes a secret: a letter, followed by + where
// white space may separate the flag from its value, or by : where the value is user:password.
var shortFlags = map[string]string{
	"mysql": "p", "mysqldump": "p", "mysqladmin": "p", "mysqlimport": "p", "mariadb": "p",
	"mariadb-dump": "p",
	"sshpass":      "p+", "login": "p+", "mongo": "p+", "mongosh": "p+", "mongodump": "p+", "mongorestore": "p+",
	"redis-cli":  "a+",
	"ldapsearch": "w+", "ldapmodify": "w+", "curl": "u:",
}

// shortFlag schedules the value of a one-letter flag of the last command, and of --user. It reports
// whether it found one.
func (sc *scanner) shortFlag(i, begin, end int) bool {
	s, how := sc.text, shortFlags[sc.line.last]
	// Behind a bracket or a comma the flag is an element of a list, not of a command line.
	if how == "" || strings.IndexByte("(,[", s[max(0, i-1)]) >= 0 {
		return false
	}
	users := strings.HasSuffix(how, ":") // only what follows the colon is the secret
	long := begin == i+2 || end-begin > 1 && s[begin:end] == "user"
	if s[begin] != how[0] && !(users && (s[begin] == 'U' || long)) {
		return false
	}
	// The value follows the letter directly, or white space, or the = of --user=name:password.
	from := begin + 1
	if long {
		from = end
		if from < len(s) && s[from] == '=' {
			from++
		}
	}
	if gapEnd := span(s, from, blank); gapEnd > from {
		if len(how) == 1 {
			return false
		}
		from = gapEnd
	} else if long && s[from-1] != '=' {
		return false
	}
	// The value is quoted, or ends like any value without quotes.
	to, ok := 0, false
	if open := openQuote(s, from); open > 0 {
		from, to = quoted(s, from, open)
		ok = to > from
	} else if to, ok = sc.bareEnd(from); ok {
		ok = s[from] != '-'
	}
	if !ok {
		return false
	}
	if users {
		// Without a colon the command asks for the password; name:// begins a URL.
		colon := strings.IndexByte(s[from:to], ':')
		if colon < 0 || strings.HasPrefix(s[from+colon:to], "://") {
			return false
		}
		from += colon + 1
	}
	if from == to || nonValue(s[from:to]) {
		return false
	}
	sc.schedule(from, to, NamedSecret)
	return true
}
