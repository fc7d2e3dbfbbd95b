package stream

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"io"
	"slices"

	"github.com/waybill/waybill/durable/sorting"
)

// sortedPartBytes is the size of the pieces that are kept as they are. Those of a shorter answer are not compressed.
const sortedPartBytes = 1 << 20

// Sorted keeps the pieces of an answer that are made in another order than they are printed in. Most of them are kept
// compressed, in parts that are sorted each.
type Sorted struct {
	part  []piece
	bytes int // of part
	parts []sortedPart
	size  int // bytes of parts
	w     *flate.Writer
}

// piece is a piece with its place.
type piece struct {
	place int
	text  []byte
}

// sortedPart is a part: the lengths and places of its pieces before their bytes.
type sortedPart struct {
	first int // place
	data  []byte
}

// Add adds a piece.
func (s *Sorted) Add(place int, text []byte) error {
	s.part, s.bytes = append(s.part, piece{place, bytes.Clone(text)}), s.bytes+len(text)
	if s.bytes < sortedPartBytes {
		return nil
	}
	return s.compress()
}

// Size is the number of bytes in memory.
func (s *Sorted) Size() int { return s.bytes + s.size }

// compress makes a part.
func (s *Sorted) compress() error {
	s.sort()
	var out bytes.Buffer
	if s.w == nil {
		w, err := flate.NewWriter(&out, flate.DefaultCompression)
		if err != nil {
			return EncodingFault(err)
		}
		s.w = w
	}
	s.w.Reset(&out)
	var number []byte
	for _, p := range s.part {
		number = binary.AppendUvarint(binary.AppendUvarint(number[:0], uint64(p.place)), uint64(len(p.text)))
		_, _ = s.w.Write(number) // a buffer takes all
		_, _ = s.w.Write(p.text)
	}
	if err := s.w.Close(); err != nil {
		return EncodingFault(err)
	}
	s.parts = append(s.parts, sortedPart{s.part[0].place, bytes.Clone(out.Bytes())})
	s.size += out.Len()
	clear(s.part)
	s.part, s.bytes = s.part[:0], 0
	return nil
}

// sort sorts the pieces that are kept as they are.
func (s *Sorted) sort() {
	slices.SortStableFunc(s.part, func(a, b piece) int { return cmp.Compare(a.place, b.place) })
}

// Each passes the pieces in the order of their places. A piece must not be kept. No piece can be added any more.
func (s *Sorted) Each(each func(text []byte) error) error {
	s.sort()
	s.w = nil
	sorting.By(s.parts, func(a, b sortedPart) int { return cmp.Compare(a.first, b.first) })
	open := []*partReader{{rest: s.part}} // ordered by their next piece
	if len(s.part) == 0 {
		open = nil
	}
	for {
		// A part is opened once its first piece is the next one.
		for len(s.parts) > 0 && (len(open) == 0 || s.parts[0].first < open[0].next().place) {
			r := newPartReader(s.parts[0].data)
			if err := r.read(); err != nil {
				return err
			}
			s.parts = s.parts[1:]
			open = insert(open, r)
		}
		if len(open) == 0 {
			return nil
		}
		r := open[0]
		if err := each(r.next().text); err != nil {
			return err
		}
		if err := r.read(); err != nil {
			return err
		}
		if open = open[1:]; len(r.rest) > 0 {
			open = insert(open, r)
		}
	}
}

// insert inserts a part by its next piece.
func insert(open []*partReader, r *partReader) []*partReader {
	at, _ := slices.BinarySearchFunc(open, r.next().place, func(o *partReader, place int) int {
		return cmp.Compare(o.next().place, place)
	})
	return slices.Insert(open, at, r)
}

// partReader reads a part.
type partReader struct {
	rest []piece // those that were read, or all of a part that is not compressed
	in   interface {
		io.Reader
		io.ByteReader
	}
}

// newPartReader returns a reader behind whose read the first piece is the next one.
func newPartReader(data []byte) *partReader {
	return &partReader{in: byteReader{flate.NewReader(bytes.NewReader(data))}, rest: make([]piece, 1)}
}

// next is the next piece.
func (r *partReader) next() piece { return r.rest[0] }

// read makes the piece behind the next one the next one; rest is empty behind the last one.
func (r *partReader) read() error {
	if r.in == nil {
		r.rest = r.rest[1:]
		return nil
	}
	place, err := binary.ReadUvarint(r.in)
	if err == io.EOF {
		r.rest = nil
		return nil
	}
	if err != nil {
		return EncodingFault(err)
	}
	length, err := binary.ReadUvarint(r.in)
	if err != nil {
		return EncodingFault(err)
	}
	text := slices.Grow(r.rest[0].text[:0], int(length))[:length]
	if _, err := io.ReadFull(r.in, text); err != nil {
		return EncodingFault(err)
	}
	r.rest[0] = piece{int(place), text}
	return nil
}

// byteReader reads bytes one at a time from a reader that has them in memory.
type byteReader struct{ io.Reader }

// ReadByte implements io.ByteReader.
func (r byteReader) ReadByte() (byte, error) {
	var one [1]byte
	_, err := io.ReadFull(r.Reader, one[:])
	return one[0], err
}
