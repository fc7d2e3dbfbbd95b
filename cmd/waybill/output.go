package main

import (
	"bytes"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/command"
)

// answer prints what a command found: with --json the one document, else the
// text that people gives, written as one piece so that a failing command never
// leaves half of either.
func (a *app) answer(kind string, data any, people func(*page)) error {
	if a.common.json {
		raw, err := canon.Marshal(data)
		if err != nil {
			return fault.Wrap(err, fault.Internal, "the answer cannot be written as JSON")
		}
		return a.document(kind, raw)
	}
	p := a.newPage(a.out)
	people(p)
	return a.write(p.Bytes())
}

// document prints {"v":1,"kind":kind,"data":data} from data's JSON bytes.
func (a *app) document(kind string, data []byte) error {
	var b bytes.Buffer
	b.WriteString(`{"v":1,"kind":"` + kind + `","data":`)
	b.Write(data)
	b.WriteString("}\n")
	return a.write(b.Bytes())
}

func (a *app) write(b []byte) error {
	if _, err := a.out.Write(b); err != nil {
		return fault.Wrap(err, fault.OutputFailed, "the answer could not be written to stdout: %v", err)
	}
	return nil
}

// errorBody is a fault as programs see it (locks section 12).
type errorBody struct {
	Code       fault.Code     `json:"code"`
	Message    string         `json:"message"`
	Retry      fault.Retry    `json:"retry"`
	Suggestion string         `json:"suggestion"`
	Details    map[string]any `json:"details,omitzero"`
}

// fail prints an error and returns its exit status: with --json the one document
// on stdout, else on stderr what is wrong and what to do next. What stdout does not
// take goes to stderr too: nobody must be left with a bare exit status.
func (a *app) fail(err error) int {
	f := a.aimed(fault.Of(err))
	// The cause is for whoever looks for it: an answer shows what to do, and a bug of
	// ours always leaves its trace.
	log := a.log()
	if f.Code == fault.Internal {
		log.Error().Err(f.Err).Msg(f.Message)
	} else if f.Err != nil {
		log.Debug().Err(f.Err).Str("code", string(f.Code)).Msg("the cause")
	}
	told := false
	if a.wantsJSON() {
		raw, encErr := canon.Marshal(errorBody{Code: f.Code, Message: f.Message, Retry: f.Retry,
			Suggestion: f.Suggestion, Details: f.Details})
		if encErr != nil { // details that JSON does not have must not hide the error
			raw, _ = canon.Marshal(errorBody{Code: f.Code, Message: f.Message, Retry: f.Retry,
				Suggestion: f.Suggestion})
		}
		told = a.write([]byte(`{"v":1,"kind":"error","error":`+string(raw)+"}\n")) == nil
	}
	if !told {
		p := a.newPage(a.errOut)
		p.fault(f)
		_, _ = a.errOut.Write(p.Bytes())
	}
	return fault.ExitOf(f)
}

// aimed is f with the session that it is about and the store flags of this call in
// the commands that it suggests: a copied command must reach what is meant.
func (a *app) aimed(f *fault.Fault) *fault.Fault {
	if session, ok := f.Details["sessionId"].(string); ok {
		named := *f
		named.Suggestion = strings.ReplaceAll(f.Suggestion, "verify SESSION'", "verify "+session+"'")
		f = &named
	}
	flags := a.storeFlags()
	if len(flags) == 0 {
		return f
	}
	for i := range flags {
		flags[i] = command.Word(flags[i])
	}
	out, aim := *f, " "+strings.Join(flags, " ")
	parts := strings.Split(f.Suggestion, "'")
	for i := 1; i < len(parts)-1; i += 2 { // what stands between two quotes
		if strings.HasPrefix(parts[i], "waybill ") && !strings.Contains(parts[i], aim) {
			parts[i] += aim
		}
	}
	out.Suggestion = strings.Join(parts, "'")
	return &out
}

// wantsJSON also holds when the flags could not be parsed to their end: a
// program that asked for JSON gets its errors as JSON, whatever else it got wrong.
func (a *app) wantsJSON() bool {
	for _, arg := range a.args {
		switch arg {
		case "--":
			return a.common.json
		case "--json", "--json=true":
			return true
		}
	}
	return a.common.json
}
