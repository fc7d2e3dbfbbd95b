package cli

import (
	"bytes"

	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// Answer prints what a command found: with --json data as the one document of
// the kind, else the text that people writes. It is written in one piece, so
// that a failing command never leaves half an answer.
func (a *App) Answer(kind string, data any, people func(*page.Page)) error {
	if a.Flags.JSON {
		raw, err := canon.Marshal(data)
		if err != nil {
			return fault.Wrap(err, fault.Internal, "the answer cannot be written as JSON")
		}
		return a.Document(kind, raw)
	}
	p := a.NewPage(a.Out)
	people(p)
	return a.Write(p.Bytes())
}

// Document prints {"v":1,"kind":kind,"data":data} from the JSON of data, as it
// is and with a line end.
func (a *App) Document(kind string, data []byte) error {
	var b bytes.Buffer
	b.WriteString(`{"v":1,"kind":"` + kind + `","data":`)
	b.Write(data)
	b.WriteString("}\n")
	return a.Write(b.Bytes())
}

// Write writes bytes to stdout. An error is OUTPUT_FAILED: the store may have
// been changed, and the answer is lost.
func (a *App) Write(b []byte) error {
	if _, err := a.Out.Write(b); err != nil {
		return fault.Wrap(err, fault.OutputFailed, "the answer could not be written to stdout: %v", err)
	}
	return nil
}

// fail prints an error and returns its exit status: with --json the one
// document on stdout, else on stderr the message and what to do next. What
// stdout does not take goes to stderr too, so that no caller is left with a
// bare exit status.
func (a *App) fail(err error) int {
	f := a.SuggestForStore(fault.Of(err))
	// The cause is for readers who look for it: an answer shows what to do, and a bug of
	// ours always leaves its trace.
	log := a.Log()
	if f.Code == fault.Internal {
		log.Error().Err(f.Err).Msg(f.Message)
	} else if f.Err != nil {
		log.Debug().Err(f.Err).Str("code", string(f.Code)).Msg("the cause")
	}
	told := false
	if a.wantsJSON() {
		raw, encErr := canon.Marshal(document.Error{Code: f.Code, Message: f.Message, Retry: f.Retry,
			Suggestion: f.Suggestion, Details: f.Details})
		if encErr != nil { // details that JSON does not have must not hide the error
			raw, _ = canon.Marshal(document.Error{Code: f.Code, Message: f.Message, Retry: f.Retry,
				Suggestion: f.Suggestion})
		}
		told = a.Write([]byte(`{"v":1,"kind":"error","error":`+string(raw)+"}\n")) == nil
	}
	if !told {
		p := a.NewPage(a.Err)
		p.Fault(f)
		_, _ = a.Err.Write(p.Bytes())
	}
	return fault.ExitOf(f)
}

// wantsJSON reports whether errors are printed as JSON. That holds also where
// the flags could not be parsed to their end: a program that asked for JSON
// gets its errors as JSON.
func (a *App) wantsJSON() bool {
	for _, arg := range a.Args {
		switch arg {
		case "--":
			return a.Flags.JSON
		case "--json", "--json=true":
			return true
		}
	}
	return a.Flags.JSON
}
