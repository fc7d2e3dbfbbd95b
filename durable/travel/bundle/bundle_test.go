package bundle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
)

// TestRoundTrip: Open returns what a Writer wrote, and the bytes are those of the format.
func TestRoundTrip(t *testing.T) {
	e := envelope()
	e.Producer.AppliedConfigHash = canon.Sum(nil)
	e.Salvage = &bundle.Salvage{Health: manifest.CorruptTail,
		Findings: []manifest.Finding{manifest.NewFinding(manifest.LostTail, "sessions/x", "lost")}}
	e.Redacted = &bundle.Redacted{Rules: map[string]int64{"email": 3, "key": 0}}
	data := small(t).write(t, e)
	b, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%+v %+v %+v", b.Envelope(), *b.Envelope().Salvage, *b.Envelope().Redacted),
		fmt.Sprintf("%+v %+v %+v", b.Envelope(), *e.Salvage, *e.Redacted); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := b.Envelope(); got.BundleID != e.BundleID || got.ExportedAt != e.ExportedAt ||
		got.Producer != e.Producer || got.SessionID != session {
		t.Errorf("%+v", got)
	}
	got := read(t, b)
	for _, parts := range [][]string{small(t).events, small(t).records, small(t).snapshots, small(t).workflows} {
		for _, p := range parts {
			if !strings.Contains(got, p) && !strings.Contains(got, fmt.Sprintf("%q", p)) {
				t.Errorf("not in the result: %s", p)
			}
		}
	}
	if logs := b.Logs(); !slices.Equal(logs, []string{"annotations", "later"}) {
		t.Errorf("logs %v", logs)
	}
	if _, err := b.Events("missing").Next(); err == nil {
		t.Error("events of a missing log")
	}
	if _, _, ok := b.Object(manifest.Snapshot, canon.Sum(nil)); ok {
		t.Error("a missing object")
	}
	want := `{"bundleId":"bundle_aaaaaaaaaaaaaaaaaaaaaaaaaa","bundleSchemaVersion":1,"exportedAt":"2026-01-02T03:04:05.006Z","producer":{`
	if !bytes.HasPrefix(data, []byte(want)) || !bytes.HasSuffix(data, []byte("}]}}\n")) ||
		bytes.Contains(data, []byte(": ")) {
		t.Errorf("canonical form: %s", data)
	}
	for name, v := range map[string]string{"events": list(small(t).events), "manifest": list(small(t).records)} {
		if entry := fmt.Sprintf(`{"path":"session/%s","sha256":"%s","bytes":%d}`, name, digest(v),
			len(v)); !bytes.Contains(data, []byte(entry)) {
			t.Errorf("no entry %s", entry)
		}
	}
}

// TestEmpty: a session without content is a bundle; the members for artifacts and logs are
// omitted.
func TestEmpty(t *testing.T) {
	data := content{}.write(t, envelope())
	if bytes.Contains(data, []byte("artifacts")) || bytes.Contains(data, []byte("logs")) {
		t.Errorf("%s", data)
	}
	b, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, b); got != "" {
		t.Error(got)
	}
}

// TestAnyOrder: members may have any order, on every level.
func TestAnyOrder(t *testing.T) {
	good, err := open(small(t).write(t, envelope()))
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, good)
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		p := small(t).parts()
		names := [][]string{p.top.names, p.session.names, p.snapshots.names, p.artifacts.names,
			p.logs["annotations"].names, p.integrityNames}
		for _, n := range names {
			random.Shuffle(len(n), func(i, j int) { n[i], n[j] = n[j], n[i] })
		}
		p.entries = func(e []string) []string {
			random.Shuffle(len(e), func(i, j int) { e[i], e[j] = e[j], e[i] })
			return e
		}
		data := p.join(t)
		b, err := open(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if got := read(t, b); got != want {
			t.Fatalf("%s\nwant %s", got, want)
		}
	}
}

// TestAnyForm: any form of strict JSON is accepted and has the same digests.
func TestAnyForm(t *testing.T) {
	data := small(t).write(t, envelope())
	good, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	escaped := func() []byte {
		var out strings.Builder
		quoted, escaped := false, false
		for i, r := range string(data) {
			switch {
			case escaped, quoted && r == '\\': // an escape stays as it is
				escaped = !escaped
				out.WriteRune(r)
			case r == '"':
				quoted = !quoted
				out.WriteRune(r)
			case quoted && i%3 == 0 && !strings.ContainsRune("01", r):
				fmt.Fprintf(&out, `\u%04X`, r)
			case quoted && r == '/':
				out.WriteString(`\/`)
			default:
				out.WriteRune(r)
			}
		}
		return []byte(out.String())
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, data, "\r\n", "\t  "); err != nil {
		t.Fatal(err)
	}
	numbers := bytes.ReplaceAll(bytes.ReplaceAll(data, []byte(`"v":1}`), []byte(`"v":10e-1}`)), []byte(`Version":1,`),
		[]byte(`Version":1.0,`))
	for name, text := range map[string][]byte{"indented": indented.Bytes(), "escaped": escaped(), "numbers": numbers,
		"spaces": bytes.ReplaceAll(data, []byte(`,"`), []byte(` , "`))} {
		b, err := open(text)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		if read(t, b) != read(t, good) {
			t.Errorf("%s: read differently", name)
		}
	}
}

// TestWindows: elements may be larger than the window or cross its ends.
func TestWindows(t *testing.T) {
	big := content{}
	for i := range 40 {
		big.events = append(big.events,
			event(t, i, "context_set", fmt.Sprintf(`{"x":"%s"}`, strings.Repeat("ü", 1<<(i%19)))))
	}
	big.records = []string{segment(t, 0, 0, 39)}
	for i := range 6 {
		big.snapshots = append(big.snapshots, fmt.Sprintf(`{"s":"%s"}`, strings.Repeat("s", 700_000*i)))
		big.artifacts = append(big.artifacts, strings.Repeat(fmt.Sprint(i), 98_302*i+i))
	}
	b, err := open(big.write(t, envelope()))
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, b); strings.Count(got, "\n") != 40+1+6+6 {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
	lines := b.Events("")
	for i := range 40 {
		if got, err := lines.Next(); err != nil || string(got) != big.events[i] {
			t.Fatalf("event %d: %v", i, err)
		}
	}
}

// TestForeignBundles opens bundles by another program, where available.
func TestForeignBundles(t *testing.T) {
	paths, _ := filepath.Glob("../../../../shared/data/workrail/bundles/*.json")
	if len(paths) == 0 {
		t.Skip("no foreign bundles next to the project")
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := open(data)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
			continue
		}
		if got := read(t, b); !strings.Contains(got, "run_started") || !strings.Contains(got, "segment_closed") ||
			!strings.Contains(got, "\nworkflow ") {
			t.Errorf("%s: %s", filepath.Base(path), got)
		}
		// Cut anywhere, it is refused.
		for i := 0; i < len(data)-2; i += 97 {
			if _, err := open(data[:i]); err == nil {
				t.Errorf("%s: cut at %d", filepath.Base(path), i)
			}
		}
	}
}

func TestLogName(t *testing.T) {
	for name, want := range map[string]bool{
		"annotations": true, "a": true, "x_9": true, "events": false, "cache": false, "keep": false, "suspect": false,
		"manifest": false, "imported": false,
		"": false, "_x": false, "9x": false, "X": false, "..": false, "a/b": false, "a.b": false, "a\n": false,
		strings.Repeat("a", 32): true, strings.Repeat("a", 33): false,
	} {
		if bundle.ValidLogName(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}
