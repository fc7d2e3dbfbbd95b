package rewrite

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// OpaqueLine is one line of a side log, without its newline, for the new session. What
// the lines of its table mean need not be known: each text that is an id of this
// session, whole, is replaced by what became of it, wherever it stands; so is each such id
// in the dedupeKey, from which the eventId follows. Lines are handed in behind all
// segments of the events, and in their order, since they may name each other; each was
// foreseen. An error says that the line is no event, or was not foreseen.
//
// Traces, changes of preferences, contexts, observations and divergences are not told
// apart here: nothing names them but the event that brings them.
func (r *Renaming) OpaqueLine(line []byte) ([]byte, error) {
	v, err := lineOf(line)
	if err != nil {
		return nil, err
	}
	r.events.turn()
	out, key := rewriteLine(v, r.text)
	if key != "" {
		out = r.eventOf(out, v, key)
	}
	if r.unforeseen != nil {
		return nil, r.unforeseen
	}
	b, err := out.AppendJCS(nil)
	if err == nil && len(b) >= limits.LineBytesMax {
		err = fmt.Errorf("rewrite: a line of %d bytes: want less than %d", len(b), limits.LineBytesMax)
	}
	return b, err
}

func lineOf(line []byte) (canon.Value, error) {
	v, err := canon.Parse(line)
	if err == nil && v.Kind() != canon.Object {
		err = fmt.Errorf("rewrite: a line of a side log is %s: want an object", v.Kind())
	}
	return v, err
}

// rewriteLine is v with f of each text and of each part of the dedupeKey, which is ""
// where the line has none.
func rewriteLine(v canon.Value, f func(string) string) (out canon.Value, key string) {
	out = mapTexts(v, f)
	if was, ok := v.Get("dedupeKey"); ok && was.Kind() == canon.String {
		key = mapKey(was.Text(), f)
		out = out.With("dedupeKey", canon.OfString(key))
	}
	return out, key
}

// eventOf derives the event's id anew, if it was derived; one of another shape stays.
func (r *Renaming) eventOf(out, was canon.Value, key string) canon.Value {
	had, _ := was.Get("eventId")
	old, err := id.ParseEvent(had.Text())
	if err != nil {
		return out
	}
	is := id.EventOf(r.to.String(), key)
	r.events.set(old, is)
	return out.With("eventId", canon.OfString(is.String()))
}

func prefixOf(s string) string {
	prefix, _, _ := strings.Cut(s, "_")
	return prefix
}

// text is a text in which an id of the session is replaced, if it is one.
func (r *Renaming) text(s string) string {
	switch prefixOf(s) {
	case "sess":
		if s == r.from.String() {
			return r.to.String()
		}
	case "run":
		return look(r.Run, s)
	case "node":
		return look(r.Node, s)
	case "evt":
		return lookIn(r, r.events, s)
	case "attempt":
		return lookIn(r, r.attempts, s)
	case "out":
		return lookIn(r, r.outputs, s)
	case "gap":
		return lookIn(r, r.gaps, s)
	}
	return s
}

// parsed is an id type that can be read.
type parsed[T any] interface {
	*T
	UnmarshalText([]byte) error
}

func look[T named[T], P parsed[T]](get func(T) (T, bool), s string) string {
	var old T
	if P(&old).UnmarshalText([]byte(s)) != nil {
		return s
	}
	if is, ok := get(old); ok {
		return is.String()
	}
	return s
}

// lookIn is look in a book that knows what was foreseen and nothing else.
func lookIn[T named[T], P parsed[T]](r *Renaming, b book[T], s string) string {
	return look[T, P](func(old T) (T, bool) {
		is, ok := b.get(old)
		if !ok && !b.foreseen(old) {
			r.missed(s)
		}
		return is, ok
	}, s)
}

// mapKey is a dedupeKey with f of each part: parts are letters, digits and underscores,
// with other characters between them.
func mapKey(key string, f func(string) string) string {
	var out strings.Builder
	for len(key) > 0 {
		n := strings.IndexFunc(key, func(c rune) bool { return !partOfID(c) })
		if n < 0 {
			n = len(key)
		}
		out.WriteString(f(key[:n]))
		rest := strings.IndexFunc(key[n:], partOfID)
		if rest < 0 {
			rest = len(key) - n
		}
		out.WriteString(key[n : n+rest])
		key = key[n+rest:]
	}
	return out.String()
}

func partOfID(c rune) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}

// mapTexts is v with f of each text in it; names of members stay.
func mapTexts(v canon.Value, f func(string) string) canon.Value {
	switch v.Kind() {
	case canon.String:
		if is := f(v.Text()); is != v.Text() {
			return canon.OfString(is)
		}
	case canon.Array:
		items := make([]canon.Value, v.Len())
		for i := range items {
			items[i] = mapTexts(v.Item(i), f)
		}
		return canon.OfList(items...)
	case canon.Object:
		members := make([]canon.Member, v.Len())
		for i := range members {
			members[i] = canon.Member{Name: v.Key(i), Value: mapTexts(v.Item(i), f)}
		}
		return canon.OfMembers(members...)
	}
	return v
}
