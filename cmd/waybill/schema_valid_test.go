package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/waybill/waybill/cmd/waybill/schema"
	"github.com/waybill/waybill/infra/terminal"
)

var resolved sync.Map // name of a schema → *jsonschema.Resolved

// valid validates JSON text against the printed form of a schema, the form that other programs
// use.
func valid(name string, text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	known, ok := resolved.Load(name)
	if !ok {
		raw, ok := schema.JSON(name)
		if !ok {
			return fmt.Errorf("unknown schema %s", name)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("schema %s: %w", name, err)
		}
		r, err := s.Resolve(nil)
		if err != nil {
			return fmt.Errorf("schema %s: %w", name, err)
		}
		known, _ = resolved.LoadOrStore(name, r)
	}
	return known.(*jsonschema.Resolved).Validate(v)
}

// schemasOf returns the names of the schemas of documents, or else of stored records.
func schemasOf(documents bool) (out []string) {
	for _, name := range schema.Names() {
		if name != "workflow" && name != "workflow-test" && !strings.HasPrefix(name, schema.WirePrefix) &&
			strings.HasPrefix(name, schema.DocumentPrefix) == documents {
			out = append(out, name)
		}
	}
	return out
}

// validDocument validates a document against the schema of its kind.
func validDocument(text []byte) error {
	var doc struct{ Kind string }
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	if err := valid(schema.DocumentPrefix+doc.Kind, text); err != nil {
		return fmt.Errorf("a document of kind %q: %w\n%s", doc.Kind, err, text)
	}
	return nil
}

// invalidStatus is the exit status of runValid for a document that its schema rejects. No fault
// has this status.
const invalidStatus = 97

// runValid is run with validation of the document that --json prints, so that every script
// checks the schemas.
func runValid(args []string, in io.Reader, out *os.File, errOut io.Writer, env []string) int {
	if !slices.Contains(args, "--json") || terminal.IsTerminal(out) { // at a terminal, out stays one
		return run(args, in, out, errOut, env)
	}
	var printed bytes.Buffer
	status := run(args, in, io.MultiWriter(out, &printed), errOut, env)
	text := printed.Bytes()
	if !bytes.HasPrefix(text, []byte(`{"v":1,"kind":`)) || bytes.Count(text, []byte("\n")) != 1 {
		return status // empty or not a document: the events of 'runs watch', a schema
	}
	if err := validDocument(text); err != nil {
		fmt.Fprintln(errOut, err)
		return invalidStatus
	}
	return status
}
