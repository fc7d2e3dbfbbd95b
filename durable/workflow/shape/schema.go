package shape

import "github.com/waybill/waybill/durable/canon"

// JSONOf returns an object with one string member, which is how most schemas begin.
func JSONOf(name, text string) canon.Value {
	return canon.OfMembers(canon.Member{Name: name, Value: canon.OfString(text)})
}

// AnyOf returns the anyOf of several schemas, or the schema itself if it is the only one.
func AnyOf(of ...canon.Value) canon.Value {
	if len(of) == 1 {
		return of[0]
	}
	return canon.OfMembers(canon.Member{Name: "anyOf", Value: canon.OfList(of...)})
}

// Schema returns the empty schema, which accepts every value.
func (Anything) Schema(Describe) canon.Value { return canon.OfMembers() }

// Schema requires the kind.
func (s OneKind) Schema(Describe) canon.Value { return JSONOf("type", s.Kind.String()) }

// Schema returns the anyOf of the alternatives, in the order of JSON's kinds.
func (s ByKind) Schema(describe Describe) canon.Value {
	var of []canon.Value
	for k := canon.Null; k <= canon.Object; k++ {
		if inner, ok := s[k]; ok {
			of = append(of, inner.Schema(describe))
		}
	}
	return AnyOf(of...)
}

// Schema makes the tag a constant in each case, so that an editor can tell which case
// applies.
func (s ByTag) Schema(describe Describe) canon.Value {
	var of []canon.Value
	if inner, ok := s.Cases[""]; ok {
		of = append(of, inner.Schema(describe))
	}
	for _, tag := range Names(s.Cases) {
		inner := s.Cases[tag].Schema(describe)
		if properties, ok := inner.Get("properties"); ok {
			pinned, _ := properties.Get(s.Key)
			inner = inner.With("properties", properties.With(s.Key, pinned.Without("enum").
				With("const", canon.OfString(tag))))
		}
		of = append(of, inner)
	}
	return AnyOf(of...)
}

// Schema includes the bounds and the uniqueness of whole items. JSON Schema cannot express
// uniqueness by one member, so Key is left out.
func (s List) Schema(describe Describe) canon.Value {
	out := JSONOf("type", "array").With("items", s.Of.Schema(describe))
	if s.Unique {
		out = out.With("uniqueItems", canon.OfBool(true))
	}
	return bounded(out, "minItems", float64(s.Min), "maxItems", float64(s.Max))
}

// Schema includes the description of every key, which editors show.
func (s Object) Schema(describe Describe) canon.Value {
	properties, required := canon.OfMembers(), []canon.Value(nil)
	for _, f := range s.Fields {
		inner := f.Shape.Schema(describe)
		if text := describe(s.What, f.Name); text != "" {
			inner = inner.With("description", canon.OfString(text))
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

// Schema constrains the names only if Key does.
func (s Dictionary) Schema(describe Describe) canon.Value {
	out := JSONOf("type", "object").With("additionalProperties", s.Value.Schema(describe))
	if s.Key != nil {
		out = out.With("propertyNames", s.Key.Schema(describe))
	}
	return out
}

// Schema includes the pattern, with Like as its description.
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

// Schema returns an enum, or a constant for a set of one word.
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

// Schema always includes the lower bound, 0 included.
func (s Amount) Schema(Describe) canon.Value {
	kind := "number"
	if s.Whole {
		kind = "integer"
	}
	return bounded(JSONOf("type", kind), "", 0, "maximum", s.Max).With("minimum", canon.OfFloat(s.Min))
}

// bounded adds the bounds that are not 0.
func bounded(out canon.Value, low string, from float64, high string, to float64) canon.Value {
	if from > 0 {
		out = out.With(low, canon.OfFloat(from))
	}
	if to > 0 {
		out = out.With(high, canon.OfFloat(to))
	}
	return out
}
