package docs

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/derive"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/snapshot"
	wtoken "github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/durable/workflow/compile"
)

const (
	formatIndex = "format/README.md"
	formatDir   = "../testdata/format/store"
)

func init() {
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "write the examples of docs/format and testdata/format again")
	}
}

func formatUpdating() bool { return flag.Lookup("update").Value.String() == "true" }

var indexedPage = regexp.MustCompile(`(?m)^\| \[[^\]]+\]\(([a-z-]+\.md)\) \|`)

// formatPages lists the pages of the format in the order of their index.
func formatPages(t *testing.T) (out []string) {
	t.Helper()
	index, err := os.ReadFile(formatIndex)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range indexedPage.FindAllSubmatch(index, -1) {
		out = append(out, "format/"+string(m[1]))
	}
	return out
}

// formatText is the text of all pages in order.
func formatText(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, name := range formatPages(t) {
		all.WriteString(pageText(t, name) + "\n")
	}
	return all.String()
}

func pageText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestFormatIndex: the index lists each page of the format once, and no other.
func TestFormatIndex(t *testing.T) {
	listed := formatPages(t)
	found, err := filepath.Glob("format/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found = slices.DeleteFunc(found, func(name string) bool { return filepath.ToSlash(name) == formatIndex })
	slices.Sort(listed)
	if !slices.Equal(listed, found) || len(found) < 12 {
		t.Errorf("the index lists\n%v\nand the directory has\n%v", listed, found)
	}
}

var formatFence = regexp.MustCompile("(?ms)^```(jsonl? [^\n]+|text [^\n]+)\n(.*?)^```$")

// TestFormatExamples: every example of the page is what the code makes of the
// example store, reads as what it says it is, and is written the same again.
func TestFormatExamples(t *testing.T) {
	blocks := map[string]formatBlock{}
	for _, b := range newFormatStore(t).blocks() {
		blocks[b.info] = b
	}
	page, seen := formatText(t), map[string]bool{}
	if formatUpdating() {
		for _, name := range formatPages(t) {
			text := formatFence.ReplaceAllStringFunc(pageText(t, name), func(block string) string {
				info := formatFence.FindStringSubmatch(block)[1]
				b, ok := blocks[info]
				if !ok {
					return block
				}
				return "```" + info + "\n" + strings.Join(b.lines, "\n") + "\n```"
			})
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		page = formatText(t)
	}
	for _, m := range formatFence.FindAllStringSubmatch(page, -1) {
		info, body := m[1], strings.TrimSuffix(m[2], "\n")
		b, ok := blocks[info]
		if !ok {
			t.Errorf("block %q: the test knows no such example", info)
			continue
		}
		seen[info] = true
		if want := strings.Join(b.lines, "\n"); body != want {
			t.Errorf("block %q: the page has\n%s\nthe code makes\n%s\nrun: go test ./docs -run Format -update", info,
				body, want)
		}
		if b.again == nil {
			continue
		}
		again, err := b.again([]byte(body))
		if err != nil || strings.TrimSuffix(string(again), "\n") != body {
			t.Errorf("block %q reads and writes as\n%s\n%v", info, again, err)
		}
	}
	for info := range blocks {
		if !seen[info] {
			t.Errorf("the page does not show %q", info)
		}
	}
	if n := strings.Count(page, "\n```json"); n != strings.Count(strings.Join(slices.Collect(maps.Keys(seen)), "\n"),
		"json") {
		t.Errorf("%d blocks of JSON in the page, %d were checked", n, len(seen))
	}
}

// TestFormatStoreOnDisk: testdata/format/store is the example store, for readers
// that are written from the page alone.
func TestFormatStoreOnDisk(t *testing.T) {
	s := newFormatStore(t)
	if formatUpdating() {
		if err := os.RemoveAll(formatDir); err != nil {
			t.Fatal(err)
		}
		for name, b := range s.files {
			name = filepath.Join(formatDir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	found := 0
	err := fs.WalkDir(os.DirFS(formatDir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found++
		have, err := os.ReadFile(filepath.Join(formatDir, filepath.FromSlash(name)))
		if want, ok := s.files[name]; !ok || !bytes.Equal(have, want) {
			t.Errorf("%s is not what the example store holds", name)
		}
		return err
	})
	if err != nil || found != len(s.files) {
		t.Errorf("%d files of %d, %v", found, len(s.files), err)
	}
}

// TestFormatDerivations computes the rows of the page from their text alone.
func TestFormatDerivations(t *testing.T) {
	block := regexp.MustCompile("(?ms)^```text derivation\n(.*?)^```$").FindStringSubmatch(formatText(t))
	if block == nil {
		t.Fatal("the page has no derivations")
	}
	enc := base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
	rows := strings.Split(strings.TrimSpace(block[1]), "\n")
	for _, row := range rows {
		recipe, want, _ := strings.Cut(row, " = ")
		parts := strings.Split(recipe, " | ")
		for i, p := range parts {
			if raw, ok := strings.CutPrefix(p, "hex:"); ok {
				b, err := hex.DecodeString(raw)
				if err != nil {
					t.Fatal(err)
				}
				parts[i] = string(b)
			}
		}
		sum := derive.Bytes16(parts[0], parts[1:]...)
		prefix := strings.TrimSuffix(strings.TrimPrefix(parts[0], "waybill 2026 v1 "), " id")
		if got := prefix + "_" + enc.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: got %s", row, got)
		}
	}
	if len(rows) < 20 {
		t.Errorf("only %d derivations", len(rows))
	}
}

// TestFormatTokens reads the tokens of the page with the key of the page.
func TestFormatTokens(t *testing.T) {
	page := formatText(t)
	block := func(info string) string {
		m := regexp.MustCompile("(?ms)^```text " + info + "\n(.*?)^```$").FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("the page has no %q", info)
		}
		return strings.TrimSpace(m[1])
	}
	raw, err := hex.DecodeString(block("key"))
	if err != nil || len(raw) != 32 {
		t.Fatalf("the key is %d bytes, %v", len(raw), err)
	}
	keys := wtoken.Keys{Current: wtoken.Key(raw)}
	state, err := wtoken.ParseState(keys, block("token state"))
	if err != nil || wtoken.MintState(keys.Current, state) != block("token state") {
		t.Errorf("state: %v", err)
	}
	ack, err := wtoken.ParseAck(keys, block("token ack"))
	if err != nil || wtoken.MintAck(keys.Current, ack) != block("token ack") {
		t.Errorf("ack: %v", err)
	}
	chk, err := wtoken.ParseCheckpoint(keys, block("token checkpoint"))
	if err != nil || wtoken.MintCheckpoint(keys.Current, chk) != block("token checkpoint") {
		t.Errorf("checkpoint: %v", err)
	}
	if ring := newFormatStore(t).files["keys/keyring.json"]; !bytes.Contains(ring,
		[]byte(base64.StdEncoding.EncodeToString(raw))) {
		t.Error("the key is not the one of keyring.json")
	}
}

// formatSections cuts the page at its "### `kind`" headings.
func formatSections(page string) map[string]string {
	out := map[string]string{}
	heads := regexp.MustCompile("(?m)^### `([a-z_]+)`$").FindAllStringSubmatchIndex(page, -1)
	for i, h := range heads {
		end := len(page)
		for _, mark := range []string{"\n## ", "\n# "} {
			if next := strings.Index(page[h[1]:], mark); next >= 0 {
				end = min(end, h[1]+next)
			}
		}
		if i+1 < len(heads) {
			end = min(end, heads[i+1][0])
		}
		out[page[h[2]:h[3]]] = page[h[1]:end]
	}
	return out
}

// members lists the JSON names of a struct and of the structs inside it.
func members(t reflect.Type, add func(string)) { membersOf(t, map[reflect.Type]bool{}, add) }

// membersOf goes into each type once: a shape may hold shapes.
func membersOf(t reflect.Type, seen map[reflect.Type]bool, add func(string)) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || !strings.Contains(t.PkgPath(), "waybill") || t == reflect.TypeFor[canon.Value]() ||
		seen[t] {
		return
	}
	seen[t] = true
	for f := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(f).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			add(name)
			membersOf(t.Field(f).Type, seen, add)
		}
	}
}

