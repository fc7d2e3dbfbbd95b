package contract

import (
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
)

// anyValue draws any JSON value. Names and words of the packs are frequent, so that many
// values nearly satisfy a contract.
func anyValue(t *rapid.T, depth int) canon.Value {
	names := []string{"kind", "decision", "metadata", "dimensions", "level", "version", "findings", "shapingHandoff",
		"Kind", "", "a/~", "\x00"}
	switch rapid.IntRange(0, 7+min(depth, 1)*2).Draw(t, "what") {
	case 0:
		return canon.Value{}
	case 1:
		return canon.OfBool(rapid.Bool().Draw(t, "bool"))
	case 2, 3:
		return canon.OfFloat(rapid.Float64().Draw(t, "number"))
	case 4:
		return canon.OfInt(rapid.Int64Range(-2, 200).Draw(t, "integer"))
	case 5:
		return canon.OfString(rapid.String().Draw(t, "text"))
	case 6, 7:
		return canon.OfString(rapid.SampledFrom([]string{"wr.loop_control", "stop", "low", "1.0.0", "", "\xff"}).
			Draw(t, "word"))
	case 8:
		var items []canon.Value
		for range rapid.IntRange(0, 12).Draw(t, "items") {
			items = append(items, anyValue(t, depth-1))
		}
		return canon.OfList(items...)
	}
	out := canon.OfMembers()
	for range rapid.IntRange(0, 12).Draw(t, "members") {
		out = out.With(rapid.SampledFrom(names).Draw(t, "name"), anyValue(t, depth-1))
	}
	return out
}

func anyPack(t *rapid.T) Pack {
	p, _ := Builtin(rapid.SampledFrom(Refs()).Draw(t, "contract"))
	return p
}

// fitting draws a value that satisfies s.
func fitting(t *rapid.T, s *Shape) canon.Value {
	if len(s.AnyOf) > 0 {
		return fitting(t, &s.AnyOf[rapid.IntRange(0, len(s.AnyOf)-1).Draw(t, "shape")])
	}
	most := func(bound, otherwise int) int {
		if bound > 0 {
			return bound
		}
		return otherwise
	}
	switch {
	case !s.Const.IsNull() || s.Format != "":
		return fullest(s)
	case len(s.Enum) > 0:
		return canon.OfString(rapid.SampledFrom(s.Enum).Draw(t, "word"))
	case s.Pattern != "":
		return canon.OfString(rapid.StringMatching(`[a-z0-9_-]{1,64}`).Draw(t, "matching"))
	}
	switch s.Type {
	case Text:
		return canon.OfString(rapid.StringN(s.MinChars, most(s.MaxChars, 30), -1).Draw(t, "text"))
	case Integer:
		return canon.OfInt(rapid.Int64Range(1, 100).Draw(t, "integer"))
	case Number:
		return canon.OfFloat(rapid.Float64Range(*s.Min, *s.Max).Draw(t, "number"))
	case Array, Map:
		n := rapid.IntRange(s.MinItems, most(s.MaxItems, 4)).Draw(t, "items")
		list, object := []canon.Value{}, canon.OfMembers()
		for i := range n {
			list = append(list, fitting(t, s.Items))
			object = object.With(string(rune('a'+i)), list[i])
		}
		if s.Type == Map {
			return object
		}
		return canon.OfList(list...)
	}
	out := canon.OfMembers()
	one := ""
	if len(s.ExactlyOne) > 0 {
		one = rapid.SampledFrom(s.ExactlyOne).Draw(t, "one")
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		there := f.Required || rapid.Bool().Draw(t, "optional")
		if slices.Contains(s.ExactlyOne, f.Name) {
			there = f.Name == one
		}
		if there {
			out = out.With(f.Name, fitting(t, &f.Shape))
		}
	}
	if s.Open {
		out = out.With("zzzz", canon.OfList())
	}
	return out
}

// TestMatchingArtifactIsAccepted: every value drawn from a shape satisfies the contract.
func TestMatchingArtifactIsAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPack(t)
		artifact := fitting(t, &p.Shape).With("kind", canon.OfString(p.ArtifactKind))
		if wrong := p.Check(artifact); len(wrong) > 0 {
			t.Fatalf("%s rejects %s: %s", p.ContractRef, artifact.JCS(), mismatchLines(wrong))
		}
	})
}

// TestCheckAcceptsAnyInput: for every value, Check returns a bounded list without two
// mismatches of the same value.
func TestCheckAcceptsAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, v := anyPack(t), anyValue(t, 4)
		found := p.Check(v)
		if len(found) > MismatchesMax+1 || mismatchLines(found) != mismatchLines(p.Check(v)) {
			t.Fatalf("%d mismatches: %s", len(found), mismatchLines(found))
		}
		for i, m := range found {
			if (m.More > 0) != (i == MismatchesMax) || m.More == 0 && (m.Expected == "" || m.Got == "") ||
				!utf8.ValidString(m.Got) {
				t.Fatalf("mismatch %d is %+v", i, m)
			}
		}
		if levels, wrong := readiness().Check(v); (levels == nil) == (len(wrong) == 0) {
			t.Fatalf("levels %v with mismatches %s", levels, mismatchLines(wrong))
		}
	})
}

