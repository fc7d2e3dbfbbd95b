// Package openwoptest checks documents of the OpenWOP protocol against the JSON Schemas that the protocol
// publishes, for tests. The schemas are read from a folder next to the checkout; tests skip without them.
package openwoptest

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// base is the address under which the schemas refer to each other.
const base = "https://openwop.dev/spec/v1/"

// payloads is the schema of the payloads of run events.
const payloads = "run-event-payloads.schema.json"

// Schemas are the published schemas. They are safe for concurrent use.
type Schemas struct {
	dir string

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved
	types    map[string]string // the reference of each type's payload
}

// Published returns the schemas, or skips the test.
func Published(t testing.TB) *Schemas {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		found := filepath.Join(dir, "shared", "data", "openwop", "schemas")
		if info, err := os.Stat(found); err == nil && info.IsDir() {
			return &Schemas{dir: found, resolved: map[string]*jsonschema.Resolved{}}
		}
	}
	t.Skip("no published schemas next to the checkout")
	return nil
}

// load reads one schema.
func (s *Schemas) load(uri *url.URL) (*jsonschema.Schema, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, path.Base(uri.Path)))
	if err != nil {
		return nil, err
	}
	// Go's regular expressions have no lookahead: the reserved prefixes are checked by the tests of types.
	text := strings.ReplaceAll(string(data), `^(?!(?:openwop|core|community|vendor|private|local)\\.)`, "^")
	var out jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, err
	}
	out.ID = "" // the address is that of the reference
	return &out, nil
}

// check validates a document against the schema at a reference, relative to base.
func (s *Schemas) check(ref string, doc []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.resolved[ref]
	if r == nil {
		root := &jsonschema.Schema{Ref: base + ref}
		var err error
		if r, err = root.Resolve(&jsonschema.ResolveOptions{BaseURI: base, Loader: s.load}); err != nil {
			return err
		}
		s.resolved[ref] = r
	}
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return err
	}
	return r.Validate(v)
}

// Check validates a document against a schema by its file name without suffix, such as "run-event".
func (s *Schemas) Check(name string, doc []byte) error { return s.check(name+".schema.json", doc) }

// CheckPayload validates the payload of a run event. ok is false for a type that the schemas do not have.
func (s *Schemas) CheckPayload(eventType string, payload []byte) (ok bool, err error) {
	s.mu.Lock()
	if s.types == nil {
		s.types = map[string]string{}
		err = s.readTypes()
	}
	ref, ok := s.types[eventType]
	s.mu.Unlock()
	if err != nil || !ok {
		return ok, err
	}
	return true, s.check(payloads+ref, payload)
}

// Types returns the types of run events that the protocol owns, sorted.
func Types[T ~string](s *Schemas, t testing.TB) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "run-event.schema.json"))
	var file struct {
		Defs struct {
			Types struct {
				Enum []T `json:"enum"`
			} `json:"RunEventType"`
		} `json:"$defs"`
	}
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(slices.Values(file.Defs.Types.Enum))
}

// readTypes reads which definition belongs to which type.
func (s *Schemas) readTypes() error {
	data, err := os.ReadFile(filepath.Join(s.dir, payloads))
	if err != nil {
		return err
	}
	var file struct {
		Defs struct {
			Index struct {
				Properties map[string]struct {
					Ref string `json:"$ref"`
				} `json:"properties"`
			} `json:"_typeIndex"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	for name, p := range file.Defs.Index.Properties {
		s.types[name] = p.Ref
	}
	return nil
}
