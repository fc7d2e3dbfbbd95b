package canon_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"pgregory.net/rapid"
)

func parse(t *testing.T, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWithAndWithout(t *testing.T) {
	base := parse(t, `{"a":1,"c":3}`)
	tests := []struct {
		name, want string
		got        canon.Value
	}{
		{"new member in order", `{"a":1,"b":2,"c":3}`, base.With("b", canon.OfInt(2))},
		{"member replaced", `{"a":"x","c":3}`, base.With("a", canon.OfString("x"))},
		{"member left out", `{"c":3}`, base.Without("a")},
		{"absent member left out", `{"a":1,"c":3}`, base.Without("b")},
		{"set on a number", `{"b":true}`, canon.OfInt(1).With("b", canon.OfBool(true))},
		{"removed from an array", `[1]`, canon.OfList(canon.OfInt(1)).Without("b")},
		{"the later of two members", `{"a":2}`, canon.OfMembers(canon.Member{Name: "a", Value: canon.OfInt(1)},
			canon.Member{Name: "a", Value: canon.OfInt(2)})},
	}
	for _, tt := range tests {
		if got := string(tt.got.JCS()); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := string(base.JCS()); got != `{"a":1,"c":3}` {
		t.Errorf("the value itself changed to %s", got)
	}
}

// With and Without behave like a map that is copied on every change.
// TestMergedIsWithAndWithout: member by member.
func TestMergedIsWithAndWithout(t *testing.T) {
	name := rapid.SampledFrom([]string{"", "a", "b", "c", "\ufffd", "\U00010000", "aa"})
	value := rapid.Custom(func(t *rapid.T) canon.Value {
		members := make([]canon.Member, rapid.IntRange(0, 6).Draw(t, "members"))
		for i := range members {
			members[i] = canon.Member{Name: name.Draw(t, "name"), Value: canon.OfInt(rapid.Int64Range(0, 9).Draw(t, "n"))}
			if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
				members[i].Value = canon.Value{}
			}
		}
		return canon.OfMembers(members...)
	})
	rapid.Check(t, func(t *rapid.T) {
		base, delta := value.Draw(t, "base"), value.Draw(t, "delta")
		want := canon.OfMembers()
		for _, v := range []canon.Value{base, delta} {
			for i := range v.Len() {
				if want = want.With(v.Key(i), v.Item(i)); v.Item(i).IsNull() {
					want = want.Without(v.Key(i))
				}
			}
		}
		if got := base.Merged(delta); !got.Equal(want) {
			t.Fatalf("%s and %s: %s, want %s", base.JCS(), delta.JCS(), got.JCS(), want.JCS())
		}
	})
	if got := canon.OfList(canon.OfInt(1)).Merged(canon.OfInt(2)); !got.Equal(canon.OfMembers()) {
		t.Errorf("of no objects: %s", got.JCS())
	}
}

func TestValueIsAnImmutableMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model, v := map[string]int64{}, canon.OfMembers()
		for i := range rapid.IntRange(0, 12).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"", "a", "b", "é", "😀", "\ufb33"}).Draw(t, "name")
			before, spelled := v, string(v.JCS())
			if rapid.Bool().Draw(t, "remove") {
				delete(model, name)
				v = v.Without(name)
			} else {
				model[name] = int64(i)
				v = v.With(name, canon.OfInt(int64(i)))
			}
			if string(before.JCS()) != spelled {
				t.Fatalf("%s became %s", spelled, before.JCS())
			}
		}
		if want, err := canon.Marshal(model); err != nil || string(v.JCS()) != string(want) {
			t.Fatalf("got %s, want %s, %v", v.JCS(), want, err)
		}
	})
}

