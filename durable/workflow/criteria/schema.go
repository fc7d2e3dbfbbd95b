package criteria

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
)

// Schema returns the JSON Schema (draft 2020-12) of one rule or combination, derived from
// the table of rule types. validationCriteria is one of these, or a list. self and
// condition are the references to this schema and to that of a condition, such as
// "#/$defs/condition".
func Schema(self, condition string) canon.Value {
	again, str := object("$ref", canon.OfString(self)), object("type", canon.OfString("string"))
	count := object("type", canon.OfString("integer")).With("minimum", canon.OfInt(0))
	// The schema of every key of ruleKeys; a key that is missing here would be null.
	keys := map[string]canon.Value{
		"value": str.With("minLength", canon.OfInt(1)).
			With("description", canon.OfString("The text that the notes must contain")),
		"pattern": str.With("minLength", canon.OfInt(1)).
			With("description", canon.OfString("A regular expression (RE2) that the notes must match")),
		"flags": str.With("pattern", canon.OfString("^[gimsuy]{0,6}$")).
			With("description",
				canon.OfString(
					"i ignores case, m makes ^ and $ match at lines, s lets the dot match a newline; y allows a "+
						"match at the start only, g and u change nothing")),
		"min": count.With("description", canon.OfString("At least so many characters")),
		"max": count.With("description", canon.OfString("At most so many characters")),
		"schema": object("type", canon.OfList(canon.OfString("object"), canon.OfString("boolean"))).
			With("description",
				canon.OfString("A JSON Schema that the notes, or their first ```json block, must match")),
	}
	list := object("type", canon.OfString("array")).With("items", again).With("minItems", canon.OfInt(1))
	var forms []canon.Value
	for _, kind := range ruleTypes() {
		properties := object("type", object("const", canon.OfString(kind))).
			With("condition", object("$ref", canon.OfString(condition))).
			With("message", str.With("description",
				canon.OfString("The message shown when the rule fails; if empty, the rule itself is described")))
		required := []canon.Value{canon.OfString("type"), canon.OfString("message")}
		for i, key := range ruleKeys[kind] {
			if properties = properties.With(key, keys[key]); i == 0 && kind != "length" {
				required = append(required, canon.OfString(key))
			}
		}
		form := closed(properties, required...)
		// A length rule requires one of its two keys, the other types their first key.
		if kind == "length" {
			form = form.With("anyOf", canon.OfList(object("required", canon.OfList(canon.OfString("min"))),
				object("required", canon.OfList(canon.OfString("max")))))
		}
		forms = append(forms, form)
	}
	for _, name := range []string{"and", "or"} {
		forms = append(forms, closed(object(name, list), canon.OfString(name)))
	}
	forms = append(forms, closed(object("not", again), canon.OfString("not")))
	return object("title", canon.OfString("a validation rule")).With("anyOf", canon.OfList(forms...)).
		With("description", canon.OfString(
			"A check of a step's notes: one rule, or rules combined with and, or, not"))
}

// ruleTypes returns the types of rules in sorted order.
func ruleTypes() []string {
	var out []string
	for kind := range ruleKeys {
		out = append(out, kind)
	}
	slices.Sort(out)
	return out
}

// object returns an object with one member.
func object(name string, v canon.Value) canon.Value {
	return canon.OfMembers(canon.Member{Name: name, Value: v})
}

// closed returns the schema of an object with these properties only.
func closed(properties canon.Value, required ...canon.Value) canon.Value {
	return object("type", canon.OfString("object")).With("properties", properties).
		With("required", canon.OfList(required...)).With("additionalProperties", canon.OfBool(false))
}
