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
			return withoutList(kind, l.Name)
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

// heldMax bounds the encoded items that DocumentAfter holds, in bytes.
const heldMax = 4 << 20

// DocumentAfter is Document for data that is known after the items of its only list. Items of more than heldMax bytes are
// written while they are passed: the list is the first member of such a document, instead of that in the order of names.
func (s *Stream) DocumentAfter(kind, list string, each func(add func(item any) error) (data any, err error)) error {
	var held []byte // the items, until the document begins
	begun := false
	data, err := each(func(item any) error {
		raw, err := encode(item)
		if err != nil || len(raw) == 0 {
			return err
		}
		if begun {
			return s.Add([]byte{','}, raw)
		}
		if len(held) > 0 {
			held = append(held, ',')
		}
		if held = append(held, raw...); len(held) <= heldMax {
			return nil
		}
		err = s.Add([]byte(`{"v":1,"kind":"`+kind+`","data":{"`+list+`":[`), held)
		begun, held = true, nil
		return err
	})
	if err != nil {
		return err
	}
	if !begun {
		return s.Document(kind, data, List{list, func(add func(any) error) error { return add(Encoded(held)) }})
	}
	rest, err := canon.Marshal(data)
	if err != nil {
		return EncodingFault(err)
	}
	at := emptyList(rest, list)
	if at < 0 {
		return withoutList(kind, list)
	}
	before, after := rest[1:at-len(`"":[`)-len(list)], rest[at+1:] // with the commas around the list
	if len(before) == 0 {
		return s.End([]byte("]"), after, []byte("}\n"))
	}
	return s.End([]byte("],"), before[:len(before)-1], after, []byte("}\n"))
}

// withoutList is the error for data that does not have a list, as an empty one.
func withoutList(kind, list string) error {
	return fault.New(fault.Invariant, "the document %s has no empty list %s", kind, list)
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
		raw, err := encode(item)
		if err != nil || len(raw) == 0 {
			return err
		}
		err = s.Add(comma, raw)
		comma = []byte{','}
		return err
	}
}

// encode returns an item of a list as JSON.
func encode(item any) ([]byte, error) {
	if raw, ok := item.(Encoded); ok {
		return raw, nil
	}
	raw, err := canon.Marshal(item)
	if err != nil {
		return nil, EncodingFault(err)
	}
	return raw, nil
}

// EncodingFault is the error for data that cannot be encoded.
func EncodingFault(err error) error {
	return fault.Wrap(err, fault.Internal, "cannot encode the answer as JSON")
}