// Strict refuses built values whose text Parse would refuse.
func TestStrict(t *testing.T) {
	nested := func(n int) canon.Value {
		v := canon.OfInt(1)
		for range n {
			v = canon.OfList(v)
		}
		return v
	}
	collision := canon.OfMembers(canon.Member{Name: "userName"}, canon.Member{Name: "username"})
	tests := []struct {
		name string
		v    canon.Value
		want string
	}{
		{"scalar", nested(0), ""},
		{"three levels", nested(3), ""},
		{"four levels", nested(4), "nested deeper than 3 levels at /0/0/0"},
		{"case collision", collision, `keys "userName" and "username" differ only in case at the document`},
		{"case collision inside", canon.OfList(canon.OfMembers(canon.Member{Name: "a", Value: collision})),
			`keys "userName" and "username" differ only in case at /0/a`},
		{"same keys in two objects", canon.OfList(canon.OfMembers(canon.Member{Name: "A"}),
			canon.OfMembers(canon.Member{Name: "a"})), ""},
	}
	for _, tt := range tests {
		got := ""
		if err := tt.v.CheckStrict(3); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestEqual(t *testing.T) {
	all := []string{`null`, `false`, `true`, `0`, `1`, `""`, `"1"`, `[]`, `[1]`, `[1,2]`, `[2,1]`, `{}`, `{"a":1}`,
		`{"b":1}`, `{"a":2}`, `{"a":1,"b":1}`}
	for _, a := range all {
		for _, b := range all {
			if got := parse(t, a).Equal(parse(t, "\n"+b)); got != (a == b) {
				t.Errorf("%s equal to %s: %v", a, b, got)
			}
		}
	}
	if !parse(t, `{"a":1.0,"b":[-0]}`).Equal(parse(t, `{"b":[0],"a":1e0}`)) {
		t.Error("numbers and objects are compared by their spelling")
	}
}

func TestAccessorsOfAnotherKind(t *testing.T) {
	v := parse(t, `{"a":null}`)
	if member, ok := v.Get("a"); !ok || !member.IsNull() || member.IsZero() {
		t.Error("a null member reads as absent")
	}
	if member, ok := v.Get("b"); ok || !member.IsNull() || !member.IsZero() {
		t.Error("an absent member reads as present")
	}
	if _, ok := canon.OfString("a").Get("a"); ok {
		t.Error("a string has members")
	}
	if v.Text() != "" || v.Float() != 0 || v.True() || canon.OfFloat(1).True() || canon.OfBool(true).Float() != 0 {
		t.Error("a value answers as another kind")
	}
}

func TestValueInOtherEncoders(t *testing.T) {
	var doc struct{ V canon.Value }
	if err := json.Unmarshal([]byte(`{"V":{"b":1,"a":[2]}}`), &doc); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(doc); err != nil || string(got) != `{"V":{"a":[2],"b":1}}` {
		t.Errorf("got %s, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"V":{"a":1,"A":2}}`), &doc); err == nil {
		t.Error("case collision pass by encoding/json")
	}
	v, err := canon.ValueOf(struct {
		B int    `json:"b"`
		A string `json:"a"`
	}{1, "x"})
	if err != nil || string(v.JCS()) != `{"a":"x","b":1}` {
		t.Errorf("got %s, %v", v.JCS(), err)
	}
}

func TestDigest(t *testing.T) {
	const hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	d := canon.Sum([]byte("abc"))
	if d.String() != "sha256:"+hex || d.FileName() != "sha256_"+hex {
		t.Errorf("got %s in %s", d, d.FileName())
	}
	if back, err := canon.ParseDigest(d.String()); err != nil || back != d {
		t.Errorf("got %s, %v", back, err)
	}
	if back, err := canon.ParseFileName(d.FileName()); err != nil || back != d {
		t.Errorf("got %s, %v", back, err)
	}
	for _, bad := range []string{"", hex, "sha256:", "sha256:" + hex[1:], "sha256:" + hex + "0", "sha256:" +
		strings.ToUpper(hex),
		"SHA256:" + hex, "sha512:" + hex, "sha256_" + hex, "sha256:" + hex[1:] + "g", " sha256:" + hex, "sha256:" +
			hex[1:] + "\n"} {
		if got, err := canon.ParseDigest(bad); err == nil {
			t.Errorf("%q is accepted as %s", bad, got)
		}
	}
	for _, bad := range []string{"", "sha256:" + hex, "sha256_" + hex + ".json", "sha256_" + hex[1:], "../sha256_" +
		hex, "sha256__" + hex[1:]} {
		if got, err := canon.ParseFileName(bad); err == nil {
			t.Errorf("%q is accepted as the name of %s", bad, got)
		}
	}
	if _, err := (canon.Digest{}).MarshalText(); err == nil || !(canon.Digest{}).IsZero() {
		t.Error("the zero digest can be stored")
	}
}

func TestSourceKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":1,"a":2,"C":{"z":1,"y":2}}`: "b a C",
		`{"C":1,"a":2,"b":3}`:             "C a b",
		`{}`:                              "",
		`["b","a"]`:                       "",
		`"b"`:                             "",
	} {
		if got := strings.Join(parse(t, text).SourceKeys(), " "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	inner, _ := parse(t, `{"b":1,"a":{"z":1,"y":2}}`).Get("a")
	if got := strings.Join(inner.SourceKeys(), " "); got != "z y" {
		t.Errorf("a nested object: got %q", got)
	}
	if !parse(t, `{"b":1,"a":2}`).Equal(parse(t, `{"a":2,"b":1}`)) {
		t.Error("the order of the text makes a difference between values")
	}
}
