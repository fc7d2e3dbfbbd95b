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

// TestListPrecedesWhatIsKnownAfterIt: a short document has the bytes of any other; in a long one the list is the first member,
// and is written while it is passed.
func TestListPrecedesWhatIsKnownAfterIt(t *testing.T) {
	text := strings.Repeat("text", 500)
	for _, data := range []any{
		struct {
			Items []string `json:"items"`
			Last  string   `json:"last"`
		}{[]string{}, `"items":[]`},
		struct {
			First string   `json:"first"`
			Items []string `json:"items"`
		}{`"items":[]`, []string{}},
		struct {
			First int      `json:"first"`
			Items []string `json:"items"`
			Last  int      `json:"last"`
		}{1, []string{}, 2},
		struct {
			Items []string `json:"items"`
		}{[]string{}},
	} {
		for _, n := range []int{0, 1, 3, 3000} {
			var out, whole strings.Builder
			unfinished, writtenBefore := false, 0
			pass := func(add func(any) error) (any, error) {
				for range n {
					if err := add(text); err != nil {
						return nil, err
					}
				}
				writtenBefore = out.Len()
				return data, nil
			}
			s := stream.New(func(b []byte) error { out.Write(b); return nil }, &unfinished)
			if err := s.DocumentAfter("x", "items", pass); err != nil || unfinished {
				t.Fatal(err, unfinished)
			}
			s = stream.New(func(b []byte) error { whole.Write(b); return nil }, &unfinished)
			list := stream.List{Name: "items", Each: func(add func(any) error) error { _, err := pass(add); return err }}
			if err := s.Document("x", data, list); err != nil {
				t.Fatal(err)
			}
			if n < 3000 {
				if out.String() != whole.String() {
					t.Errorf("%d items: %s", n, out.String())
				}
				continue
			}
			got, err := canon.Parse([]byte(out.String()))
			want, _ := canon.Parse([]byte(whole.String()))
			if err != nil || !got.Equal(want) || !strings.HasPrefix(out.String(), `{"v":1,"kind":"x","data":{"items":["text`) {
				t.Errorf("%d items: %.100s … %s, %v", n, out.String(), out.String()[out.Len()-100:], err)
			}
			if writtenBefore < out.Len()/2 {
				t.Errorf("%d of %d bytes are written while the items are passed", writtenBefore, out.Len())
			}
		}
	}
}

// TestDocumentAfterFailure: nothing of a short document is written, and of a long one the beginning, which is known.
func TestDocumentAfterFailure(t *testing.T) {
	broken, text := errors.New("broken"), strings.Repeat("text", 500)
	for _, n := range []int{10, 3000} {
		written, unfinished := 0, false
		s := stream.New(func(b []byte) error { written += len(b); return nil }, &unfinished)
		err := s.DocumentAfter("x", "even", func(add func(any) error) (any, error) {
			for range n {
				if err := add(text); err != nil {
					return nil, err
				}
			}
			return nil, broken
		})
		if long := n > 10; !errors.Is(err, broken) || (written > 0) != long || unfinished != long {
			t.Errorf("%d items: %v, %d bytes are written, unfinished %v", n, err, written, unfinished)
		}
		err = s.DocumentAfter("x", "other", func(add func(any) error) (any, error) {
			return numbers{}, errors.Join(add(stream.Encoded(strings.Repeat(text, n))), add(1))
		})
		if fault.CodeOf(err) != fault.Invariant {
			t.Errorf("%d items of a list that the document does not have: %v", n, err)
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
