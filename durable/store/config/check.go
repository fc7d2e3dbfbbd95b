package config

import (
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// mismatch states where a value is not valid for its key, what is expected there and what is found.
type mismatch struct{ at, want, got string } // at is a path of members, "" for the whole value

// mismatched returns the mismatch of a value at a member.
func mismatched(at, want string, v canon.Value) *mismatch {
	return &mismatch{at, want, shown(string(v.JCS()))}
}

// below returns m for a value that is the member of another one; nil stays nil.
func (m *mismatch) below(member string) *mismatch {
	if m == nil {
		return nil
	}
	at := member
	if m.at != "" {
		at += "/" + m.at
	}
	return &mismatch{at, m.want, m.got}
}

// shownBytesMax bounds a value in a message.
const shownBytesMax = 96

// shown returns a value as a message may show it: redacted and shortened.
func shown(text string) string {
	text = redact.Text(text, nil)
	if short := reason.Clip(text, shownBytesMax); short != text {
		return short + "…"
	}
	return text
}

// check returns why v is not a valid value of the key, nil if it is valid.
func (row Row) check(v canon.Value) *mismatch {
	if row.form != nil {
		return row.form(v)
	}
	valid := false
	if row.Words != nil {
		valid = v.Kind() == canon.String && slices.Contains(row.Words, v.Text())
	} else {
		n := v.Float()
		valid = v.Kind() == canon.Number && n == float64(int64(n)) && n >= float64(row.Least) && n <= float64(row.Most)
	}
	if !valid {
		return mismatched("", row.Want, v)
	}
	return nil
}

// checkWord checks the name of a role.
func checkWord(v canon.Value) *mismatch {
	if v.Kind() == canon.String && ValidName(v.Text()) {
		return nil
	}
	return mismatched("", "a name of 1 to 64 of a-z, 0-9, colon, underscore and hyphen, which begins with a letter", v)
}

// checkList checks that a value is an array of a permitted length.
func checkList(list canon.Value) *mismatch {
	if list.Kind() != canon.Array {
		return mismatched("", "a list", list)
	}
	if list.Len() > limits.PrincipalsMax {
		return &mismatch{"", "at most " + strconv.Itoa(limits.PrincipalsMax), strconv.Itoa(list.Len())}
	}
	return nil
}

// checkWords checks a list of distinct names of roles or scopes.
func checkWords(list canon.Value) *mismatch {
	if m := checkList(list); m != nil {
		return m
	}
	seen := map[string]bool{}
	for i := range list.Len() {
		w := list.Item(i)
		if m := checkWord(w); m != nil {
			return m.below(strconv.Itoa(i))
		}
		if seen[w.Text()] {
			return mismatched(strconv.Itoa(i), "each name once", w)
		}
		seen[w.Text()] = true
	}
	return nil
}

// checkObject checks that a value is an object of a permitted number of members, whose names are
// valid. name describes a valid name.
func checkObject(v canon.Value, name string, valid func(string) bool) *mismatch {
	if v.Kind() != canon.Object {
		return mismatched("", "an object", v)
	}
	if v.Len() > limits.PrincipalsMax {
		return &mismatch{"", "at most " + strconv.Itoa(limits.PrincipalsMax), strconv.Itoa(v.Len())}
	}
	for i := range v.Len() {
		if !valid(v.Key(i)) {
			return &mismatch{"", name, shown(strconv.Quote(v.Key(i)))}
		}
	}
	return nil
}

// checkRoles is the check of the key "roles".
func checkRoles(v canon.Value) *mismatch {
	if m := checkObject(v, "the name of a role", ValidName); m != nil {
		return m
	}
	for i := range v.Len() {
		if m := checkWords(v.Item(i)); m != nil {
			return m.below(v.Key(i))
		}
	}
	return nil
}
