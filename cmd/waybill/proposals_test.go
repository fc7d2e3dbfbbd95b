package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
)

// calls runs the program in a directory with a store of its own, without a terminal and with
// --json. In that store the account of the test may apply proposals, as the principal ada.
type calls struct {
	*testing.T
	dir string
}

func newCalls(t *testing.T) calls {
	t.Helper()
	c := calls{t, t.TempDir()}
	t.Chdir(c.dir)
	configure(t, c.dir, "proposalsActivation", "direct-rbac")
	configure(t, c.dir, "roles", `{"lead":["proposals:apply"]}`)
	configure(t, c.dir, "principals", fmt.Sprintf(`{"ada":{"roles":["lead"],"uid":%d}}`, os.Getuid()))
	return c
}

// env is the environment of the calls.
func (c calls) env() []string {
	return []string{"HOME=" + c.dir, "USERPROFILE=" + c.dir, "WAYBILL_HOME=" + filepath.Join(c.dir, "home")}
}

// ok makes a call that must succeed, and returns the member data of its document.
func (c calls) ok(args ...string) []byte {
	c.Helper()
	return c.with("", args...)
}

// with is ok with text on stdin.
func (c calls) with(stdin string, args ...string) []byte {
	c.Helper()
	var out, errOut bytes.Buffer
	if status := run(append(args, "--json"), strings.NewReader(stdin), &out, &errOut, c.env()); status != 0 ||
		errOut.Len() > 0 {
		c.Fatalf("%v: exit status %d\n%s%s", args, status, out.String(), errOut.String())
	}
	if err := validDocument(out.Bytes()); err != nil {
		c.Errorf("%v: %v", args, err)
	}
	var doc struct{ Data json.RawMessage }
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		c.Fatal(err)
	}
	return doc.Data
}

// parseProposal returns the id of a proposal document and the bytes of its artifact.
func parseProposal(t *testing.T, data []byte) (name string, artifact []byte) {
	t.Helper()
	var p struct {
		ID       string
		Artifact json.RawMessage
	}
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	return p.ID, p.Artifact
}

// TestInstalledBytesAreProposedBytes checks that the installed file is the canonical JSON of
// the last revision (docs/design.md#proposals): applying does not generate the artifact again.
func TestInstalledBytesAreProposedBytes(t *testing.T) {
	for _, artifact := range []string{
		`{ "version":"1.0.0", "id":"team.exact", "name":"Exact \u20ac \ud83d\ude00", "description":"d\n", "steps":[ {"prompt":"1 < 2 & \"x\"\u2028", "id":"a", "title":"A"} ] }`,
		`{"steps":[{"id":"a","title":"A","prompt":"p"}],"id":"team.other","name":"N","description":"d","version":"1.0.0"}`,
	} {
		c := newCalls(t)
		name, _ := parseProposal(t, c.with(`{"kind":"workflow-chain-pack","artifact":{"id":"team.first","steps":[]}}`,
			"proposals", "create", "-"))
		_, revised := parseProposal(t, c.with(`{"kind":"workflow-chain-pack","artifact":`+artifact+`}`, "proposals",
			"revise",
			name, "-"))
		_, applied := parseProposal(t, c.ok("proposals", "apply", name, "--as", "ada"))
		_, current := parseProposal(t, c.ok("proposals", "get", name))
		want, err := canon.Parse([]byte(artifact))
		if err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(c.dir, "home/local/installed/*"))
		if len(files) != 1 {
			t.Fatalf("installed files %v, want one", files)
		}
		stored, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(stored, want.JCS()) {
			t.Errorf("the file has\n%s\nbut the proposed artifact is\n%s", stored, want.JCS())
		}
		// Documents have the same value, with invisible characters escaped.
		for what, got := range map[string][]byte{"revise": revised, "apply": applied, "get": current} {
			if shown := invisible.EscapeJSON(want.JCS()); !bytes.Equal(got, shown) {
				t.Errorf("%s has\n%s\nbut the proposed artifact is\n%s", what, got, shown)
			}
		}
		if base, digest := filepath.Base(files[0]), canon.Sum(stored).
			String(); base != strings.ReplaceAll(digest, ":", "_")+".json" {
			t.Errorf("%s has the digest %s", base, digest)
		}
	}
}

