package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/advance"
)

// suspected returns the warnings about secrets of an answer, as pointer and rule.
func suspected(t *testing.T, a engine.Answer) string {
	t.Helper()
	var out []string
	for _, w := range a.Warnings {
		if w.Code != warning.SecretSuspected {
			continue
		}
		out = append(out, w.Pointer+" "+string(w.Rule))
		if !strings.Contains(w.Message, w.Pointer) || !strings.Contains(w.Message, "("+string(w.Rule)+")") {
			t.Errorf("the message %q does not name %s and %s", w.Message, w.Pointer, w.Rule)
		}
		if again := redact.Text(w.Message, nil); again != w.Message {
			t.Errorf("the message is redacted to %q", again)
		}
	}
	return strings.Join(out, ", ")
}

// file is an artifact of a text type.
func file(contentType, content string) advance.Artifact {
	return advance.Artifact{ContentType: contentType, Bytes: []byte(content)}
}

// leaky is a request with secrets in all its parts.
func leaky(t *testing.T, notes string) advance.Request {
	t.Helper()
	req := given(t, `{"deploy":{"hosts":["a",{"password":"hunter2"}]},"note":"use AKIAIOSFODNN7EXAMPLE","n":null}`)
	req.Notes = notes + " with sk-abcdefgh"
	req.Artifacts = []advance.Artifact{
		file("text/plain", "ghp_abcdef0123456789abcdef0123456789abcd\n"),
		advance.JSONArtifact(set("kind", "report").With("token", canon.OfString("value"))),
		file("application/octet-stream", "\x00\xff ghp_abcdef0123456789abcdef0123456789abcd"),
		file("text/plain; charset=utf-8", "nothing"),
	}
	return req
}

// Where leaky has its secrets.
const (
	leakedNotes     = "/output/notesMarkdown secret_key"
	leakedArtifacts = "/output/artifacts/0 github_token, /output/artifacts/1/token named_secret"
	leaked          = "/context/deploy/hosts/1/password named_secret, /context/note aws_key, " + leakedNotes + ", " + leakedArtifacts
)

// TestSuspectedSecrets checks the warnings about secrets in starts, refused and accepted attempts and checkpoints,
// that nothing is changed in the store, and that repeated calls get the same answer from another process too.
func TestSuspectedSecrets(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	if got := suspected(t, a); got != "" {
		t.Error("the start of a run without a context warns of", got)
	}
	type call struct {
		name string
		make func() engine.Answer
		want string
	}
	draft := leaky(t, "so far")
	draft.Context = canon.Value{}
	blocked := w.must(a, leaky(t, "no"))
	calls := []call{
		{"refused", func() engine.Answer { return w.must(a, leaky(t, "no")) }, leaked},
		{"checkpoint", func() engine.Answer { return w.mustKeep(blocked, draft) }, leakedNotes + ", " + leakedArtifacts},
		{"accepted", func() engine.Answer { return w.must(blocked, leaky(t, "done")) }, leaked},
	}
	var first []string
	for _, c := range calls {
		answer := c.make()
		if got := suspected(t, answer); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		first = append(first, text(t, answer))
	}
	after := w.must(blocked, leaky(t, "done"))
	if got := suspected(t, w.look(after.StateToken)); got != "" {
		t.Error("a call that records nothing warns of", got)
	}
	if got := suspected(t, w.must(after, note("the commit 3f786850e387550fdab836ed7e6dc881de23001b is done"))); got != "" {
		t.Error("the next step warns of", got)
	}
	for range 2 {
		for i, c := range calls {
			if again := text(t, c.make()); again != first[i] {
				t.Errorf("%s, repeated:\n%s\n%s", c.name, again, first[i])
			}
		}
		w.g = w.process()
	}
	for _, artifact := range draft.Artifacts {
		got, err := w.g.Store.Object(t.Context(), manifest.Artifact, canon.Sum(artifact.Bytes))
		if err != nil || string(got) != string(artifact.Bytes) {
			t.Errorf("stored: %q, %v", got, err)
		}
	}
}

// TestSuspectedSecretsOfWhatIsRecorded checks that a repeated call with other content is warned of what is recorded,
// also of artifacts at the places of the store.
func TestSuspectedSecretsOfWhatIsRecorded(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	w.must(a, leaky(t, "no"))
	other := w.must(a, note("clean"))
	got := suspected(t, other)
	if !strings.HasPrefix(got, "/context/deploy/hosts/1/password named_secret, /context/note aws_key, "+leakedNotes) ||
		!strings.Contains(got, "github_token") || !strings.Contains(got, "/token named_secret") {
		t.Error(got)
	}
	if last := other.Warnings[len(other.Warnings)-1]; last.Code != warning.ReplayDiffers {
		t.Error(other.Warnings)
	}
	ref := canon.Sum(leaky(t, "no").Artifacts[0].Bytes)
	if !strings.Contains(got, "github_token") {
		t.Fatal(got)
	}
	if _, err := w.erase(ref, "a token"); err != nil {
		t.Fatal(err)
	}
	if got := suspected(t, w.must(a, note("clean"))); strings.Contains(got, "github_token") || !strings.Contains(got, "/token named_secret") {
		t.Error("after the erasure:", got)
	}
}