// TestFormatNamesEveryMember: each kind has a section that names its scope, its
// dedupeKey and every member; the other documents are named somewhere.
func TestFormatNamesEveryMember(t *testing.T) {
	page := formatText(t)
	sections, payloads := formatSections(page), map[string]event.Payload{}
	s := newFormatStore(t)
	for _, l := range s.sessions() {
		for _, seg := range l.segs {
			for _, e := range seg.Events {
				payloads[e.Data.Kind()] = e.Data
			}
		}
	}
	payloads[event.RunEventRecorded{}.Kind()] = event.RunEventRecorded{} // of test stores
	for _, kind := range event.Domain.Kinds() {
		section, ok := sections[kind]
		if !ok {
			t.Errorf("no section about %s", kind)
			continue
		}
		for _, word := range []string{"Scope:", "dedupeKey: `" + kind + ":<sessionId>", "```jsonl event " + kind} {
			if !strings.Contains(section, word) {
				t.Errorf("section %s does not say %q", kind, word)
			}
		}
		members(reflect.TypeOf(payloads[kind]), func(name string) {
			if !formatNames(section, name) {
				t.Errorf("section %s does not name the member %s", kind, name)
			}
		})
	}
	for _, document := range []any{manifest.SegmentClosed{}, manifest.SnapshotPinned{}, manifest.Head{},
		manifest.Finding{}, snapshot.State{}, check.Result{}, command.Result{},
		compile.Document{}, wtoken.State{}, wtoken.Attempt{}, event.Actor{}, event.Scope{}} {
		members(reflect.TypeOf(document), func(name string) {
			if !formatNames(page, name) {
				t.Errorf("the page does not name the member %s of %T", name, document)
			}
		})
	}
}