// TestFilesThatTheLogDoesNotNameAreNotInstalled writes files into installed/. Only artifacts
// whose digest the log of proposals records are in use (docs/design.md#proposals).
func TestFilesThatTheLogDoesNotNameAreNotInstalled(t *testing.T) {
	c := newCalls(t)
	text := `{"description":"d","id":"team.forged","name":"N","steps":[{"id":"a","prompt":"p","title":"A"}],"version":"1.0.0"}`
	name, _ := parseProposal(t, c.with(
		`{"kind":"workflow-chain-pack","artifact":{"id":"team.real","name":"N","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p"}]}}`,
		"proposals", "create", "-"))
	c.ok("proposals", "apply", name, "--as", "ada")
	at := filepath.Join(c.dir, "home/local/installed")
	if err := os.WriteFile(filepath.Join(at, strings.ReplaceAll(canon.Sum([]byte(text)).String(), ":", "_")+".json"),
		[]byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if list := string(c.ok("workflows", "list")); strings.Contains(list, "team.forged") ||
		!strings.Contains(list, "team.real") {
		t.Errorf("listed workflows: %s", list)
	}
	// Replace the bytes of the installed file: the proposed bytes stay in use.
	_ = filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		return err
	})
	if list := string(c.ok("workflows", "list")); strings.Contains(list, "team.forged") ||
		!strings.Contains(list, "team.real") {
		t.Errorf("listed workflows: %s", list)
	}
}

// publishedSchema returns a schema as OpenWOP published it. The test is skipped if the
// published schemas are not stored next to the checkout.
func publishedSchema(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	dir := filepath.Join(home, "..", "..", "..", "shared", "data", "openwop", "schemas")
	text, err := os.ReadFile(filepath.Join(dir, name+".schema.json"))
	if err != nil {
		t.Skip("no published schemas at ../shared/data beside the checkout")
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	others := func(uri *url.URL) (*jsonschema.Schema, error) {
		text, err := os.ReadFile(filepath.Join(dir, path.Base(uri.Path)))
		if err != nil {
			return nil, err
		}
		var s jsonschema.Schema
		return &s, json.Unmarshal(text, &s)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{Loader: others})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestProposalsMatchPublishedSchema checks the document of a proposal in every state against
// the published schema of OpenWOP, which must define all its members.
func TestProposalsMatchPublishedSchema(t *testing.T) {
	schema := publishedSchema(t, "proposal")
	c := newCalls(t)
	states := map[string]bool{}
	check := func(data []byte) {
		t.Helper()
		var v map[string]any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%v\n%s", err, data)
		}
		for member := range v {
			if schema.Schema().Properties[member] == nil {
				t.Errorf("the published schema has no member %s", member)
			}
		}
		states[v["state"].(string)] = true
	}
	const file = `{"kind":"prompt-template","title":"T","rationale":"R","synthesizerModel":"m","artifact":{"templateId":"look","version":"1.0.0","kind":"user","text":"Look."}}`
	data := c.with(file, "proposals", "create", "-", "--workspace", "blue")
	check(data)
	name, _ := parseProposal(t, data)
	for _, call := range []string{"proposals get ID", "proposals reject ID", "proposals archive ID",
		"proposals revise ID -", "proposals apply ID --as ada", "proposals rollback ID --as ada"} {
		check(c.with(file, append(strings.Fields(strings.ReplaceAll(call, "ID", name)), "--workspace", "blue")...))
	}
	check(c.with(file, "proposals", "create", "-"))
	if len(states) != 5 {
		t.Errorf("checked states %v, want all 5", states)
	}
}

// TestCapabilitiesMatchPublishedSchema checks the document with each feature on and off, and
// with both modes of activation.
func TestCapabilitiesMatchPublishedSchema(t *testing.T) {
	schema := publishedSchema(t, "capabilities")
	c := newCalls(t)
	for _, set := range []string{"proposals on", "proposalsActivation approval-gate", "feedback off", "proposals off",
		"feedback on"} {
		configure(t, c.dir, strings.Fields(set)...)
		var v any
		data := c.ok("capabilities")
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v\n%s", set, err, data)
		}
		if has, want := strings.Contains(string(data), `"proposals"`), set != "proposals off" &&
			set != "feedback on"; has != want {
			t.Errorf("%s: %s", set, data)
		}
	}
}
