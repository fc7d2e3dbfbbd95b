package canon_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/waybill/waybill/durable/canon"
	"pgregory.net/rapid"
)

// The number samples of RFC 8785, appendix B.
func TestNumberSamplesOfTheRFC(t *testing.T) {
	tests := []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	}
	for _, tt := range tests {
		got, err := canon.AppendNumber(nil, math.Float64frombits(tt.bits))
		if err != nil || string(got) != tt.want {
			t.Errorf("%016x: got %s, %v; want %s", tt.bits, got, err, tt.want)
		}
		if back, err := canon.Parse([]byte(tt.want)); err != nil || back.Float() != math.Float64frombits(tt.bits) {
			t.Errorf("%s reads back as %v, %v", tt.want, back.Float(), err)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got, err := canon.AppendNumber(nil, f); err == nil {
			t.Errorf("%v is written as %s", f, got)
		}
	}
}

// The documents of RFC 8785, sections 3.2.2 and 3.2.3. Its 333333333.33333329 has one digit
// more than a double, which Parse refuses; the tests use the nearest double.
func TestDocumentsOfTheRFC(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"values", `{
			"numbers": [333333333.3333333, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
			"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
			"literals": [null, true, false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{"order of keys by UTF-16", `{
			"\u20ac": "Euro Sign",
			"\r": "Carriage Return",
			"\ufb33": "Hebrew Letter Dalet With Dagesh",
			"1": "One",
			"\ud83d\ude00": "Emoji: Grinning Face",
			"\u0080": "Control",
			"\u00f6": "Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With " +
				"Diaeresis\"," +
				"\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"},
	}
	for _, tt := range tests {
		got, err := canon.Canonicalize([]byte(tt.text))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", tt.name, got, err, tt.want)
		}
	}
}

// values draws any value that Parse can return.
func values(depth int) *rapid.Generator[canon.Value] {
	return rapid.Custom(func(t *rapid.T) canon.Value {
		kinds := 6
		if depth == 0 {
			kinds = 4
		}
		switch canon.Kind(rapid.IntRange(0, kinds-1).Draw(t, "kind")) {
		case canon.Bool:
			return canon.OfBool(rapid.Bool().Draw(t, "bool"))
		case canon.Number:
			return canon.OfFloat(numbers().Draw(t, "number"))
		case canon.String:
			return canon.OfString(texts().Draw(t, "string"))
		case canon.Array:
			return canon.OfList(rapid.SliceOfN(values(depth-1), 0, 4).Draw(t, "list")...)
		case canon.Object:
			v := canon.OfMembers()
			for range rapid.IntRange(0, 4).Draw(t, "members") {
				// Lower case only: keys that differ only in case are refused.
				v = v.With(strings.ToLower(texts().Draw(t, "key")), values(depth-1).Draw(t, "member"))
			}
			if v.CheckStrict(64) != nil {
				return canon.OfMembers()
			}
			return v
		}
		return canon.Value{}
	})
}

// numbers draws integers around the bounds, and doubles of any bits.
func numbers() *rapid.Generator[float64] {
	return rapid.Custom(func(t *rapid.T) float64 {
		if rapid.Bool().Draw(t, "whole") {
			return math.Trunc(rapid.Float64Range(-1e22, 1e22).Draw(t, "number"))
		}
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return 0
		}
		return f
	})
}

// texts draws strings that reach every case of escaping and of UTF-16 order.
func texts() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.OneOf(
		rapid.RuneFrom([]rune("ab\"\\/\x00\x1f\x7f\b\f\n\r\t")),
		rapid.RuneFrom([]rune("é€\u2028\ud7ff\ue000\ufb33\uffff😀𐀀\U0010ffff")),
	), 0, 6, -1)
}

func TestJCSMatchesReferenceLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		got := v.JCS()
		want, err := jcs.Transform(got)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s, %v", got, want, err)
		}
	})
}

func TestParseOfJCSReturnsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		back, err := canon.Parse(v.JCS())
		if err != nil || !back.Equal(v) {
			t.Fatalf("%s reads back as %s, %v", v.JCS(), back.JCS(), err)
		}
	})
}

// CompareKeys agrees with a comparison of the encoded UTF-16 code units. UTF-8 order and UTF-16
// order differ only beyond the basic multilingual plane.
func TestCompareKeysOrdersByUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts().Draw(t, "a"), texts().Draw(t, "b")
		got, want := canon.CompareKeys(a, b), bytes.Compare(utf16Bytes(a), utf16Bytes(b))
		if got < 0 != (want < 0) || got > 0 != (want > 0) {
			t.Fatalf("CompareKeys(%q, %q) is %d, want the sign of %d", a, b, got, want)
		}
	})
}

func utf16Bytes(s string) (out []byte) {
	for _, r := range s {
		if r >= 0x10000 {
			r -= 0x10000
			high, low := 0xd800+r>>10, 0xdc00+r&0x3ff
			out = append(out, byte(high>>8), byte(high), byte(low>>8), byte(low))
			continue
		}
		out = append(out, byte(r>>8), byte(r))
	}
	return out
}

// An accepted text keeps its value in canonical form, which is stable and equals the output of
// the reference library.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `{"b":[1,2.5,-0,1e20,1e-7],"a":{"x":null,"y":true}}`, `"\ud83d\ude00\u0000"`, `{"A":1,"a":2}`,
		`{"a":1,"a":2}`, `9007199254740993`, `[1e400]`, "\xff", "\ufeff1", `{"\ufb33":1,"\ud83d\ude00":2}`,
		`[[[[]]]] x`,
		strings.Repeat("[", 65), `0.1000000000000000055`, `"\/"`, ` { "k" : [ ] } `, `-0.0e-0`, `{"ſ":1,"S":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := canon.Parse(text)
		if err != nil {
			return
		}
		spelled, err := v.AppendJCS(nil)
		if err != nil {
			t.Fatalf("accepted and cannot be encoded: %v", err)
		}
		again, err := canon.Parse(spelled)
		if err != nil || !again.Equal(v) {
			t.Fatalf("%q becomes %q, which parses as %s, %v", text, spelled, again.JCS(), err)
		}
		if fixed := again.JCS(); !bytes.Equal(fixed, spelled) {
			t.Fatalf("%q becomes %q becomes %q", text, spelled, fixed)
		}
		if want, err := jcs.Transform(text); err != nil || !bytes.Equal(want, spelled) {
			t.Fatalf("%q becomes %q, the library writes %q, %v", text, spelled, want, err)
		}
	})
}
