package places_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/places"
)

// TestLocate: the place of a member is that of its key, of an item its own, and of an absent member that
// of the object. Columns count characters.
func TestLocate(t *testing.T) {
	const js = "{\"a\": 1,\r\n  \"ärger\": [1, 2,\n\t{\"x/y~\": [\n  {}, \"\u00e9\u00e9\", {\"deep\":\n\n null}]}],\n \"skip\": {\"a\": [\"]}\"]}, \"z\" : 3}"
	const yml = "\ufeffa: 1\nlong: [é, é, {x/y~: 1}]\nblock:\n    - k: 1\n      later:\n\n        - 5\n    -\n      q: 2\n\"quoted\" : |\n  text\nz: {}\n"
	for _, row := range []struct {
		text    string
		pointer string
		want    string
	}{
		{js, "/a", "1:2"}, {js, "/ärger", "2:3"}, {js, "/ärger/0", "2:13"}, {js, "/ärger/2", "3:2"},
		{js, "/ärger/2/x~1y~0", "3:3"}, {js, "/ärger/2/x~1y~0/2/deep", "4:14"}, {js, "/skip/a/0", "7:17"},
		{js, "/z", "7:25"}, {js, "/z/absent", "7:25"}, {js, "/absent", "9:0"}, {js, "", "9:0"},
		{yml, "/a", "1:1"}, {yml, "/long/1", "2:11"}, {yml, "/long/2/x~1y~0", "2:15"}, {yml, "/block", "3:1"},
		{yml, "/block/0", "4:7"}, {yml, "/block/0/later", "5:7"}, {yml, "/block/0/later/0", "7:11"}, {yml, "/block/1/q", "9:7"},
		{yml, "/quoted", "10:1"}, {yml, "/z", "12:1"}, {yml, "/block/1/absent", "9:7"},
	} {
		in := []problem.Problem{{Pointer: row.pointer, Line: 9, Message: "m"}, {Message: "of the file"}}
		got := places.Locate([]byte(row.text), strings.HasPrefix(row.text, "{"), in)
		if at := fmt.Sprintf("%d:%d", got[0].Line, got[0].Column); at != row.want || got[1].Line != 0 || in[0].Line != 9 {
			t.Errorf("%s: got %s (%+v), want %s", row.pointer, at, got[1], row.want)
		}
	}
}

// TestLocateSorts: problems are in the order of the text, not by the lines of their values.
func TestLocateSorts(t *testing.T) {
	got := places.Locate([]byte("b: 1\na:\n  - 1\n"), false, []problem.Problem{{Pointer: "/a", Line: 1}, {Pointer: "/b", Line: 2},
		{Pointer: "/a/0", Line: 1}})
	text := ""
	for _, p := range got {
		text += p.Pointer + "=" + p.Position() + " "
	}
	if text != "/b=1:1 /a=2:1 /a/0=3:5 " {
		t.Error(text)
	}
}

// TestLocateIsLinear: a line with very many members does not cost the square of its length.
func TestLocateIsLinear(t *testing.T) {
	text := `{"a": 1` + strings.Repeat(`, "k": 2`, 90_000) + `, "z": 3}`
	got := places.Locate([]byte(text), true, []problem.Problem{{Pointer: "/z", Line: 1}})
	if got[0].Column != len(text)-6 {
		t.Errorf("got %d, want %d", got[0].Column, len(text)-6)
	}
	// A text with too many values is not read, in either language.
	many := strings.Repeat("k: 1\n", 110_000)
	if got := places.Locate([]byte(many), false, []problem.Problem{{Pointer: "/k", Line: 7}}); got[0].Line != 7 {
		t.Errorf("got %+v", got[0])
	}
}
