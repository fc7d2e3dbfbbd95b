// Package compact holds many small records in little memory, for answers about runs of a million events.
//
// It does not know what is recorded. Start reading at List.
package compact

import "strings"

// blockLen is the number of records of a block.
const blockLen = 1024

// List is a list that grows without being copied.
type List[T any] struct {
	blocks [][]T
	n      int
}

// Add appends a record.
func (l *List[T]) Add(record T) {
	if l.n%blockLen == 0 {
		l.blocks = append(l.blocks, make([]T, 0, min(blockLen, 16<<min(l.n, 6)))) // a short list has a short block
	}
	last := &l.blocks[len(l.blocks)-1]
	*last, l.n = append(*last, record), l.n+1
}

// Len is the number of records.
func (l *List[T]) Len() int { return l.n }

// At returns the record at an index, which may be changed.
func (l *List[T]) At(i int) *T { return &l.blocks[i/blockLen][i%blockLen] }

// Words numbers texts of which most records have one of few.
type Words[T ~string] struct {
	list   List[T]
	number map[T]int32
}

// Of returns the number of a text. A text of one record only is not searched for.
func (w *Words[T]) Of(text T, one bool) int32 {
	n, ok := w.number[text]
	if ok {
		return n
	}
	n = int32(w.list.Len())
	text = T(strings.Clone(string(text))) // not a part of a line of a log
	if w.list.Add(text); !one {
		if w.number == nil {
			w.number = map[T]int32{}
		}
		w.number[text] = n
	}
	return n
}

// Text returns the text with a number of Of.
func (w *Words[T]) Text(n int32) T { return *w.list.At(int(n)) }
