package wire

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// Lengths of shortened ids, and of words from outside in payloads, in bytes.
const (
	hashBytes    = 32
	eventIDBytes = openwop.NodeIDBytesMax - len(".9223372036854775807")
	wordBytesMax = 256
)

// shorten returns an id of at most most bytes: a longer one is cut, and a hash of the whole follows. "~" is
// in no id of Waybill, so that no other id is equal.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	raw := canon.Sum([]byte(text)).Raw()
	return reason.Clip(text, most-hashBytes-1) + "~" + hex.EncodeToString(raw[:hashBytes/2])
}

// idText is the id of the first run event that an event gives.
func idText(e event.Event) string { return shorten(e.IDText(), eventIDBytes) }

// suffixed is the id of a further run event of the same event; n counts from 1.
func suffixed(base string, n int) string { return base + "." + strconv.Itoa(n) }

// member is a member of a payload.
func member(name string, v canon.Value) canon.Member { return canon.Member{Name: name, Value: v} }

// word is a member with a text that is no caller's.
//
//go:noinline
func word[S ~string](name string, s S) canon.Member { return member(name, canon.OfString(string(s))) }

// free is a member with a text that may contain words of a caller, redacted. An empty one is left out of the
// payload.
func (l *Log) free(name, s string) canon.Member {
	if s == "" {
		return member(name, canon.Value{})
	}
	return member(name, canon.OfString(l.scrub(redact.Text(s, redact.Counts{}))))
}

// Bounds of the secrets that are remembered: shorter ones are words, and would be found everywhere.
const (
	secretBytesMin = 6
	secretBytesMax = 1024
	secretsMax     = 256
)

// learn remembers the values of a delta that redaction replaces for the name of their member: sentences
// about a step can repeat them without the name.
func (l *Log) learn(v, redacted canon.Value) {
	switch {
	case redacted.Text() == redact.Marker(redact.NamedSecret):
		text := v.Text()
		if v.Kind() == canon.Number {
			text = string(v.JCS())
		}
		if len(text) >= secretBytesMin && len(text) <= secretBytesMax && len(l.secrets) < secretsMax &&
			!slices.Contains(l.secrets, text) {
			l.secrets = append(l.secrets, text)
		}
	case v.Kind() == canon.Array || v.Kind() == canon.Object:
		for i := range min(v.Len(), redacted.Len()) {
			l.learn(v.Item(i), redacted.Item(i))
		}
	}
}

// scrub replaces the secrets that the run learned.
func (l *Log) scrub(s string) string {
	for _, secret := range l.secrets {
		s = strings.ReplaceAll(s, secret, redact.Marker(redact.NamedSecret))
	}
	return s
}

// sentences are the members of stored events that hold sentences.
var sentences = []string{"message", "summary", "suggestedFix"}

// scrubbed returns data whose sentences are without the secrets that the run learned.
func (l *Log) scrubbed(v canon.Value) canon.Value {
	if len(l.secrets) == 0 {
		return v
	}
	switch v.Kind() {
	case canon.Array:
		items := make([]canon.Value, v.Len())
		for i := range items {
			items[i] = l.scrubbed(v.Item(i))
		}
		return canon.OfList(items...)
	case canon.Object:
		members := make([]canon.Member, v.Len())
		for i := range members {
			m := member(v.Key(i), l.scrubbed(v.Item(i)))
			if m.Value.Kind() == canon.String && slices.Contains(sentences, m.Name) {
				m.Value = canon.OfString(l.scrub(m.Value.Text()))
			}
			members[i] = m
		}
		return canon.OfMembers(members...)
	}
	return v
}

// payload returns an object of the members that are not null.
func payload(members ...canon.Member) canon.Value {
	kept := make([]canon.Member, 0, len(members))
	for _, m := range members {
		if !m.Value.IsNull() {
			kept = append(kept, m)
		}
	}
	return canon.OfMembers(kept...)
}

// redacted returns a value without the secrets that redaction finds. It has no line of a source.
func redacted(v canon.Value) canon.Value { return redact.Value(v, redact.Counts{}) }

// short is a word from outside, redacted and cut.
func short(s string) string {
	return reason.Clip(redact.Text(s, redact.Counts{}), wordBytesMax)
}

// recordID matches the id of a record, which differs between two runs of the same steps.
var recordID = pattern.New(
	`^(sess|run|node|evt|attempt|out|gap|chg|trace|capobs|div|ctx|ann|prop|bundle|store)_[a-z2-7]{26}$`)

// withoutRecords returns the data of an event without ids of records and without numbers of milliseconds,
// redacted.
func (l *Log) withoutRecords(v canon.Value) canon.Value { return l.scrubbed(redacted(strip(v))) }

// strip removes the members that withoutRecords leaves out.
func strip(v canon.Value) canon.Value {
	switch v.Kind() {
	case canon.Array:
		items := make([]canon.Value, 0, v.Len())
		for i := range v.Len() {
			if !recordID.MatchString(v.Item(i).Text()) {
				items = append(items, strip(v.Item(i)))
			}
		}
		return canon.OfList(items...)
	case canon.Object:
		members := make([]canon.Member, 0, v.Len())
		for i := range v.Len() {
			name, of := v.Key(i), v.Item(i)
			if recordID.MatchString(of.Text()) || event.IsRecordID(name) ||
				of.Kind() == canon.Number && strings.HasSuffix(name, "Ms") {
				continue
			}
			members = append(members, member(name, strip(of)))
		}
		return canon.OfMembers(members...)
	}
	return v
}
