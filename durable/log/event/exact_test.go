package event_test

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/ports/porttest/sample"
	"pgregory.net/rapid"
)

// checkDecodersAgree checks that decodeExact accepts a line exactly when decodeAny decodes it to an
// event that is not foreign, and that both return the same event.
func checkDecodersAgree(t interface {
	Helper()
	Fatalf(string, ...any)
}, text []byte) (exact bool) {
	t.Helper()
	long, err := event.Domain.DecodeLineAny(text)
	short, exact := event.Domain.DecodeLineExact(text)
	if accepted := err == nil && !long.Foreign(); exact != accepted {
		t.Fatalf("%q: decodeExact accepts it: %v; decodeAny: %v, foreign %v", text, exact, err, long.Foreign())
	}
	if exact && !reflect.DeepEqual(short, long) {
		t.Fatalf("%q:\ndecodeExact %+v\ndecodeAny   %+v", text, short, long)
	}
	line := bytes.Clone(text)
	trusted, err := event.Domain.DecodeTrusted(line)
	clear(line) // the event does not share memory with it
	if exact && (err != nil || !reflect.DeepEqual(trusted, long)) {
		t.Fatalf("%q:\nDecodeTrusted %+v, %v\ndecodeAny     %+v", text, trusted, err, long)
	}
	return exact
}

// lines returns the lines of all samples, with and without additive members.
func lines(t testing.TB) (out [][]byte) {
	for i, s := range samples {
		for _, a := range []event.Actor{agent, {}} {
			e := event.New(session.String(), int64(i), s.scope, a, whenever*int64(len(a.Kind)), s.data)
			e.Ignorable = e.Ignorable || i%3 == 0
			b, err := event.Domain.AppendLine(nil, e)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, bytes.TrimSuffix(b, []byte("\n")))
		}
	}
	return out
}

func TestDecodeExactAcceptsEveryKind(t *testing.T) {
	for _, text := range lines(t) {
		if !checkDecodersAgree(t, text) {
			t.Errorf("decodeExact does not accept %s", text)
		}
	}
}

// The decoders agree on lines of every kind with each byte changed in several ways.
func TestDecodersAgreeOnChangedBytes(t *testing.T) {
	cases := sample.OneIn(t, 4)
	for _, text := range lines(t) {
		for i := range text {
			if !cases.Try() {
				continue
			}
			for _, c := range []byte{text[i] ^ 1, text[i] ^ 0x20, text[i] ^ 0x80, '"', '\\', '0', ' ', ',', 0} {
				changed := bytes.Clone(text)
				changed[i] = c
				checkDecodersAgree(t, changed)
			}
			checkDecodersAgree(t, text[:i])
			checkDecodersAgree(t, slices.Delete(bytes.Clone(text), i, i+1))
		}
	}
}

// oddities are parts of lines that two JSON decoders could treat differently.
var oddities = []string{" ", "\t", "\r", `\u0041`, `\u0000`, `\u001f`, `\u001F`, `\n`, `\u000a`, `\/`, `\"`, `\ud800`,
	`\ud83d\ude00`, "\u2028", "\x7f",
	"\xff", "-", "0", "-0", "1e3", "1.0", "0.5", "1e21", "1e+21", "9007199254740993", "100000000000000000000", "true",
	"false", "null", "[]", "{}", `""`,
	`,"v":1`, `"a":1,`, `"A":1,`, `,"kind":"x"`, `,"kind":"run_closed"`, "[[[[[[[[", "]]]]]]]]", `"b":null,`}

func TestDecodersAgreeOnOddities(t *testing.T) {
	all := lines(t)
	context := func(t *rapid.T) []byte {
		leaf := rapid.SampledFrom([]canon.Value{canon.OfFloat(0.1), canon.OfFloat(1e300), canon.OfInt(-5),
			canon.OfString("é\x01😀"), canon.OfBool(true), {}})
		v := leaf.Draw(t, "leaf")
		for range rapid.IntRange(0, 62).Draw(t, "depth") {
			v = canon.OfList(v, leaf.Draw(t, "leaf"))
		}
		e := event.New(session.String(), 1, atRun, agent, whenever,
			event.ContextSet{ContextID: origin.Context(0), Source: event.ContextInitial,
				Context: canon.OfMembers(canon.Member{Name: "a", Value: v}, canon.Member{Name: "\ufb33", Value: v},
					canon.Member{Name: "😀", Value: v})})
		b, _ := event.Domain.AppendLine(nil, e)
		return bytes.TrimSuffix(b, []byte("\n"))
	}
	rapid.Check(t, func(t *rapid.T) {
		text := bytes.Clone(rapid.SampledFrom(all).Draw(t, "line"))
		if rapid.Bool().Draw(t, "context") {
			if text = context(t); len(text) == 0 {
				t.Skip("too deep to be written")
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			to := min(len(text), at+rapid.IntRange(0, 12).Draw(t, "cut"))
			text = slices.Concat(text[:at], []byte(rapid.SampledFrom(oddities).Draw(t, "oddity")), text[to:])
		}
		checkDecodersAgree(t, text)
	})
}

// TestDecodersAgreeOnMembers: a member that is empty, absent, twice or at another place.
func TestDecodersAgreeOnMembers(t *testing.T) {
	member := regexp.MustCompile(`,?"[a-zA-Z0-9]+":(null|[0-9]+|"[^"\\]*")`)
	value := regexp.MustCompile(`:(null|[0-9]+|"[^"\\]*")$`)
	for _, line := range lines(t) {
		for _, at := range member.FindAllIndex(line, -1) {
			before, this, after := line[:at[0]], line[at[0]:at[1]], line[at[1]:]
			for _, other := range []string{"", string(this) + string(this), value.ReplaceAllString(string(this), `:""`),
				value.ReplaceAllString(string(this), `:null`)} {
				checkDecodersAgree(t, slices.Concat(before, []byte(other), after))
			}
			if next := member.FindIndex(after); next != nil && next[0] == 0 {
				checkDecodersAgree(t, slices.Concat(before, after[:next[1]], this, after[next[1]:]))
			}
		}
	}
}

func FuzzDecodersAgree(f *testing.F) {
	for _, text := range lines(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkDecodersAgree(t, text) })
}

func BenchmarkDecodeLine(b *testing.B) {
	child := id.ChildNode(root, attempt, id.OpAck)
	recorded := event.New(session.String(), 7, atRoot, agent, whenever,
		event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending, Outcome: event.AdvancedTo(child),
			RequestDigest: aDigest})
	text, err := event.Domain.AppendLine(nil, recorded)
	if err != nil {
		b.Fatal(err)
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := event.Domain.DecodeLine(text); err != nil {
			b.Fatal(err)
		}
	}
}