// TestSchemaAgreesWithCheck: Check accepts a value exactly if a validator that uses only the
// schema accepts it.
func TestSchemaAgreesWithCheck(t *testing.T) {
	schemas := map[string]canon.Value{}
	for _, ref := range Refs() {
		p, _ := Builtin(ref)
		schemas[ref] = p.Schema()
	}
	agreed := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		p := anyPack(t)
		v := fitting(t, &p.Shape).With("kind", canon.OfString(p.ArtifactKind))
		if rapid.Bool().Draw(t, "spoil") {
			v = spoiled(t, v)
		}
		fits := len(p.Check(v)) == 0
		if fits != accepts(schemas[p.ContractRef], v) {
			t.Fatalf("%s: Check gives %v for %+v: %s", p.ContractRef, fits, v, mismatchLines(p.Check(v)))
		}
		agreed[fits]++
	})
	if agreed[true] == 0 || agreed[false] == 0 {
		t.Errorf("only one side was tried: %v", agreed)
	}
}

// spoiled returns v with one change.
func spoiled(t *rapid.T, v canon.Value) canon.Value {
	if v.Len() > 0 && rapid.IntRange(0, 3).Draw(t, "deeper") > 0 {
		i := rapid.IntRange(0, v.Len()-1).Draw(t, "which")
		if v.Kind() == canon.Object {
			return v.With(v.Key(i), spoiled(t, v.Item(i)))
		}
		var items []canon.Value
		for j := range v.Len() {
			items = append(items, v.Item(j))
		}
		items[i] = spoiled(t, items[i])
		return canon.OfList(items...)
	}
	switch {
	case v.Kind() == canon.Object && v.Len() > 0 && rapid.Bool().Draw(t, "less"):
		return v.Without(v.Key(rapid.IntRange(0, v.Len()-1).Draw(t, "member")))
	case v.Kind() == canon.Object && rapid.Bool().Draw(t, "more"):
		return v.With(rapid.SampledFrom([]string{"yyyy", "claim", "result"}).
			Draw(t, "name"), canon.OfString("available"))
	case v.Kind() == canon.Object && rapid.Bool().Draw(t, "nothing"):
		return canon.OfMembers()
	}
	return anyValue(t, 2)
}

// accepts implements the part of JSON Schema that Schema uses, independently of Check.
func accepts(schema, v canon.Value) bool {
	get := func(name string) canon.Value { m, _ := schema.Get(name); return m }
	each := func(name string, ok func(canon.Value) bool) (n int) {
		list := get(name)
		for i := range list.Len() {
			if ok(list.Item(i)) {
				n++
			}
		}
		return n
	}
	if c := get("const"); !c.IsNull() && !c.Equal(v) {
		return false
	}
	if list := get("enum"); list.Len() > 0 && each("enum", v.Equal) == 0 {
		return false
	}
	if list := get("anyOf"); list.Len() > 0 && each("anyOf", func(s canon.Value) bool { return accepts(s, v) }) == 0 {
		return false
	}
	if list := get("oneOf"); list.Len() > 0 && each("oneOf", func(s canon.Value) bool { return accepts(s, v) }) != 1 {
		return false
	}
	if each("required", func(name canon.Value) bool { _, ok := v.Get(name.Text()); return ok }) < get("required").
		Len() {
		return false
	}
	outside := func(n float64, least, most string) bool {
		return !get(least).IsNull() && n < get(least).Float() || !get(most).IsNull() && n > get(most).Float()
	}
	switch get("type").Text() {
	case "string":
		return v.Kind() == canon.String &&
			!outside(float64(utf8.RuneCountInString(v.Text())), "minLength", "maxLength") &&
			regexp.MustCompile(get("pattern").Text()).MatchString(v.Text()) && Format(get("format").Text()).
			fits(v.Text())
	case "integer":
		return v.Kind() == canon.Number && v.Float() == float64(int64(v.Float())) &&
			!outside(v.Float(), "minimum", "maximum")
	case "number":
		return v.Kind() == canon.Number && !outside(v.Float(), "minimum", "maximum")
	case "array":
		ok := v.Kind() == canon.Array && !outside(float64(v.Len()), "minItems", "maxItems")
		for i := 0; ok && i < v.Len(); i++ {
			ok = accepts(get("items"), v.Item(i))
		}
		return ok
	case "object":
		ok := v.Kind() == canon.Object && !outside(float64(v.Len()), "minProperties", "maxProperties")
		for i := 0; ok && i < v.Len(); i++ {
			if property, known := get("properties").Get(v.Key(i)); known {
				ok = accepts(property, v.Item(i))
			} else if further := get("additionalProperties"); further.Kind() == canon.Bool {
				ok = further.True()
			} else {
				ok = accepts(further, v.Item(i))
			}
		}
		return ok
	}
	return true
}

// FuzzCheck: forged packs and artifacts are checked without panics and in bounded time.
func FuzzCheck(f *testing.F) {
	for _, ref := range Refs() {
		p, _ := Builtin(ref)
		data, _ := canon.Marshal(p)
		f.Add(data, p.Example.JCS())
	}
	f.Fuzz(func(t *testing.T, document, artifact []byte) {
		var p Pack
		if canon.Unmarshal(document, &p) != nil {
			return
		}
		valid := p.Validate() == nil
		if v, err := canon.Parse(artifact); err == nil {
			p.Check(v)
		}
		if !valid {
			return
		}
		p.Requirements()
		p.Schema()
		if data, err := canon.Marshal(p); err != nil || canon.UnmarshalExact(data, &p) != nil || p.Validate() != nil {
			t.Errorf("%s is a different pack after encoding", data)
		}
	})
}
