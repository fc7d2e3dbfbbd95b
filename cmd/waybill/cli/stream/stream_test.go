package stream_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/cmd/waybill/cli/stream"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

type numbers struct {
	About canon.Value `json:"about,omitzero"`
	Even  []int       `json:"even"`
	Odd   []int       `json:"odd"`
	Title string      `json:"title"`
}

var about = canon.OfMembers(canon.Member{Name: "even", Value: canon.OfList()}, canon.Member{Name: "odd", Value: canon.OfList()})

// document streams the document of the numbers below n, and returns it and the number of writes.
func document(t *testing.T, n int) (out string, writes int) {
	t.Helper()
	unfinished := false
	s := stream.New(func(b []byte) error {
		out, writes = out+string(b), writes+1
		return nil
	}, &unfinished)
	list := func(name string, from int) stream.List {
		return stream.List{Name: name, Each: func(add func(any) error) error {
			for i := from; i < n; i += 2 {
				if err := add(i); err != nil {
					return err
				}
			}
			return nil
		}}
	}
	// Neither the title nor a member of another value must be taken for a list.
	if err := s.Document("numbers", numbers{about, []int{}, []int{}, `"even":[]`}, list("even", 0), list("odd", 1)); err != nil {
		t.Fatal(err)
	}
	if unfinished {
		t.Error("a whole document is unfinished")
	}
	return out, writes
}

// TestDocumentHasTheBytesOfOneInMemory: of any length; a short one is written at once, and a long one in parts.
func TestDocumentHasTheBytesOfOneInMemory(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 50_000} {
		want := numbers{about, []int{}, []int{}, `"even":[]`}
		for i := range n {
			if i%2 == 0 {
				want.Even = append(want.Even, i)
			} else {
				want.Odd = append(want.Odd, i)
			}
		}
		raw, err := canon.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		out, writes := document(t, n)
		if out != fmt.Sprintf(`{"v":1,"kind":"numbers","data":%s}`+"\n", raw) {
			t.Errorf("%d numbers: %.200s", n, out)
		}
		if long := n > 10_000; long && writes < 4 || !long && writes != 1 {
			t.Errorf("%d numbers in %d writes", n, writes)
		}
	}
}

// TestEncodedItemsAreCopied: one or several of them, and none.
func TestEncodedItemsAreCopied(t *testing.T) {
	var out strings.Builder
	unfinished := false
	s := stream.New(func(b []byte) error { out.Write(b); return nil }, &unfinished)
	err := s.Document("x", numbers{Even: []int{}, Odd: []int{}},
		stream.List{Name: "even", Each: func(add func(any) error) error { return add(stream.Encoded(nil)) }},
		stream.List{Name: "odd", Each: func(add func(any) error) error {
			return errors.Join(add(stream.Encoded("1.0,3")), add(5))
		}})
	if want := `{"v":1,"kind":"x","data":{"even":[],"odd":[1.0,3,5],"title":""}}` + "\n"; err != nil || out.String() != want {
		t.Errorf("%s, %v", out.String(), err)
	}
	if err := s.Document("x", numbers{}, stream.List{Name: "other"}); fault.CodeOf(err) != fault.Invariant {
		t.Errorf("a list that the document does not have: %v", err)
	}
}

// TestShortAnswerOfAFailedCommandIsNotWritten: of a long one the beginning was, which is known.
func TestShortAnswerOfAFailedCommandIsNotWritten(t *testing.T) {
	for _, size := range []int{10, 1 << 20} {
		written, unfinished := 0, false
		s := stream.New(func(b []byte) error { written += len(b); return nil }, &unfinished)
		if err := s.Add(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if long := size > 100; (written > 0) != long || unfinished != long {
			t.Errorf("%d of %d bytes are written, unfinished %v", written, size, unfinished)
		}
		if err := s.End(); err != nil || unfinished || written != size {
			t.Errorf("%d of %d bytes are written at the end, unfinished %v, %v", written, size, unfinished, err)
		}
	}
}
