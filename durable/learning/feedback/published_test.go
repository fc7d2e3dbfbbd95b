package feedback_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
)

// published returns a schema of the protocol as it was published.
func published(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../../shared/data/openwop/schemas", name))
	if err != nil {
		t.Skip("no published schemas at ../shared/data/openwop next to the checkout")
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func fits(s *jsonschema.Resolved, doc []byte) error {
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return err
	}
	return s.Validate(v)
}

func TestAnnotationsMatchPublishedSchema(t *testing.T) {
	schema := published(t, "annotation.schema.json")
	for i, g := range golden {
		for _, by := range []event.Actor{ada, judge, {Kind: event.Engine}, {}} {
			a, _, ok := feedback.AnnotationOf(event.New(session.String(), int64(i), ofRun, by, 0, g.data))
			if !ok {
				continue
			}
			doc, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			if err := fits(schema, doc); err != nil {
				t.Errorf("%s: %v", doc, err)
			}
		}
	}
	if err := fits(schema, []byte(`{"annotationId":"a"}`)); err == nil {
		t.Error("the schema accepts anything")
	}
}

// TestAcceptedRequestsMatchPublishedSchema: every accepted request is valid in the protocol.
// The reverse is not true: the schema has no budgets and permits a rating beside a flag.
func TestAcceptedRequestsMatchPublishedSchema(t *testing.T) {
	schema, read := published(t, "annotation-create.schema.json"), 0
	signals := []string{`{"kind":"flag"}`, `{"kind":"rating","rating":3}`, `{"kind":"rating"}`,
		`{"kind":"rating","rating":6}`, `{"kind":"label","label":"x"}`, `{"kind":"label"}`,
		`{"kind":"correction","correction":"x"}`, `{"kind":"correction"}`, `{"kind":"x"}`, `{}`, `7`,
		`{"kind":"flag","more":1}`}
	for _, signal := range signals {
		for _, more := range []string{``, `,"note":"n"`, `,"note":1`, `,"target":{}`, `,"target":{"nodeId":"` +
			root.String() + `"}`, `,"target":{"runId":"` + run.String() + `"}`, `,"more":1`} {
			doc := []byte(`{"signal":` + signal + more + `}`)
			_, err := feedback.ParseCreate(doc)
			if refused := fits(schema, doc); (refused == nil) != (err == nil) {
				t.Errorf("%s: %v, and the schema reports %v", doc, err, refused)
			}
			if err == nil {
				read++
			}
		}
	}
	if read != 16 {
		t.Errorf("%d were read", read)
	}
}
