package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/redact/words"
)

// schemaMaps are the keywords of JSON Schema whose members are named by the author of the schema:
// a property called password describes passwords, and is none.
var schemaMaps = words.Set("properties patternProperties $defs definitions dependentSchemas dependentRequired dependencies")

// schemaKeywords are the keywords of JSON Schema and OpenAPI. An object with another name is no
// schema, but data in a document that also has a member called properties.
var schemaKeywords = words.Set("$schema $id $ref $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary " +
	"$comment $defs id type enum const title description default deprecated readOnly writeOnly examples example format " +
	"contentEncoding contentMediaType contentSchema multipleOf maximum exclusiveMaximum minimum exclusiveMinimum " +
	"maxLength minLength pattern items prefixItems additionalItems unevaluatedItems maxItems minItems uniqueItems " +
	"contains maxContains minContains maxProperties minProperties required properties patternProperties " +
	"additionalProperties unevaluatedProperties propertyNames dependencies dependentRequired dependentSchemas definitions " +
	"allOf anyOf oneOf not if then else nullable discriminator xml externalDocs")

// schemas redacts the members of a keyword whose member names are no names of secrets.
func (w walk) schemas(v canon.Value, at *place) canon.Value {
	return w.members(v, at, func(name string, item canon.Value, at *place) canon.Value {
		switch {
		case isSchema(item):
			return w.schema(item, at, SecretName(name))
		case item.Kind() == canon.Array && textList(item): // the properties that a property requires
			return w.value(item, at, false)
		}
		return w.member(name, item, at, false, false)
	})
}

// schema redacts a schema. secret states that it describes a secret: then its values are replaced.
func (w walk) schema(v canon.Value, at *place, secret bool) canon.Value {
	if v.Kind() != canon.Object {
		return v
	}
	return w.members(v, at, func(name string, item canon.Value, at *place) canon.Value {
		switch name {
		case "default", "const", "example", "examples":
			return w.sample(item, at, secret)
		case "required", "enum":
			return w.value(item, at, false)
		}
		return w.member(name, item, at, false, false)
	})
}

// sample redacts a value that a schema shows. Placeholders of a secret stay.
func (w walk) sample(v canon.Value, at *place, secret bool) canon.Value {
	switch {
	case secret && v.Kind() == canon.Array:
		return w.items(v, at, func(item canon.Value, at *place) canon.Value { return w.sample(item, at, secret) })
	case secret && v.Kind() == canon.String && words.NonValue(v.Text()):
		return v
	}
	return w.value(v, at, secret)
}

// isSchema reports a schema: a boolean, or an object with keywords only.
func isSchema(v canon.Value) bool {
	if v.Kind() != canon.Object {
		return v.Kind() == canon.Bool
	}
	for i := range v.Len() {
		if name := v.Key(i); !schemaKeywords.Has(name) && !strings.HasPrefix(name, "x-") {
			return false
		}
	}
	return true
}

// textList reports a list of texts.
func textList(v canon.Value) bool {
	for i := range v.Len() {
		if v.Item(i).Kind() != canon.String {
			return false
		}
	}
	return true
}
