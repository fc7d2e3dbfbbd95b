package shape

import "github.com/waybill/waybill/durable/canon"

// JSONOf returns an object with one string member, which is how most schemas begin.
//
//go:noinline
func JSONOf(name, text string) canon.Value {
	return canon.OfMembers(canon.Member{Name: name, Value: canon.OfString(text)})
}

// AnyOf returns the anyOf of several schemas, or the schema itself if it is the only one.
func AnyOf(of ...canon.Value) canon.Value {
	if len(of) == 1 {
		return of[0]
	}
	return Keywords{"anyOf": of}.Value()
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
	return Keywords{"type": "array", "items": s.Of.Schema(describe), "uniqueItems": s.Unique,
		"minItems": s.Min, "maxItems": s.Max}.Value()
}

// Schema includes the description of every key, which editors show.
func (s Object) Schema(describe Describe) canon.Value {
	properties, required := map[string]canon.Value{}, []string(nil)
	for _, f := range s.Fields {
		properties[f.Name] = f.Shape.Schema(describe)
		if text := describe(s.What, f.Name); text != "" {
			properties[f.Name] = properties[f.Name].With("description", canon.OfString(text))
		}
		if f.Required {
			required = append(required, f.Name)
		}
	}
	out := Closed(properties, required...).Value().With("title", canon.OfString(s.What))
	if s.Open {
		out = out.Without("additionalProperties")
	}
	return out
}

// Schema constrains the names only if Key does.
func (s Dictionary) Schema(describe Describe) canon.Value {
	out := Keywords{"type": "object", "additionalProperties": s.Value.Schema(describe)}
	if s.Key != nil {
		out["propertyNames"] = s.Key.Schema(describe)
	}
	return out.Value()
}

// Schema includes the pattern, with Like as its description.
func (s Text) Schema(Describe) canon.Value {
	out := Keywords{"type": "string", "description": s.Like, "minLength": s.Min, "maxLength": s.Max}
	if s.Pattern != nil {
		out["pattern"] = s.Pattern.String()
	}
	return out.Value()
}

// Schema returns an enum, or a constant for a set of one word.
func (s Words) Schema(Describe) canon.Value {
	if len(s) == 1 {
		return JSONOf("const", s[0])
	}
	return Keywords{"enum": []string(s)}.Value()
}

// Schema always includes the lower bound, 0 included.
func (s Amount) Schema(Describe) canon.Value {
	kind := "number"
	if s.Whole {
		kind = "integer"
	}
	return Keywords{"type": kind, "minimum": canon.OfFloat(s.Min), "maximum": s.Max}.Value()
}
