package trailer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/trailer"
)

func of(n int) trailer.Trailer {
	return trailer.Trailer{Run: id.NewRun(id.Seed{byte(n), byte(n >> 8)}), Head: canon.Sum([]byte{byte(n), byte(n >> 8)})}
}

func ExampleFind() {
	t := trailer.Trailer{Run: id.NewRun(id.Seed{1}), Head: canon.Sum([]byte("a log"))}
	found := trailer.Find("Fix the parser\n\nIt was slow.\n\nSigned-off-by: Ada <ada@example.org>\n" + t.String() + "\n")
	fmt.Println(len(found.Trailers), found.Trailers[0] == t)
	// Output: 1 true
}

// TestTrailersOfAMessage: which lines of a message are trailers, and which are counted.
func TestTrailersOfAMessage(t *testing.T) {
	one, two := of(1), of(2)
	run, head := one.Run.String(), one.Head.String()
	for name, c := range map[string]struct {
		message   string
		want      []trailer.Trailer
		malformed int
	}{
		"none":                    {"Fix\n\ntext\n", nil, 0},
		"empty":                   {"", nil, 0},
		"last line without end":   {"Fix\n\n" + one.String(), []trailer.Trailer{one}, 0},
		"line ends of other OSes": {"Fix\r\n\r\n" + one.String() + "\r\n" + two.String() + "\r\n", []trailer.Trailer{one, two}, 0},
		"joined messages":         {"a\n\n" + one.String() + "\n\nb\n\n" + two.String() + "\n\nmore text\n", []trailer.Trailer{one, two}, 0},
		"twice":                   {one.String() + "\n" + two.String() + "\n" + one.String() + "\n", []trailer.Trailer{one, two}, 0},
		"another case, blanks":    {"waybill-RUN \t:\t" + run + "  " + head + " \t\n", []trailer.Trailer{one}, 0},
		"indented":                {"    " + one.String() + "\n> " + one.String() + "\n", nil, 0},
		"another key":             {"Waybill-Runs: " + run + " " + head + "\nX-" + one.String() + "\n", nil, 0},
		"without a colon":         {"Waybill-Run " + run + " " + head + "\n", nil, 0},
		"no head":                 {"Waybill-Run: " + run + "\n", nil, 1},
		"more words":              {one.String() + " x\n", nil, 1},
		"a prefix of the id":      {"Waybill-Run: " + run[:12] + " " + head + "\n", nil, 1},
		"an id in capitals":       {"Waybill-Run: " + strings.ToUpper(run) + " " + head + "\n", nil, 1},
		"another kind of id":      {"Waybill-Run: sess_" + run[4:] + " " + head + "\n", nil, 1},
		"a digest in capitals":    {"Waybill-Run: " + run + " sha256:" + strings.ToUpper(head[7:]) + "\n", nil, 1},
		"a short digest":          {"Waybill-Run: " + run + " " + head[:20] + "\n", nil, 1},
		"other blanks":            {"Waybill-Run: " + run + "\u00a0" + head + "\n", nil, 1},
		"a terminal's sequence":   {"Waybill-Run: " + run + " " + head + "\x1b[2J\nWaybill-Run:\x00\n", nil, 2},
		"no text":                 {"\xff\xfe\nWaybill-Run: \xff\n" + one.String() + "\n", []trailer.Trailer{one}, 1},
		"a folded line":           {"Waybill-Run: " + run + "\n  " + head + "\n", nil, 1},
	} {
		got := trailer.Find(c.message)
		if !slices.Equal(got.Trailers, c.want) || got.Malformed != c.malformed || got.Omitted != 0 {
			t.Errorf("%s: got %+v, want %v and %d malformed", name, got, c.want, c.malformed)
		}
	}
}

// TestManyTrailers: the last ones count, since a hook adds its trailer at the end.
func TestManyTrailers(t *testing.T) {
	var message strings.Builder
	for n := range 1000 {
		message.WriteString(of(n).String() + "\n")
	}
	got := trailer.Find(message.String())
	if len(got.Trailers) != limits.CommitTrailersMax || got.Omitted != 1000-limits.CommitTrailersMax || got.Malformed != 0 {
		t.Fatalf("%d trailers, %d omitted, %d malformed", len(got.Trailers), got.Omitted, got.Malformed)
	}
	if last := got.Trailers[len(got.Trailers)-1]; last != of(999) {
		t.Errorf("the last one is %v", last)
	}
}

// FuzzFind: any message is read, each trailer is spelled as it was found, and reading what was found
// gives the same.
func FuzzFind(f *testing.F) {
	f.Add("Fix\n\n" + of(1).String() + "\n")
	f.Add("waybill-run : run_\xff sha256:\n")
	f.Fuzz(func(t *testing.T, message string) {
		found := trailer.Find(message)
		var again strings.Builder
		for _, x := range found.Trailers {
			again.WriteString(x.String() + "\n")
			if !strings.Contains(message, x.Run.String()) || !strings.Contains(message, x.Head.String()) {
				t.Errorf("%v is not in the message", x)
			}
		}
		if got := trailer.Find(again.String()); !slices.Equal(got.Trailers, found.Trailers) || got.Malformed+got.Omitted != 0 {
			t.Errorf("read again: %+v, want %+v", got, found)
		}
	})
}