// TestSuspectedSecretsOfALongLog repeats each attempt in a new process, which reads some of them from a saved fold that
// has no events.
func TestSuspectedSecretsOfALongLog(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	for i := range 40 {
		req := note(fmt.Sprintf("%d with sk-abcdefgh", i))
		next := w.must(a, req)
		if got := suspected(t, next); got != leakedNotes {
			t.Fatalf("attempt %d: %s", i, got)
		}
		w.g = w.process()
		if again := text(t, w.must(a, req)); again != text(t, next) {
			t.Fatalf("attempt %d, repeated:\n%s\n%s", i, again, text(t, next))
		}
		a = next
	}
}

// TestSuspectedSecretsOfStarts: the context of a start, also of one with a key that is repeated.
func TestSuspectedSecretsOfStarts(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	c := w.compiled(twoSteps)
	begin := func(seed id.Seed) engine.Answer {
		t.Helper()
		a, err := w.g.Start(t.Context(), w.by(), seed, engine.Start{Workflow: c, SourceKind: "project", Key: "k",
			Context: set("api_key", "value")})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := begin(id.Seed{1})
	if got := suspected(t, first); got != "/context/api_key named_secret" {
		t.Error(got)
	}
	w.must(first, note("done"))
	if again := begin(id.Seed{2}); text(t, again) != text(t, first) {
		t.Errorf("repeated:\n%s\n%s", text(t, again), text(t, first))
	}
}

// TestSuspectedSecretsOfWholeNotes: notes are read to their end, also where the recap holds their beginning.
func TestSuspectedSecretsOfWholeNotes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	req := note("done " + strings.Repeat("word ", 2000) + "sk-abcdefgh")
	if got := suspected(t, w.must(a, req)); got != leakedNotes {
		t.Error(got)
	}
	if got := suspected(t, w.must(a, note("other"))); got != leakedNotes {
		t.Error("repeated with other notes:", got)
	}
}

// TestManySuspectedSecrets: the tenth warning counts the rest.
func TestManySuspectedSecrets(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	vars := canon.OfMembers()
	for i := range 13 {
		vars = vars.With(fmt.Sprintf("k%02d", i), canon.OfString("sk-abcdefgh"))
	}
	a := w.must(w.start(twoSteps), advance.Request{Notes: "no", Context: vars})
	if n := strings.Count(suspected(t, a), "secret_key"); n != limits.SecretWarningsMax {
		t.Fatal(n, "warnings")
	}
	last := a.Warnings[len(a.Warnings)-1]
	if last.Count != 3 || !strings.Contains(last.Message, "3 more places") || a.Warnings[0].Count != 0 {
		t.Errorf("%+v", last)
	}
}

// TestSuspectedSecretsAtHostileNames: pointers are redacted and bounded, also below a name that is as long as the
// list in it.
func TestSuspectedSecretsAtHostileNames(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	vars := canon.OfMembers(canon.Member{Name: "sk-abcdefgh0123 \x1b[2J/~", Value: canon.OfString("AKIAIOSFODNN7EXAMPLE")},
		canon.Member{Name: strings.Repeat("n", 5000), Value: canon.OfString("AKIAIOSFODNN7EXAMPLE")})
	long := canon.OfMembers(canon.Member{Name: strings.Repeat("n", 512<<10),
		Value: mustParse(t, "["+strings.Repeat("0,", 256<<10)+`"AKIAIOSFODNN7EXAMPLE"]`)})
	began := time.Now()
	a = w.must(a, advance.Request{Notes: "no", Context: vars, Artifacts: []advance.Artifact{advance.JSONArtifact(long)}})
	if took := time.Since(began); took > 10*time.Second {
		t.Error("the search took", took)
	}
	got := suspected(t, a)
	if strings.Contains(got, "sk-abcdefgh") || !strings.Contains(got, "/context/[REDACTED:secret_key] \x1b[2J~1~0 aws_key") ||
		!strings.HasSuffix(got, "n/262144 aws_key") {
		t.Error(got)
	}
	for _, w := range a.Warnings {
		if len(w.Pointer) > limits.SecretPointerBytesMax {
			t.Error(len(w.Pointer), "bytes")
		}
	}
}

// TestSuspectedSecretsInALargeArtifact: the search ends after its limit.
func TestSuspectedSecretsInALargeArtifact(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	fill := strings.Repeat("0123456789abcde\n", limits.SecretsReadBytesMax/16)
	req := note("no")
	req.Artifacts = []advance.Artifact{file("text/plain", "sk-abcdefgh\n"+fill+"AKIAIOSFODNN7EXAMPLE\n"), file("text/plain", "sk-abcdefgh")}
	if got := suspected(t, w.must(a, req)); got != "/output/artifacts/0 secret_key" {
		t.Error(got)
	}
}

func mustParse(t *testing.T, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
