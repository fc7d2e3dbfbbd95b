package cli

import (
	"io"
	"slices"

	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/stream"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/redact/faults"
)

// Answer prints the result of a command: with --json, data as the one document of the kind,
// otherwise the text that people writes to the page. The output is written with one call of
// Write, so that a failing command prints no partial answer. Errors are OUTPUT_FAILED, and
// INTERNAL for data that cannot be encoded.
//
//go:noinline
func (a *App) Answer(kind string, data any, people func(*page.Page)) error {
	return AnswerRedacted(a, kind, data, nil, people)
}

// AnswerRedacted is Answer for data of a closed form: the places of the request from which a secret was
// removed are a member of the document, beside data (docs/design.md#answers-about-redaction).
func AnswerRedacted(a *App, kind string, data any, redactions []redact.Finding, people func(*page.Page)) error {
	if len(redactions) == 0 {
		return AnswerBeside(a, kind, data, nil, people)
	}
	return AnswerBeside(a, kind, data, []Beside{{"redactions", redactions}}, people)
}

// Beside is a member of a document beside data.
type Beside struct {
	Name  string
	Value any
}

// AnswerBeside is Answer for data of a closed form, with further members of the document beside it.
func AnswerBeside(a *App, kind string, data any, more []Beside, people func(*page.Page)) error {
	if !a.Flags.JSON {
		p := a.NewPage(a.Out)
		p.Mark(a.testStore)
		people(p)
		return a.Write(p.Bytes())
	}
	open, shut := envelope(kind)
	raw, err := canon.Append([]byte(open), data)
	if a.testStore {
		more = append(slices.Clip(more), Beside{"testStore", true})
	}
	for i := 0; err == nil && i < len(more); i++ {
		raw, err = canon.Append(append(raw, `,"`+more[i].Name+`":`...), more[i].Value)
	}
	if err != nil {
		return stream.EncodingFault(err)
	}
	if a.list != "" {
		return a.writeLines(kind, raw[len(open):])
	}
	return a.WriteJSON(append(raw, shut...))
}

// Document prints {"v":1,"kind":kind,"data":data} and a newline, or with --jsonl what writeLines prints. data is JSON,
// of which further members may follow, and is printed as WriteJSON prints it.
func (a *App) Document(kind string, data []byte) error {
	if a.list != "" {
		return a.writeLines(kind, data)
	}
	return a.WriteJSON(envelop(kind, data))
}

// envelop returns the document of a kind with its data.
func envelop(kind string, data []byte) []byte {
	open, shut := envelope(kind)
	return slices.Concat([]byte(open), data, []byte(shut))
}

// envelope returns what is before and behind the data in a document.
func envelope(kind string) (open, shut string) { return `{"v":1,"kind":"` + kind + `","data":`, "}\n" }

// WriteJSON writes a JSON document to stdout, to a terminal or not. Characters that a terminal
// executes or hides are escaped, which does not change the value
// (docs/design.md#printed-bytes). Every JSON document of a command is written here.
func (p *Process) WriteJSON(b []byte) error { return p.Write(invisible.EscapeJSON(b)) }

// WriteStored writes stored bytes to stdout: exactly to a pipe or file, whose reader may compare
// digests, and escaped to a terminal.
func (p *Process) WriteStored(b []byte) error {
	if p.IsTerminal(p.Out) {
		b = invisible.EscapeJSON(b)
	}
	return p.Write(b)
}

// StoredStream calls write with a stream that does what WriteStored does.
func (p *Process) StoredStream(write func(io.Writer) error) error {
	if !p.IsTerminal(p.Out) {
		return write(p.Out)
	}
	w := invisible.NewWriter(p.stdout())
	if err := write(w); err != nil {
		return written(err)
	}
	return written(w.Flush())
}

// Write writes b to stdout. The error is OUTPUT_FAILED: the command may have changed the store,
// and only its answer is lost.
func (p *Process) Write(b []byte) error {
	if _, err := p.stdout().Write(b); written(err) != nil {
		return fault.Wrap(err, fault.OutputFailed, "the answer could not be written to stdout: %v", err)
	}
	return nil
}

// Note writes text on stderr, for people beside the answer of the command. If it cannot be
// written, it is lost.
func (a *App) Note(people func(*page.Page)) {
	p := a.NewPage(a.Err)
	people(p)
	_, _ = a.Err.Write(p.Bytes())
}

// fail prints an error without its secrets and returns its exit status: with --json the document "error" on
// stdout, otherwise message and suggestion on stderr. If stdout cannot be written, the error
// is printed on stderr as text, so that the caller gets more than an exit status.
func (a *App) fail(err error) int {
	a.endPaging()
	f := faults.Redact(a.SuggestForStore(withRun(a, fault.Of(err))))
	// The answer contains message and suggestion. The underlying cause is logged at level
	// debug, and for an internal error always.
	log := a.Log()
	if f.Code == fault.Internal {
		log.Error().Err(f.Err).Msg(f.Message)
	} else if f.Err != nil {
		log.Debug().Err(f.Err).Str("code", string(f.Code)).Msg("cause of the error")
	}
	written := false
	if a.wantsJSON() && !a.Unfinished {
		shown := document.Error{Code: f.Code, Message: f.Message, Retry: f.Retry, Suggestion: f.Suggestion.String(),
			Details: f.Details}
		raw, encErr := canon.Marshal(shown)
		if encErr != nil { // details that cannot be encoded must not hide the error
			shown.Details = nil
			raw, _ = canon.Marshal(shown)
		}
		written = a.WriteJSON([]byte(`{"v":1,"kind":"error","error":`+string(raw)+"}\n")) == nil
	}
	if !written {
		a.Note(func(p *page.Page) { p.Fault(f) })
	}
	return fault.ExitOf(f)
}

// wantsJSON reports whether errors are printed as JSON. It reads the raw arguments, because
// parsing may have failed before the flag --json was reached.
func (a *App) wantsJSON() bool {
	for _, arg := range a.Args {
		switch arg {
		case "--":
			return a.Flags.JSON
		case "--json", "--json=true", "--jsonl", "--jsonl=true":
			return true
		}
	}
	return a.Flags.JSON
}
