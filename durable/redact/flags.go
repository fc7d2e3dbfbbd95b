package redact

import "strings"

// flag takes out what follows a flag that is named for a secret, --password hunter2, or
// that a known command takes one behind, -p. What has an equals sign is named.
func (sc *scanner) flag(i int) {
	s := sc.text
	if i > 0 && strings.IndexByte(" \t\n\"'`(,[", s[i-1]) < 0 {
		return
	}
	begin := span(s[:min(len(s), i+2)], i, func(c byte) bool { return c == '-' })
	end := span(s[:min(len(s), begin+nameMax)], begin, dashed)
	if end == begin || !letter(s[begin]) {
		return
	}
	if begin == i+1 || s[begin:end] == "user" || s[begin:end] == "proxy-user" {
		if sc.line.reach(s, i); sc.short(i, begin, end) {
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
	if open := opening(s, from); open > 0 {
		from, to := quoted(s, from, open)
		if to > from && s[from] != '-' {
			sc.later(from, to, NamedSecret)
		}
		return
	}
	to, ok := sc.bareEnd(from)
	if !ok || exec || s[from] == '-' || ofFamily(s, from) || !argued(s, i, from, to) {
		return
	}
	sc.later(from, to, NamedSecret)
}

// argument is where the value of a flag begins that ends before i: behind a space, or
// behind the "," of a list. exec says that it is the latter.
func argument(s string, i int) (from int, exec bool) {
	if open := opening(s, i); open > 0 {
		comma := i + open
		if comma < len(s) && s[comma] == ',' {
			return span(s, comma+1, space), true
		}
		return i, false
	}
	return span(s, i, blank), false
}

// argued reports a value of a flag, and not the next word of a sentence about the flag:
// it is no word, or what stands around it is a command.
func argued(s string, flag, from, to int) bool {
	v := s[from:to]
	if noValue(v) || strings.IndexByte("[{(", v[0]) >= 0 || strings.HasPrefix(v, "id=") ||
		strings.HasPrefix(v, "type=") ||
		span(v, 0, func(c byte) bool { return upper(c) || c == '_' || c == '-' }) == len(v) {
		return false
	}
	if telling(v) {
		return true
	}
	if said[strings.ToLower(v)] {
		return false
	}
	at := span(s, to, blank)
	follows := at == len(s) || s[at] == '\n' || to == at && strings.IndexByte("\"'`", s[at]) >= 0 || at > to &&
		strings.IndexByte("-\\|&;", s[at]) >= 0
	word := flag
	for word > 0 && blank(s[word-1]) {
		word--
	}
	look(flag - word)
	begin := word
	for begin > 0 && word-begin < nameMax && !space(s[begin-1]) {
		begin--
	}
	return follows && !said[strings.ToLower(s[begin:word])] && !strings.HasSuffix(s[begin:word], "]")
}

// said are the words around a flag in sentences.
var said = wordSet("a an the this that and or with without via by use using uses pass passing passes give gives " +
	"given set sets setting add adds needs need see of to for is are was be no not as in " +
	"flag flags option options argument arguments parameter value again instead now too only twice first later does " +
	"takes when then if run it support supports drop remove")

// command is what is called on a line: which commands stand before a place, back to the
// sign that parts it from others. It is read once from left to right, and markers and
// what they stand for are passed over, so that the second time gives the same.
type command struct {
	pos  int // text before it was read
	last string
}

// reach reads on to i.
func (c *command) reach(s string, i int) {
	for c.pos < i {
		if at := c.pos; !dashed(s[at]) {
			c.pos++
			if strings.IndexByte("\n|;&", s[at]) >= 0 {
				c.last = ""
			}
			continue
		}
		end := span(s[:i], c.pos, dashed)
		w := s[c.pos:end]
		if c.pos = end; w == "login" && registries[c.last] || shorts[w] != "" && w != "login" {
			c.last = w
		} else if registries[w] {
			c.last = w
		}
	}
}

var registries = wordSet("docker podman buildah skopeo helm nerdctl")

// shorts says by which flags a command takes a secret: a letter, and + where it may
// stand apart from its value, : where the value is user:password.
var shorts = map[string]string{"mysql": "p", "mysqldump": "p", "mysqladmin": "p", "mysqlimport": "p", "mariadb": "p",
	"mariadb-dump": "p",
	"sshpass":      "p+", "login": "p+", "mongo": "p+", "mongosh": "p+", "mongodump": "p+", "mongorestore": "p+",
	"redis-cli":  "a+",
	"ldapsearch": "w+", "ldapmodify": "w+", "curl": "u:"}

// short takes out what stands behind a flag of one letter.
func (sc *scanner) short(i, begin, end int) bool {
	s, how := sc.text, shorts[sc.line.last]
	if how == "" || strings.IndexByte("(,[", s[max(0, i-1)]) >= 0 {
		return false
	}
	users := strings.HasSuffix(how, ":")
	long := begin == i+2 || end-begin > 1 && s[begin:end] == "user"
	if s[begin] != how[0] && !(users && (s[begin] == 'U' || long)) {
		return false
	}
	from := begin + 1
	if long {
		from = end
		if from < len(s) && s[from] == '=' {
			from++
		}
	}
	if apart := span(s, from, blank); apart > from {
		if len(how) == 1 {
			return false
		}
		from = apart
	} else if long && s[from-1] != '=' {
		return false
	}
	to, ok := 0, false
	if open := opening(s, from); open > 0 {
		from, to = quoted(s, from, open)
		ok = to > from
	} else if to, ok = sc.bareEnd(from); ok {
		ok = s[from] != '-'
	}
	if !ok {
		return false
	}
	if users {
		colon := strings.IndexByte(s[from:to], ':')
		if colon < 0 || strings.HasPrefix(s[from+colon:to], "://") {
			return false
		}
		from += colon + 1
	}
	if from == to || noValue(s[from:to]) {
		return false
	}
	sc.later(from, to, NamedSecret)
	return true
}
