package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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
	if err := askedOrValid(text); err != nil {
		fmt.Fprintln(errOut, err)
		return invalidStatus
	}
	return status
}

// validator is the name of the socket, beside the program under test, at which the process of the tests validates the
// documents of the processes that it starts: it makes the schema of a kind once, not once for each process.
const validator = "valid"

// serveValidation listens at the socket until the process ends. Where it cannot, each process validates for itself.
func serveValidation() {
	program, err := exec.LookPath("waybill")
	if err != nil {
		return
	}
	l, err := net.Listen("unix", filepath.Join(filepath.Dir(program), validator))
	if err != nil {
		return
	}
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			go func() {
				defer func() { _ = conn.Close() }()
				text, err := io.ReadAll(conn)
				if err != nil {
					return // the other process validates
				}
				answer := validAnswer
				if err := validDocument(text); err != nil {
					answer = err.Error()
				}
				_, _ = io.WriteString(conn, answer)
			}()
		}
	}()
}

// validAnswer is what the validator answers for a valid document. For another one it answers the text of the error.
const validAnswer = "valid"

// askedOrValid is validDocument by the process of the tests, or by this process where there is no answer.
func askedOrValid(text []byte) error {
	answer, err := askValidator(text)
	switch {
	case err != nil || len(answer) == 0:
		return validDocument(text)
	case string(answer) != validAnswer:
		return errors.New(string(answer))
	}
	return nil
}

// askValidator returns the answer of the process of the tests.
func askValidator(text []byte) ([]byte, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: filepath.Join(filepath.Dir(program), validator)})
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write(text); err != nil {
		return nil, err
	}
	if err := conn.CloseWrite(); err != nil {
		return nil, err
	}
	return io.ReadAll(conn)
}
