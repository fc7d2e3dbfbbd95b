package shape

import "github.com/waybill/waybill/durable/canon"

// JSONOf is an object with one member that is a text: how most schemas begin.
func JSONOf(name, text string) canon.Value {
	return canon.OfMembers(canon.Member{Name: name, Value: canon.OfString(text)})
}

// AnyOf is a choice between schemas; of one it is that one.
func AnyOf(of ...canon.Value) canon.Value {
	if len(of) == 1 {
		return of[0]
	}
	return canon.OfMembers(canon.Member{Name: "anyOf", Value: canon.OfList(of...)})
}

// Schema accepts everything.
func (Anything) Schema(Describe) canon.Value { return canon.OfMembers() }

// Schema is the kind's.
func (s OneKind) Schema(Describe) canon.Value { return JSONOf("type", s.Kind.String()) }

// Schema is a choice.
func (s ByKind) Schema(say Describe) canon.Value {
	var of []canon.Value
	for k := canon.Null; k <= canon.Object; k++ {
		if inner, ok := s[k]; ok {
			of = append(of, inner.Schema(say))
		}
	}
	return AnyOf(of...)
}

// Schema pins the tag in each case, so that an editor knows which one is being
// written.
func (s ByTag) Schema(say Describe) canon.Value {
	var of []canon.Value
	if inner, ok := s.Cases[""]; ok {
		of = append(of, inner.Schema(say))
	}
	for _, tag := range Names(s.Cases) {
		inner := s.Cases[tag].Schema(say)
		if properties, ok := inner.Get("properties"); ok {
			pinned, _ := properties.Get(s.Key)
			inner = inner.With("properties", properties.With(s.Key, pinned.Without("enum").
				With("const", canon.OfString(tag))))
		}
		of = append(of, inner)
	}
	return AnyOf(of...)
}

// Schema has the bounds and uniqueness of whole items; JSON Schema knows no keys.
func (s List) Schema(say Describe) canon.Value {
	out := JSONOf("type", "array").With("items", s.Of.Schema(say))
	if s.Unique {
		out = out.With("uniqueItems", canon.OfBool(true))
	}
	return bounded(out, "minItems", float64(s.Min), "maxItems", float64(s.Max))
}

// Schema has a description for every key: it is what an editor shows.
func (s Object) Schema(say Describe) canon.Value {
	properties, required := canon.OfMembers(), []canon.Value(nil)
	for _, f := range s.Fields {
		inner := f.Shape.Schema(say)
		if said := say(s.What, f.Name); said != "" {
			inner = inner.With("description", canon.OfString(said))
		}
		properties = properties.With(f.Name, inner)
		if f.Required {
			required = append(required, canon.OfString(f.Name))
		}
	}
	out := JSONOf("type", "object").With("title", canon.OfString(s.What)).With("properties", properties).
		With("additionalProperties", canon.OfBool(false))
	if len(required) > 0 {
		out = out.With("required", canon.OfList(required...))
	}
	return out
}

// Schema judges names only where the table does.
func (s Dictionary) Schema(say Describe) canon.Value {
	out := JSONOf("type", "object").With("additionalProperties", s.Value.Schema(say))
	if s.Key != nil {
		out = out.With("propertyNames", s.Key.Schema(say))
	}
	return out
}

// Schema says what the pattern asks for.
func (s Text) Schema(Describe) canon.Value {
	out := JSONOf("type", "string")
	if s.Pattern != nil {
		out = out.With("pattern", canon.OfString(s.Pattern.String()))
	}
	if s.Like != "" {
		out = out.With("description", canon.OfString(s.Like))
	}
	return bounded(out, "minLength", float64(s.Min), "maxLength", float64(s.Max))
}

// Schema of one word is a constant.
func (s Words) Schema(Describe) canon.Value {
	if len(s.Set) == 1 {
		return JSONOf("const", s.Set[0])
	}
	set := make([]canon.Value, len(s.Set))
	for i, word := range s.Set {
		set[i] = canon.OfString(word)
	}
	return canon.OfMembers(canon.Member{Name: "enum", Value: canon.OfList(set...)})
}

// Schema of a number always has its lower bound: 0 is one.
func (s Amount) Schema(Describe) canon.Value {
	kind := "number"
	if s.Whole {
		kind = "integer"
	}
	return bounded(JSONOf("type", kind), "", 0, "maximum", s.Max).With("minimum", canon.OfFloat(s.Min))
}

// bounded adds the bounds that there are; 0 is none.
func bounded(out canon.Value, low string, from float64, high string, to float64) canon.Value {
	if from > 0 {
		out = out.With(low, canon.OfFloat(from))
	}
	if to > 0 {
		out = out.With(high, canon.OfFloat(to))
	}
	return out
}