func formatNames(text, name string) bool {
	return regexp.MustCompile("`[^`\n]*\\b" + regexp.QuoteMeta(name) + "\\b[^`\n]*`").MatchString(text)
}

// TestFormatNamesEveryWord: every word that the code of the format compares or
// writes (kinds, members of closed sets, finding codes) is in the pages. A
// word is a string literal without spaces, so a new one shows here by itself.
func TestFormatNamesEveryWord(t *testing.T) {
	page := formatText(t)
	word := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]+$`)
	seen := 0
	for _, dir := range []string{"log/event", "log/manifest", "run/snapshot", "reason", "id", "run/token",
		"run/command", "run/check"} {
		for _, file := range formatSources(t, filepath.Join("../durable", dir)) {
			ast.Inspect(file, func(n ast.Node) bool {
				if _, ok := n.(*ast.ImportSpec); ok {
					return false
				}
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				s, _ := strconv.Unquote(lit.Value)
				if !word.MatchString(s) {
					return true
				}
				seen++
				if !formatNames(page, s) {
					t.Errorf("durable/%s writes %q, which the page does not name", dir, s)
				}
				return true
			})
		}
	}
	if seen < 200 {
		t.Errorf("only %d words were looked at", seen)
	}
}

func formatSources(t *testing.T, dir string) (out []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sources in %s, %v", dir, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// TestFormatLimits: the table of limits has every constant with its value.
func TestFormatLimits(t *testing.T) {
	page := formatText(t)
	fset := token.NewFileSet()
	var files []*ast.File
	paths, _ := filepath.Glob("../durable/limits/*.go")
	for _, path := range paths {
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	pkg, err := (&types.Config{}).Check("limits", fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pkg.Scope().Names() {
		c := pkg.Scope().Lookup(name).(*types.Const)
		value := c.Val().ExactString()
		if c.Val().Kind() == constant.String {
			value = strings.ReplaceAll(value, "`", "")
		}
		if row := fmt.Sprintf("| `%s` | %s |", name, value); !strings.Contains(page, row) {
			t.Errorf("the table of limits has no row %q", row)
		}
	}
}

