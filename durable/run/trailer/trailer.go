// Package trailer is the line of a commit message that names a run and the head of its log at that moment
// (docs/design.md#commits). A message is written by people and programs and is untrusted: a trailer in it is a claim, and
// only one that is spelled exactly is read.
//
// The package reads no commit and no log. Start with Find.
package trailer

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// Key is the key of the trailers.
const Key = "Waybill-Run"

// Trailer names a run and the head of its session's log.
type Trailer struct {
	Run  id.Run       `json:"runId"`
	Head canon.Digest `json:"head"` // as 'waybill verify' shows it
}

// String is the trailer as a line, without the line feed.
func (t Trailer) String() string { return Key + ": " + t.Run.String() + " " + t.Head.String() }

// Found is what a message has.
type Found struct {
	// Trailers are in the order of the message, each once: the last limits.CommitTrailersMax of them.
	Trailers []Trailer
	// Omitted is the number of trailers before them. Malformed counts lines that have the key and are no trailer.
	Omitted, Malformed int
}

// Find returns the trailers of a message: every line that begins with the key, also above the last paragraph, where they
// are after several messages were joined.
func Find(message string) (out Found) {
	seen := map[Trailer]bool{}
	for line := range strings.Lines(message) {
		rest, ok := cutKey(line)
		if !ok {
			continue
		}
		t, ok := parse(rest)
		switch {
		case !ok:
			out.Malformed++
		case !seen[t]:
			seen[t] = true
			out.Trailers = append(out.Trailers, t)
		}
	}
	out.Omitted = max(0, len(out.Trailers)-limits.CommitTrailersMax)
	out.Trailers = out.Trailers[out.Omitted:]
	return out
}

// cutKey returns what follows the key and its colon. As for git, the case of the key does not matter, and blanks may be in
// front of the colon.
func cutKey(line string) (rest string, ok bool) {
	if len(line) < len(Key) || !strings.EqualFold(line[:len(Key)], Key) {
		return "", false
	}
	return strings.CutPrefix(strings.TrimLeft(line[len(Key):], " \t"), ":")
}

// parse reads the value of a trailer: the two ids and blanks.
func parse(value string) (t Trailer, ok bool) {
	words := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) })
	if len(words) != 2 {
		return t, false
	}
	var errRun, errHead error
	t.Run, errRun = id.ParseRun(words[0])
	t.Head, errHead = canon.ParseDigest(words[1])
	return t, errRun == nil && errHead == nil
}
