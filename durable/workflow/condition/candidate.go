package condition

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
)

// candidate is a value that a variable may have, or a set of texts of which Value is one.
type candidate struct {
	canon.Value
	set textSet
}

// textSet is what the texts of a candidate have in common.
type textSet uint8

const (
	noSet textSet = iota
	// spellings are all texts that differ from Value in letter case and in white space at the
	// ends. They have the same relations to all other values.
	spellings
	// numerals are texts of the same number that no operand of the condition contains.
	numerals
)

// alikeTo returns the candidates for a variable that equals an operand. facts are all facts
// about the variable: the texts in them are distinguished.
func alikeTo(operand canon.Value, facts []claim) []candidate {
	out := []candidate{{Value: operand}}
	switch operand.Kind() {
	case canon.String:
		t := textIn(operand)
		out[0].set = spellings
		for _, b := range []bool{true, false} {
			if t.isLike(canon.OfBool(b)) {
				out = append(out, candidate{Value: canon.OfBool(b)})
			}
		}
		if t.isNumber {
			out = append(out, candidate{Value: canon.OfFloat(t.number)})
		}
	case canon.Bool:
		for _, name := range namesOfBool(operand.True()) {
			out = append(out, candidate{canon.OfString(name), spellings})
		}
	case canon.Number:
		for _, t := range textsOf(facts) {
			if t.isLike(operand) {
				out = append(out, candidate{canon.OfString(t.trimmed), spellings})
			}
		}
		out = append(out, candidate{canon.OfString(numeralBeside(operand, facts)), numerals})
	}
	return out
}

// textsOf returns the texts with which facts compare.
func textsOf(facts []claim) []text {
	var out []text
	for _, f := range facts {
		values := []canon.Value{f.tests[0].operand}
		for i := range values[0].Len() {
			values = append(values, values[0].Item(i))
		}
		for _, v := range values {
			if v.Kind() == canon.String {
				out = append(out, textIn(v))
			}
		}
	}
	return out
}

// numeralBeside returns a text of a number with which no fact compares.
func numeralBeside(n canon.Value, facts []claim) string {
	texts := textsOf(facts)
	head, exponent, _ := strings.Cut(string(n.JCS()), "e")
	sign := strings.TrimRight(exponent, "0123456789")
	for zeros := "0"; ; zeros += "0" {
		// Leading zeros of an exponent change nothing.
		numeral := head + "e" + sign + zeros + exponent[len(sign):]
		if !slices.ContainsFunc(texts, func(t text) bool { return strings.EqualFold(t.trimmed, numeral) }) {
			return numeral
		}
	}
}

// allows reports whether a fact may be true of a candidate. For a set of texts it is uncertain
// where the texts differ: true then.
func (f claim) allows(c candidate) bool {
	t := f.tests[0]
	if c.set != noSet {
		switch {
		case t.op.name == "contains" && t.operand.Kind() == canon.String:
			return !f.want || c.set == numerals || mayContain(c.Text(), t.operand.Text())
		case t.op.name == truthy.name && strings.TrimSpace(c.Text()) == "":
			return true
		}
	}
	held, _ := t.holds(c.Value)
	return held == f.want
}

// mayContain reports whether a spelling of whole may contain part.
func mayContain(whole, part string) bool {
	whole, part = strings.TrimSpace(whole), strings.TrimSpace(part)
	if len(whole) > mayContainMax {
		return true
	}
	n := utf8.RuneCountInString(part)
	letters := []rune(whole)
	for i := 0; i+n <= len(letters); i++ {
		if strings.EqualFold(string(letters[i:i+n]), part) {
			return true
		}
	}
	return false
}

// mayContainMax bounds the texts in which mayContain searches: its cost is quadratic.
const mayContainMax = 1 << 10
