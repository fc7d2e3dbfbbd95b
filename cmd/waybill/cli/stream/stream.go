// Package stream writes answers of any length while they are made: text, lines and JSON documents.
//
// It knows neither stores nor flags. Start reading at Stream.
package stream

import (
	"bytes"
	"encoding/json"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// partBytes is the size of a part of a stream. A shorter answer is written with one call of Write, and not at
// all if the command fails before its end.
const partBytes = 64 << 10

// Stream writes an answer of any length while it is made, in parts of about partBytes. End writes the rest. An
// error after the first part is printed on stderr also with --json, since stdout has the beginning of a document.
type Stream struct {
	write func([]byte) error
	// unfinished is set while stdout has the beginning of an answer only.
	unfinished *bool
	part       []byte
}

// New returns a stream that is written with write.
func New(write func([]byte) error, unfinished *bool) *Stream {
	return &Stream{write: write, unfinished: unfinished}
}

// Add appends text, which must end with a whole character.
func (s *Stream) Add(text ...[]byte) error {
	for _, t := range text {
		s.part = append(s.part, t...)
	}
	if len(s.part) < partBytes {
		return nil
	}
	*s.unfinished = true
	return s.flush()
}

// Page appends the text of a page once it is long enough, and empties the page.
func (s *Stream) Page(p *page.Page) error {
	if p.Len() < partBytes {
		return nil
	}
	err := s.Add(p.Bytes())
	p.Reset()
	return err
}

// End writes the rest.
func (s *Stream) End(text ...[]byte) error {
	err := s.Add(text...)
	if err == nil {
		err = s.flush()
	}
	*s.unfinished = *s.unfinished && err != nil
	return err
}

// flush writes what was added. A part of no bytes is not written.
func (s *Stream) flush() error {
	if len(s.part) == 0 {
		return nil
	}
	err := s.write(s.part)
	s.part = s.part[:0]
	return err
}

// List is a list of a streamed document. Each passes its items, one after the other; an item of type Encoded is one
// or several items as JSON, separated by commas.
type List struct {
	Name string
	Each func(add func(item any) error) error
}

// Encoded is JSON that was encoded before.
type Encoded []byte

// Document writes a document as the command line prints it, for data whose lists are empty and have these items
// instead. The lists are in the order of their names, which is that of the members of a document.
func (s *Stream) Document(kind string, data any, lists ...List) error {
	rest, err := canon.Marshal(data)
	if err != nil {
		return EncodingFault(err)
	}
	if err := s.Add([]byte(`{"v":1,"kind":"` + kind + `","data":`)); err != nil {
		return err
	}
	written := 0
	for _, l := range lists {
		at := emptyList(rest, l.Name)
		if at < written {
			return fault.New(fault.Invariant, "the document %s has no empty list %s", kind, l.Name)
		}
		if err := s.Add(rest[written:at]); err != nil {
			return err
		}
		if err := l.Each(s.items()); err != nil {
			return err
		}
		written = at
	}
	return s.End(rest[written:], []byte("}\n"))
}

// emptyList returns where the items of an empty list of an object belong, -1 for an object without the list. A value of
// another member may contain the same text.
func emptyList(object []byte, name string) int {
	d := json.NewDecoder(bytes.NewReader(object))
	_, err := d.Token()
	for err == nil && d.More() {
		var key json.Token
		var value json.RawMessage
		if key, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if err == nil && key == name && string(value) == "[]" {
			return int(d.InputOffset()) - 1
		}
	}
	return -1
}

// items returns a function that appends the items of a list.
func (s *Stream) items() func(item any) error {
	comma := []byte{}
	return func(item any) error {
		raw, ok := item.(Encoded)
		if !ok {
			var err error
			if raw, err = canon.Marshal(item); err != nil {
				return EncodingFault(err)
			}
		}
		if len(raw) == 0 {
			return nil
		}
		err := s.Add(comma, raw)
		comma = []byte{','}
		return err
	}
}

// EncodingFault is the error for data that cannot be encoded.
func EncodingFault(err error) error {
	return fault.Wrap(err, fault.Internal, "cannot encode the answer as JSON")
}
