package id_test

import (
	"encoding"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"pgregory.net/rapid"
)

// text is the method set of every id type, so that one table can hold them all.
type text interface {
	encoding.TextMarshaler
	String() string
	IsZero() bool
}

// kinds lists every id type with its prefix and its parser.
var kinds = []struct {
	prefix string
	zero   text
	parse  func(string) (text, error)
}{
	{"sess", id.Session{}, func(s string) (text, error) { return id.ParseSession(s) }},
	{"run", id.Run{}, func(s string) (text, error) { return id.ParseRun(s) }},
	{"node", id.Node{}, func(s string) (text, error) { return id.ParseNode(s) }},
	{"evt", id.Event{}, func(s string) (text, error) { return id.ParseEvent(s) }},
	{"attempt", id.Attempt{}, func(s string) (text, error) { return id.ParseAttempt(s) }},
	{"store", id.Store{}, func(s string) (text, error) { return id.ParseStore(s) }},
	{"out", id.Output{}, unmarshal[id.Output]},
	{"gap", id.Gap{}, unmarshal[id.Gap]},
	{"chg", id.Change{}, unmarshal[id.Change]},
	{"trace", id.Trace{}, unmarshal[id.Trace]},
	{"capobs", id.CapObs{}, unmarshal[id.CapObs]},
	{"div", id.Divergence{}, unmarshal[id.Divergence]},
	{"ctx", id.Context{}, unmarshal[id.Context]},
	{"ann", id.Annotation{}, unmarshal[id.Annotation]},
	{"prop", id.Proposal{}, unmarshal[id.Proposal]},
	{"bundle", id.Bundle{}, unmarshal[id.Bundle]},
}

func unmarshal[T text](s string) (text, error) {
	var out T
	err := any(&out).(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
	return out, err
}

// Sixteen zero bytes, and sixteen that end in the bits 01: its last character
// carries them and two bits of padding.
const (
	zeros   = "aaaaaaaaaaaaaaaaaaaaaaaaaa"
	lastBit = "aaaaaaaaaaaaaaaaaaaaaaaaae"
)

func TestEveryKindHasOneSpelling(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.prefix, func(t *testing.T) {
			for _, body := range []string{zeros, lastBit, "234567abcdefghijklmnopqrsy"} {
				got, err := k.parse(k.prefix + "_" + body)
				if err != nil || got.String() != k.prefix+"_"+body || got.IsZero() {
					t.Errorf("%s: got %v, %v", body, got, err)
				}
				if b, err := got.MarshalText(); err != nil || string(b) != got.String() {
					t.Errorf("%s is stored as %s, %v", got, b, err)
				}
			}
			for name, bad := range map[string]string{
				"nothing": "", "prefix alone": k.prefix + "_", "no prefix": zeros, "other prefix": "x" + k.prefix +
					"_" + zeros,
				"prefix in capitals": strings.ToUpper(k.prefix) + "_" + zeros, "other separator": k.prefix + "-" +
					zeros,
				"too short": k.prefix + "_" + zeros[1:], "15 bytes": k.prefix + "_" + zeros[2:], "20 bytes": k.prefix +
					"_" + zeros + zeros[:6], "too long": k.prefix + "_" + zeros + "a", "padded": k.prefix + "_" +
					zeros + "======",
				"capital": k.prefix + "_A" + zeros[1:], "digit outside the alphabet": k.prefix + "_1" + zeros[1:],
				"space":                          " " + k.prefix + "_" + zeros,
				"line break, which base32 skips": k.prefix + "_" + zeros[1:] + "\n", "other letter": k.prefix + "_é" +
					zeros[2:],
			} {
				if got, err := k.parse(bad); err == nil {
					t.Errorf("%s: %q is accepted as %s", name, bad, got)
				} else if want := "want " + k.prefix + "_ and 26 characters of a-z2-7"; err.Error() != want {
					t.Errorf("%s: got %q, want %q", name, err, want)
				}
			}
		})
	}
}

