package rewrite

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// OpaqueLine rewrites one line of a side log, without its newline, for the new session. The
// meaning of the line's table is not needed: every string that is an id of this session is
// replaced, and so is every such id in the dedupeKey, from which the eventId is derived.
// Lines are passed after all segments of events, in log order, since they may refer to each
// other; each must have been passed to the first pass. An error means that the line is not an
// event or was not collected.
//
// Ids of traces, preference changes, contexts, observations and divergences are not replaced:
// only the event that contains them refers to them.
func (r *Renaming) OpaqueLine(line []byte) ([]byte, error) {
	v, err := lineOf(line)
	if err != nil {
		return nil, err
	}
	// Each line is a segment of its own, as far as references are concerned.
	r.events.clearSegment()
	out, key := rewriteLine(v, r.text)
	if key != "" {
		out = r.eventOf(out, v, key)
	}
	// Checked for every line, so that no line with a broken reference is returned.
	if r.uncollected != nil {
		return nil, r.uncollected
	}
	b, err := out.AppendJCS(nil)
	if err == nil && len(b) >= limits.LineBytesMax {
		err = fmt.Errorf("rewrite: a line of %d bytes: want less than %d", len(b), limits.LineBytesMax)
	}
	return b, err
}

// lineOf parses a line, which must be an object.
func lineOf(line []byte) (canon.Value, error) {
	v, err := canon.Parse(line)
	if err == nil && v.Kind() != canon.Object {
		err = fmt.Errorf("rewrite: a line of a side log is %s: want an object", v.Kind())
	}
	return v, err
}

// rewriteLine applies f to each string of v and to each part of its dedupeKey; key is the new
// dedupeKey, "" if there is none.
func rewriteLine(v canon.Value, f func(string) string) (out canon.Value, key string) {
	out = mapTexts(v, f)
	if original, ok := v.Get("dedupeKey"); ok && original.Kind() == canon.String {
		key = mapKey(original.Text(), f)
		out = out.With("dedupeKey", canon.OfString(key))
	}
	return out, key
}

// eventOf replaces the eventId by the one derived from the new dedupeKey. An id that is not
// of that form is kept.
func (r *Renaming) eventOf(out, original canon.Value, key string) canon.Value {
	had, _ := original.Get("eventId")
	old, err := id.ParseEvent(had.Text())
	if err != nil {
		return out
	}
	replacement := id.EventOf(r.to.String(), key)
	r.events.set(old, replacement)
	return out.With("eventId", canon.OfString(replacement.String()))
}

// prefixOf returns the part of s before the first underscore: the type, if s is an id.
func prefixOf(s string) string {
	prefix, _, _ := strings.Cut(s, "_")
	return prefix
}

// text returns the new id if s is an id of the session, else s.
func (r *Renaming) text(s string) string {
	switch prefixOf(s) {
	case "sess":
		if s == r.from.String() {
			return r.to.String()
		}
	case "run":
		return replaceID(r.Run, s)
	case "node":
		return replaceID(r.Node, s)
	case "evt":
		return replaceIn(r, r.events, s)
	case "attempt":
		return replaceIn(r, r.attempts, s)
	case "out":
		return replaceIn(r, r.outputs, s)
	case "gap":
		return replaceIn(r, r.gaps, s)
	}
	return s
}

// parsable is the pointer of an id type, which can be parsed.
type parsable[T any] interface {
	*T
	UnmarshalText([]byte) error
}

// replaceID returns the new id for s by get; s, if it is not an id or get does not know it.
func replaceID[T idType[T], P parsable[T]](get func(T) (T, bool), s string) string {
	var old T
	if P(&old).UnmarshalText([]byte(s)) != nil {
		return s
	}
	if replacement, ok := get(old); ok {
		return replacement.String()
	}
	return s
}

// replaceIn is replaceID for an idMap, which knows only ids of the current segment and
// retained ones.
func replaceIn[T idType[T], P parsable[T]](r *Renaming, b idMap[T], s string) string {
	return replaceID[T, P](func(old T) (T, bool) {
		replacement, ok := b.get(old)
		if !ok && !b.retained(old) {
			r.reportUncollected(s)
		}
		return replacement, ok
	}, s)
}

// mapKey applies f to the parts of a dedupeKey: letters, digits and underscores, separated by
// other characters.
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

// partOfID reports the characters of ids and words.
func partOfID(c rune) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}

// mapTexts applies f to each string in v; names of members are kept.
func mapTexts(v canon.Value, f func(string) string) canon.Value {
	switch v.Kind() {
	case canon.String:
		if replacement := f(v.Text()); replacement != v.Text() {
			return canon.OfString(replacement)
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
