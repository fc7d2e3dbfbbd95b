package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/redact/forms"
	"github.com/waybill/waybill/durable/redact/words"
)

// Commands and lines of settings that hold a secret at a fixed place, without a name beside it.

// commandLine schedules the secret of the line of one of these forms that begins at i, and reports whether there is one.
func commandLine(sc *scanner, i int, lines []*words.Line) bool {
	s := sc.text
	for _, l := range lines {
		if !hasFold(s[i:], l.Word) {
			continue
		}
		m := l.Begins.FindString(s[i:min(len(s), i+2*sentenceMax)])
		countReads(len(m) + 1)
		if m == "" {
			continue
		}
		from := i + len(m)
		open := openQuote(s, from)
		to := span(s[:min(len(s), from+classifiedMax)], from+open, argumentByte)
		if l.Word == "WIFI" {
			to = from + strings.IndexByte(s[from:min(len(s), from+nameMax)]+";", ';')
		}
		from += open
		v := s[from:min(to, from+classifiedMax)]
		if len(v) < 5 || len(v) >= classifiedMax-1 || strings.Contains(v, markerStart) || words.NonValue(v) || v[0] == '-' || v[0] == '$' || strings.ContainsAny(v, "<>(){}") ||
			l.Stated && !words.Stated(v) || l.Last != nil && !l.Last.MatchString(s[to:min(len(s), to+2*sentenceMax)]) {
			continue
		}
		sc.schedule(from, to, NamedSecret)
		return true
	}
	return false
}

// argumentByte is the class of the bytes of such a secret.
var argumentByte = visibleBut("\"'`|;")

// ascii is the class of the bytes with which such a secret begins.
var ascii = func() *class {
	c := *visibleBut("")
	for b := 0x80; b < len(c); b++ {
		c[b] = false
	}
	return &c
}()

// foreignSentence schedules the secret behind a noun of another language whose bytes at i are rare, and a verb.
func foreignSentence(sc *scanner, i int) {
	s := sc.text
	for _, n := range words.ForeignNouns[s[i:i+2]] {
		from := i - n.At
		to := from + len(n.Noun)
		if from < 0 || to >= len(s) || !strings.EqualFold(s[from:to], n.Noun) {
			continue
		}
		m := words.StatedBy.FindString(s[to:min(len(s), to+escapeMax)])
		if from := to + len(m); m != "" && span(s[:min(len(s), from+shortest)], from, ascii) >= min(len(s), from+shortest-2) {
			sc.label(from, shortest-2)
		}
		return
	}
}

// parameterValueFlag schedules the value of the flag that ends before i of a command that stores a secret.
func parameterValueFlag(sc *scanner, i, end int) bool {
	s := sc.text
	before := s[max(0, i-sentenceMax):i]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	countReads(len(before))
	near := s[end:min(len(s), end+sentenceMax)]
	if n := strings.IndexByte(near, '\n'); n >= 0 {
		near = near[:n]
	}
	if !strings.Contains(before, "put-parameter") || !strings.Contains(before+near, "SecureString") {
		return false
	}
	from, _ := argument(s, end)
	if from == end || from >= len(s) {
		return false
	}
	from, to, _ := sc.argumentAt(from)
	if to <= from || words.NonValue(s[from:to]) {
		return false
	}
	sc.schedule(from, to, NamedSecret)
	return true
}

// requestKey reads the header Key of an HTTP request: a key behind other headers.
func requestKey(sc *scanner, i int, n nameContext) int {
	s := sc.text
	from := span(s, i+1, blank)
	to := span(s, from, dashed)
	v := s[from:min(to, from+keyMax)]
	if !strings.HasSuffix(n.before, "\n") && !strings.HasSuffix(n.before, "\\n") || len(v) < 20 || !forms.Scattered.Match(v) && !words.HexKey.MatchString(v) {
		return 0
	}
	near := s[max(0, i-2*sentenceMax):i]
	if countReads(len(near)); !strings.Contains(near, " HTTP/") && !strings.Contains(near, "\nHost:") {
		return 0
	}
	return sc.take(from, to)
}