func TestPrefixesAreDistinct(t *testing.T) {
	for _, k := range kinds {
		for _, other := range kinds {
			if _, err := k.parse(other.prefix + "_" + zeros); (err == nil) != (k.prefix == other.prefix) {
				t.Errorf("a %s id as a %s id: %v", other.prefix, k.prefix, err)
			}
		}
	}
}

// 26 characters hold 130 bits: of the 32 last characters, 8 have no padding bit set.
func TestPaddingBitsAreZero(t *testing.T) {
	var accepted string
	for _, c := range "abcdefghijklmnopqrstuvwxyz234567" {
		if _, err := id.ParseRun("run_" + zeros[1:] + string(c)); err == nil {
			accepted += string(c)
		}
	}
	if accepted != "aeimquy4" {
		t.Errorf("last characters %q are accepted, want aeimquy4", accepted)
	}
}

func TestZeroIDsAreNeverStored(t *testing.T) {
	for _, k := range kinds {
		if !k.zero.IsZero() || k.zero.String() != "" {
			t.Errorf("the zero %s id is %q", k.prefix, k.zero)
		}
		if b, err := k.zero.MarshalText(); err == nil || err.Error() != "id: zero "+k.prefix+" id" {
			t.Errorf("the zero %s id is stored as %q, %v", k.prefix, b, err)
		}
		if b, err := json.Marshal(k.zero); err == nil {
			t.Errorf("the zero %s id is encoded as %s", k.prefix, b)
		}
	}
}

func TestUnmarshalTextErrorLeavesIDUnchanged(t *testing.T) {
	r := id.NewRun(id.Seed{1})
	before := r
	if err := r.UnmarshalText([]byte("run_x")); err == nil || r != before {
		t.Errorf("got %s, %v", r, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, k := range kinds {
		f.Add(k.prefix + "_" + zeros)
		f.Add(k.prefix + "_" + zeros[1:] + "b")
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, k := range kinds {
			if got, err := k.parse(s); err == nil && got.String() != s {
				t.Fatalf("%q is accepted as %s", s, got)
			}
		}
	})
}

func TestParseAcceptsDerivedIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := id.NewRun(seed(t, "seed"))
		if back, err := id.ParseRun(r.String()); err != nil || back != r {
			t.Fatalf("%s parses as %s, %v", r, back, err)
		}
	})
}

func seed(t *rapid.T, label string) id.Seed {
	return id.Seed(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, label))
}

// TestIDsAreOrderedAsTheirTexts: lists in the order of ids look sorted, and directories are read in it.
func TestIDsAreOrderedAsTheirTexts(t *testing.T) {
	compare := func(t interface{ Errorf(string, ...any) }, a, b id.Node) {
		if got, want := a.Compare(b), strings.Compare(a.String(), b.String()); got != want {
			t.Errorf("%s is compared with %s as %d, want %d", a, b, got, want)
		}
	}
	all := []id.Node{{}, id.Node{}.OfRaw([16]byte{})}
	for at := range 16 {
		for bit := range 8 {
			var raw [16]byte
			raw[at] = 1 << bit
			all = append(all, id.Node{}.OfRaw(raw))
		}
	}
	for _, a := range all {
		for _, b := range all {
			compare(t, a, b)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		a := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "a"))
		b := a
		b[rapid.IntRange(0, 15).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
		compare(rt, id.Node{}.OfRaw(a), id.Node{}.OfRaw(b))
		sorted := append([]id.Node{id.Node{}.OfRaw(b), id.Node{}.OfRaw(a)}, all...)
		id.Sort(sorted)
		if !slices.IsSortedFunc(sorted, func(a, b id.Node) int { return strings.Compare(a.String(), b.String()) }) {
			rt.Errorf("Sort returns %s", sorted)
		}
	})
}
