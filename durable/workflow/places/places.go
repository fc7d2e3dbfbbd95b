// Package places finds where the parts of a workflow file are written: the line and the column of the
// key of a member, or of an item. Parsed values know the line on which they begin; an author looks for
// the key, which may be above.
//
// The package judges nothing and changes no problem but its place. It reads the text again, which only
// files with problems cost. Start reading at Locate.
package places

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// Locate returns problems of a file with the places of their pointers in its text, sorted. A pointer to
// a member that is absent has the place of the object that lacks it. Problems without a line, and those
// of the whole file, stay as they are, and so do all of a text with more than limits.WorkflowValuesMax
// values, which is never read whole. isJSON is the language of the text, which is known to be valid.
func Locate(data []byte, isJSON bool, found []problem.Problem) []problem.Problem {
	count := yaml.CountValues
	if isJSON {
		count = canon.CountValues
	}
	wanted := yaml.Wanted{}
	for _, p := range found {
		if p.Line > 0 {
			wanted.Add(p.Pointer)
		}
	}
	if len(wanted) == 0 || count(data) > limits.WorkflowValuesMax {
		found = slices.Clone(found)
		problem.Sort(found)
		return found
	}
	at := map[string]yaml.Place{}
	if isJSON {
		(&reader{text: data, in: json.NewDecoder(bytes.NewReader(data)), wanted: wanted, at: at, line: 1, column: 1}).value("")
	} else {
		yaml.Places(data, wanted, at)
	}
	out := slices.Clone(found)
	for i, p := range out {
		if p.Line == 0 || p.Pointer == "" {
			continue
		}
		for pointer := p.Pointer; pointer != ""; pointer = pointer[:strings.LastIndexByte(pointer, '/')] {
			if place, ok := at[pointer]; ok {
				out[i].Line, out[i].Column = place.Line, place.Column
				break
			}
		}
	}
	problem.Sort(out)
	return out
}

// reader walks JSON text that is known to be valid, and records places.
type reader struct {
	text   []byte
	in     *json.Decoder
	wanted yaml.Wanted
	at     map[string]yaml.Place
	// The place of the offset start, up to which characters are counted.
	line, column, start int
}

// value reads one value. What is below it is descended into only where a place below it is wanted.
func (r *reader) value(pointer string) {
	if !r.wanted[pointer] {
		var skipped json.RawMessage
		_ = r.in.Decode(&skipped) // the text is valid
		return
	}
	switch open, _ := r.in.Token(); open {
	case json.Delim('{'):
		for r.in.More() {
			place := r.next()
			name, err := r.in.Token()
			key, _ := name.(string)
			if err != nil {
				return
			}
			r.member(pointer+"/"+canon.EscapePointer(key), place)
		}
	case json.Delim('['):
		for i := 0; r.in.More(); i++ {
			r.member(pointer+"/"+strconv.Itoa(i), r.next())
		}
	default:
		return
	}
	_, _ = r.in.Token() // the closing bracket
}

// member records the place of a member or an item and reads its value.
func (r *reader) member(pointer string, place yaml.Place) {
	if r.wanted[pointer] {
		r.at[pointer] = place
	}
	r.value(pointer)
}

// next returns the place of the next token, behind white space and the comma before it.
func (r *reader) next() yaml.Place {
	to := int(r.in.InputOffset())
	for to < len(r.text) && strings.IndexByte(" \t\r\n,", r.text[to]) >= 0 {
		to++
	}
	// Each byte is counted once, however long a line is.
	for ; r.start < to; r.start++ {
		switch c := r.text[r.start]; {
		case c == '\n':
			r.line, r.column = r.line+1, 1
		case utf8.RuneStart(c):
			r.column++
		}
	}
	return yaml.Place{Line: r.line, Column: r.column}
}
