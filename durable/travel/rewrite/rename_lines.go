package rewrite

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
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
	out, key := rewriteLine(v, r.renaming)
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
func rewriteLine(v canon.Value, f texts) (out canon.Value, key string) {
	out = mapTexts(v, f.replace)
	if original, ok := v.Get("dedupeKey"); ok && original.Kind() == canon.String {
		key = keyPart.ReplaceAllStringFunc(original.Text(), f.replace)
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

// texts replaces the strings that are ids, by the type of the id, which is the part of a string
// before the first underscore.
type texts map[string]func(string) string

// replace returns the string in place of s; s, if it is not an id of one of the types.
func (t texts) replace(s string) string {
	prefix, _, _ := strings.Cut(s, "_")
	if f, ok := t[prefix]; ok {
		return f(s)
	}
	return s
}

// collectedTexts retains the ids that lines of side logs may refer to.
func (r *Renaming) collectedTexts() texts {
	return texts{"evt": inText(retaining(r.events)), "attempt": inText(retaining(r.attempts)),
		"out": inText(retaining(r.outputs)), "gap": inText(retaining(r.gaps))}
}

// renamedTexts replaces the ids of the session.
func (r *Renaming) renamedTexts() texts {
	session := func(old id.Session) (id.Session, bool) { return r.to, old == r.from }
	return texts{"sess": inText(ifKnown(session)), "run": inText(ifKnown(r.Run)), "node": inText(ifKnown(r.Node)),
		"evt": inText(ifCollected(r, r.events)), "attempt": inText(ifCollected(r, r.attempts)),
		"out": inText(ifCollected(r, r.outputs)), "gap": inText(ifCollected(r, r.gaps)),
		// Two sessions of a store cannot have annotations with one id.
		"ann": inText(func(old id.Annotation) id.Annotation { return importedID(r.origin, old) })}
}

// parsable is the pointer of an id type, which can be parsed.
type parsable[T any] interface {
	*T
	UnmarshalText([]byte) error
}

// inText is f for strings; one that is not an id of type T is kept.
func inText[T idType[T], P parsable[T]](f func(T) T) func(string) string {
	return func(s string) string {
		var old T
		if P(&old).UnmarshalText([]byte(s)) != nil {
			return s
		}
		return f(old).String()
	}
}

// ifKnown returns a function that replaces the ids that get knows.
func ifKnown[T any](get func(T) (T, bool)) func(T) T {
	return func(old T) T {
		if replacement, ok := get(old); ok {
			return replacement
		}
		return old
	}
}

// ifCollected is ifKnown for an idMap, which knows only ids of the current segment and
// retained ones.
func ifCollected[T idType[T]](r *Renaming, b idMap[T]) func(T) T {
	return ifKnown(func(old T) (T, bool) {
		replacement, ok := b.get(old)
		if !ok && !b.retained(old) {
			r.reportUncollected(old.String())
		}
		return replacement, ok
	})
}

// keyPart is a part of a dedupeKey: an id or a word. Other characters separate the parts.
var keyPart = pattern.New(`[a-z0-9_]+`)

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
