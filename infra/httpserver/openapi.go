package httpserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/infra/schema"
)

// object is a JSON object of the document.
type object = map[string]any

// openAPI is the description of the routes in OpenAPI 3.1, made of the table.
func openAPI(version string) ([]byte, error) {
	d := description{schemas: object{}}
	paths := object{}
	for _, r := range table() {
		path, ok := paths[r.path].(object)
		if !ok {
			path = object{}
			paths[r.path] = path
		}
		path[strings.ToLower(r.method)] = d.operation(r)
	}
	doc := object{
		"openapi": "3.1.0",
		"info": object{"title": "Waybill", "version": version,
			"summary": "Runs over HTTP in the OpenWOP protocol " + openwop.ProtocolVersion + ", on this machine."},
		"paths": paths,
		"components": object{"schemas": d.schemas,
			"securitySchemes": object{"key": object{"type": "http", "scheme": "bearer"}}},
		"security": []any{object{"key": []string{}}},
	}
	d.schemas["Error"] = closedSchema(reflect.TypeFor[openwop.Envelope]())
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	out, err := canon.Canonicalize(text)
	return invisible.EscapeJSON(out), err
}

// description collects the schemas of the document.
type description struct{ schemas object }

var placeholder = regexp.MustCompile(`\{([A-Za-z]+)\}`)

// operation describes a route.
func (d description) operation(r *route) object {
	out := object{"operationId": r.id, "summary": r.purpose, "responses": d.responses(r)}
	if r.notes != "" {
		out["description"] = r.notes
	}
	if r.scope == "" {
		out["security"] = []any{}
	} else {
		out["x-waybill-scope"] = r.scope
		if r.also != "" {
			out["x-waybill-also-scope"] = r.also
		}
	}
	params := []any{}
	for _, m := range placeholder.FindAllStringSubmatch(r.path, -1) {
		params = append(params, object{"in": "path", "name": m[1], "required": true,
			"schema": object{"type": "string", "minLength": 1, "maxLength": limits.HTTPPathValueBytesMax}})
	}
	for _, p := range r.query {
		params = append(params, object{"in": "query", "name": p.name, "description": p.purpose + " (" + p.form + ")",
			"schema": object{"type": "string"}})
	}
	if r.idempotent || r.keyed {
		params = append(params, object{"in": "header", "name": "Idempotency-Key", "schema": object{"type": "string",
			"minLength": 1, "maxLength": limits.IdempotencyKeyBytesMax}})
	}
	if r.stream != nil && len(r.query) == 3 {
		params = append(params, object{"in": "header", "name": "Last-Event-ID", "schema": object{"type": "string"}})
	}
	if len(params) > 0 {
		out["parameters"] = params
	}
	if r.body != nil {
		name := d.add(r.body.form, closedSchema)
		out["requestBody"] = object{"required": r.body.required, "content": media(object{"$ref": name})}
	}
	return out
}

// responses describes the answers of a route, and the refusals that all routes have.
func (d description) responses(r *route) object {
	out := object{}
	for _, a := range r.answers {
		entry := object{"description": a.purpose}
		switch {
		case a.form != nil:
			entry["content"] = media(object{"$ref": d.add(a.form, openSchema)})
		case a.status == http.StatusOK:
			entry["content"] = media(object{"type": "object"})
		}
		if r.id == "streamRunEvents" {
			entry["content"].(object)["text/event-stream"] = object{"schema": object{"type": "string"}}
		}
		out[fmt.Sprint(a.status)] = entry
	}
	for _, o := range append(commonRefusals(r), r.refusals...) {
		status := fmt.Sprint(o.status)
		text := string(o.code) + ": " + o.when
		if before, ok := out[status].(object); ok {
			text = fmt.Sprint(before["description"]) + "; " + text
		}
		out[status] = object{"description": text, "content": media(object{"$ref": "#/components/schemas/Error"})}
	}
	return out
}

// commonRefusals are those that a route has because of its form.
func commonRefusals(r *route) []outcome {
	out := []outcome{{http.StatusBadRequest, openwop.ErrValidation, "a parameter, a header or the body is not valid"}}
	if r.scope != "" {
		out = append(out, outcome{http.StatusUnauthorized, openwop.ErrUnauthenticated, "no valid key"},
			outcome{http.StatusForbidden, openwop.ErrForbidden, "the key does not have the scope"})
	}
	if r.idempotent || r.keyed {
		out = append(out,
			outcome{http.StatusConflict, openwop.ErrIdempotencyMismatch, "another request had the idempotency key"},
			outcome{http.StatusConflict, openwop.ErrIdempotencyInFlight, "another request with the idempotency key is executed"})
	}
	if r.body != nil {
		out = append(out, outcome{http.StatusRequestEntityTooLarge, openwop.ErrTooLarge, "the body is too large"},
			outcome{http.StatusUnsupportedMediaType, openwop.ErrUnsupportedMedia, "the body is not application/json in UTF-8"})
	}
	return append(out,
		outcome{http.StatusInternalServerError, openwop.ErrInternal, "damaged data, or an error of the server"},
		outcome{http.StatusServiceUnavailable, openwop.ErrUnavailable, "busy: see the header Retry-After"})
}

// add adds the schema of a type, once, and returns the reference to it.
func (d description) add(t reflect.Type, make func(reflect.Type) any) string {
	name := schemaName(t)
	if d.schemas[name] == nil {
		d.schemas[name] = make(t)
	}
	return "#/components/schemas/" + name
}

// schemaName is the name of a type with a capital letter.
func schemaName(t reflect.Type) string {
	if t == reflect.TypeFor[feedback.Create]() {
		return "AnnotationCreate"
	}
	return strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
}

// closedSchema is the schema of a request, openSchema that of an answer.
func closedSchema(t reflect.Type) any { return schema.WithoutNull(schema.Of(t)) }
func openSchema(t reflect.Type) any   { return schema.OpenObjects(schema.Of(t)) }

func media(s object) object { return object{"application/json": object{"schema": s}} }