// formatTail is a manifest as a crash or a hand can leave it, with its verdict.
type formatTail struct {
	Findings []manifest.FindingCode `json:"findings"`
	Head     int64                  `json:"head"` // its bytes
	Health   manifest.Health        `json:"health"`
	Manifest string                 `json:"manifest"` // in base64
	Name     string                 `json:"name"`
	Session  string                 `json:"session"`
}

// tails changes the manifest of the example's first session and judges it by the
// real reader. The segments stay as they are.
func (s *formatStore) tails() []formatTail {
	whole, last := s.a.lines, s.a.groups[len(s.a.groups)-1]
	at := len(whole) - len(last)
	sector := (at/manifest.SectorBytes + 1) * manifest.SectorBytes
	edit := func(change func([]byte)) []byte { b := bytes.Clone(whole); change(b); return b }
	before := len(s.a.groups[0]) + len(s.a.groups[1])
	cases := []struct {
		name  string
		bytes []byte
	}{
		{"nothing is changed", whole},
		{"the last group is gone", whole[:at]},
		{"120 bytes of the last group are present", whole[:at+120]},
		{"only the last newline is missing", whole[:len(whole)-1]},
		{"the last sector of the file is zeros",
			edit(func(b []byte) { clear(b[len(b)/manifest.SectorBytes*manifest.SectorBytes:]) })},
		{"the last group up to the end of its first sector is zeros", edit(func(b []byte) { clear(b[at:sector]) })},
		{"120 bytes are present, then zeros to the end of the sector",
			append(bytes.Clone(whole[:at+120]), make([]byte, sector-at-120)...)},
		{"100 bytes inside a sector are zeros", edit(func(b []byte) { clear(b[at+10 : at+110]) })},
		{"one bit of the last group is flipped", edit(func(b []byte) { b[at+20] ^= 1 })},
		{"one bit of the last newline is flipped", edit(func(b []byte) { b[len(b)-1] ^= 1 })},
		{"one byte follows the last group", append(bytes.Clone(whole), 'x')},
		{"one bit of the first group is flipped", edit(func(b []byte) { b[20] ^= 1 })},
		{"the last two groups are gone", whole[:before]},
		{"120 bytes of the first group are present", whole[:120]},
		{"the file is empty", nil},
	}
	var out []formatTail
	for _, c := range cases {
		v, err := s.read(s.a, c.bytes, func(manifest.Segment, manifest.Head) error { return nil })
		if err != nil {
			s.t.Fatal(err)
		}
		row := formatTail{Findings: []manifest.FindingCode{}, Head: v.Head.Bytes, Health: v.Health, Name: c.name,
			Manifest: base64.StdEncoding.EncodeToString(c.bytes), Session: s.a.log.Owner}
		for _, f := range v.Findings {
			row.Findings = append(row.Findings, f.Code)
		}
		out = append(out, row)
	}
	return out
}

// TestFormatTails: the page's verdicts, and those of testdata/format/tails.jsonl,
// are the reader's.
func TestFormatTails(t *testing.T) {
	const name = "../testdata/format/tails.jsonl"
	page, rows := formatText(t), newFormatStore(t).tails()
	var lines []byte
	for _, row := range rows {
		var codes []string
		for _, code := range row.Findings {
			codes = append(codes, "`"+string(code)+"`")
		}
		if want := fmt.Sprintf("| %s | `%s` | %s |", row.Name, row.Health,
			strings.Join(codes, ", ")); !strings.Contains(page, want) {
			t.Errorf("the page has no row\n%s", want)
		}
		line, err := canon.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	if formatUpdating() {
		if err := os.WriteFile(name, lines, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, lines) {
		t.Errorf("%s is not what the reader says, %v", name, err)
	}
}
