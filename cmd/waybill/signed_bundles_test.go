package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/consent/consenttest"
)

// signedBundle starts a run and exports its session to b.json, which is signed with a key of the test. The
// file of allowed signers has the keys of ada, and of eve, which lives in a security key.
func signedBundle(t *testing.T) (p program, ada consenttest.Key, data []byte) {
	t.Helper()
	dir := t.TempDir()
	p, ada = program{t, dir, filepath.Join(dir, "home", "local")}, consenttest.New(1)
	p.writeFile("w.json", `{"id":"test.one","name":"One","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p"}]}`)
	p.runPiped(0, "start", "w.json")
	p.runPiped(0, "export", "@last", "-o", "b.json")
	data, err := os.ReadFile(filepath.Join(dir, "b.json"))
	if err != nil {
		t.Fatal(err)
	}
	p.writeFile("b.json.sig", ada.Armoured(data, "waybill"))
	p.writeFile("allowed", "ada "+ada.Public()+"\neve "+consenttest.NewSecurityKey(2).Public()+"\n")
	return p, ada, data
}

// badSignature is a file of a signature, or none, with which nothing is accepted.
type badSignature struct {
	name  string
	write func(p program)
	// finding is the code that bundle verify reports, refused that of the import; "" where it is no import's business.
	finding, refused string
}

// badSignatures are those of the bundle b.json with the bytes data.
func badSignatures(ada consenttest.Key, data []byte) []badSignature {
	sign := func(key consenttest.Key, message []byte, namespace string) func(program) {
		return func(p program) { p.writeFile("b.json.sig", key.Armoured(message, namespace)) }
	}
	untouched := consenttest.NewSecurityKey(2)
	untouched.Untouched = true
	link := func(target string) func(program) {
		return func(p program) {
			if err := os.Symlink(target, filepath.Join(p.dir, "b.json.sig")); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	const invalid, missing = "signature_invalid", "signature_missing"
	return []badSignature{
		{"none", func(program) {}, missing, ""},
		{"of another file", sign(ada, append([]byte(" "), data...), "waybill"), invalid, "SIGNATURE_REFUSED"},
		{"of another namespace", sign(ada, data, "git"), invalid, "SIGNATURE_REFUSED"},
		{"no signature", func(p program) { p.writeFile("b.json.sig", "yes\n") }, invalid, "SIGNATURE_REFUSED"},
		{"without a touch", sign(untouched, data, "waybill"), invalid, "SIGNATURE_REFUSED"},
		{"of a key that is no signer", sign(consenttest.New(9), data, "waybill"), missing, ""},
		{"huge", func(p program) { p.writeFile("b.json.sig", strings.Repeat("A", 1<<20)) }, invalid, "VALIDATION_ERROR"},
		{"a device", link("/dev/zero"), invalid, "VALIDATION_ERROR"},
		{"a link to nothing", link("nothing"), invalid, "VALIDATION_ERROR"},
		{"a folder", func(p program) { _ = os.Mkdir(filepath.Join(p.dir, "b.json.sig"), 0o700) }, invalid, "VALIDATION_ERROR"},
	}
}

// TestVerifySignedBundle: a signature by a key of the file counts, and every other one is a finding.
func TestVerifySignedBundle(t *testing.T) {
	t.Parallel()
	p, ada, data := signedBundle(t)
	var doc struct {
		OK     bool
		Signer struct {
			Principal, Fingerprint string
			Touched                bool
		}
		Findings []struct{ Code, Path string }
	}
	p.json(&doc, "bundle", "verify", "b.json", "--signers", "allowed")
	if !doc.OK || doc.Signer.Principal != "ada" || doc.Signer.Fingerprint != ada.Fingerprint() || doc.Signer.Touched {
		t.Errorf("%+v", doc)
	}
	p.writeFile("elsewhere", consenttest.NewSecurityKey(2).Armoured(data, "waybill"))
	p.json(&doc, "bundle", "verify", "b.json", "--signers", "allowed", "--signature", "elsewhere")
	if !doc.OK || doc.Signer.Principal != "eve" || !doc.Signer.Touched {
		t.Errorf("%+v", doc)
	}
	if text := p.runPiped(0, "bundle", "verify", "b.json", "--signers", "allowed"); !strings.Contains(text, "Signed by ada (") {
		t.Error(text)
	}
	out, errs, status := p.pipedBundle(data, "bundle", "verify", "-", "--signers", "allowed", "--signature", "b.json.sig")
	if status != 0 || !strings.Contains(out, "Signed by ada") {
		t.Errorf("from stdin: %d %s %s", status, out, errs)
	}
	for _, args := range [][]string{{"-", "--signers", "allowed"}, {"-", "--signers", "allowed", "--signature", "-"},
		{"b.json", "--signature", "b.json.sig"}} {
		if _, errs, status := p.pipedBundle(data, append([]string{"bundle", "verify"}, args...)...); status != 2 ||
			!strings.Contains(errs, "USAGE_ERROR") {
			t.Errorf("%q: %d %s", args, status, errs)
		}
	}
	for _, bad := range badSignatures(ada, data) {
		if err := os.RemoveAll(filepath.Join(p.dir, "b.json.sig")); err != nil {
			t.Fatal(err)
		}
		bad.write(p)
		p.failing(&doc, 5, "bundle", "verify", "b.json", "--signers", "allowed")
		if doc.OK || doc.Signer.Fingerprint != "" || len(doc.Findings) != 1 || doc.Findings[0].Code != bad.finding ||
			doc.Findings[0].Path != "b.json.sig" {
			t.Errorf("%s: %+v", bad.name, doc)
		}
		// Without the flag the file beside the bundle is not looked at.
		p.runPiped(0, "bundle", "verify", "b.json")
	}
	_ = os.RemoveAll(filepath.Join(p.dir, "b.json.sig"))
	p.writeFile("b.json.sig", ada.Armoured(data, "waybill"))
	for line, finding := range map[string]string{
		`ada valid-before="20200101Z" `:      "signature_invalid",
		`ada valid-after="29990101Z" `:       "signature_invalid",
		`ada valid-after="20200101000000Z" `: "",
	} {
		p.writeFile("allowed", line+ada.Public()+"\n")
		if finding == "" {
			p.json(&doc, "bundle", "verify", "b.json", "--signers", "allowed")
			continue
		}
		p.failing(&doc, 5, "bundle", "verify", "b.json", "--signers", "allowed")
		if len(doc.Findings) != 1 || doc.Findings[0].Code != finding {
			t.Errorf("%s: %+v", line, doc)
		}
	}
	// The envelope is not covered by the digests of a bundle, but it is signed.
	p.writeFile("allowed", "ada "+ada.Public()+"\n")
	p.writeFile("b.json", strings.Replace(string(data), `"exportedAt":"2`, `"exportedAt":"3`, 1))
	p.runPiped(0, "bundle", "verify", "b.json")
	p.failing(&doc, 5, "bundle", "verify", "b.json", "--signers", "allowed")
	p.writeFile("allowed", "no signers\n")
	p.runPiped(2, "bundle", "verify", "b.json", "--signers", "allowed")
}

// TestImportSignedBundle: the answer says who signed, and a signature that is none refuses the import before
// anything is written.
func TestImportSignedBundle(t *testing.T) {
	t.Parallel()
	p, ada, data := signedBundle(t)
	var doc struct {
		Relation  string
		Signature *struct{ File, Fingerprint, Principal string }
	}
	p.store = filepath.Join(p.dir, "other")
	for _, bad := range badSignatures(ada, data) {
		if bad.refused == "" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(p.dir, "b.json.sig")); err != nil {
			t.Fatal(err)
		}
		bad.write(p)
		for _, flags := range [][]string{nil, {"--signature", "b.json.sig"}} {
			cmd := p.command(append([]string{"import", "b.json"}, flags...)...)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "["+bad.refused+"]") || !strings.Contains(string(out), "Nothing was imported") {
				t.Errorf("%s: %v %s", bad.name, err, out)
			}
		}
		if _, err := os.Lstat(p.store); err == nil {
			t.Fatalf("%s: the store was made", bad.name)
		}
	}
	_ = os.RemoveAll(filepath.Join(p.dir, "b.json.sig"))
	p.json(&doc, "import", "b.json", "--as-new")
	if doc.Signature != nil {
		t.Errorf("without a signature: %+v", doc)
	}
	p.writeFile("s", ada.Armoured(data, "waybill"))
	p.json(&doc, "import", "b.json", "--signature", "s")
	if doc.Relation != "new" || doc.Signature == nil || doc.Signature.File != "s" || doc.Signature.Principal != "" ||
		doc.Signature.Fingerprint != ada.Fingerprint() {
		t.Errorf("%+v", doc)
	}
	p.writeFile("b.json.sig", ada.Armoured(data, "waybill"))
	want := "signed by the key " + ada.Fingerprint() + ", which is not a signer of this store"
	if text := strings.Join(strings.Fields(p.runPiped(0, "import", "b.json")), " "); !strings.Contains(text, want) {
		t.Error(text)
	}
	out, errs, status := p.pipedBundle(data, "import", "-")
	if status != 0 || strings.Contains(out, "igned by") {
		t.Errorf("from stdin: %d %s %s", status, out, errs)
	}
	if out, errs, status = p.pipedBundle(data, "import", "-", "--signature", "s"); status != 0 || !strings.Contains(out, "signed by") {
		t.Errorf("from stdin: %d %s %s", status, out, errs)
	}
	if _, errs, status = p.pipedBundle(data, "import", "-", "--signature", "-"); status != 2 {
		t.Errorf("both from stdin: %d %s", status, errs)
	}
}

// TestExportSignFails: the bundle is complete, there is no signature, and the error says both.
func TestExportSignFails(t *testing.T) {
	p, _, _ := signedBundle(t)
	t.Setenv("SSH_AUTH_SOCK", "")
	empty, self := t.TempDir(), ""
	if path, err := exec.LookPath("waybill"); err == nil {
		self = path
	} else {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		path string
		args []string
		want string
	}{
		"no agent":     {os.Getenv("PATH"), nil, "the agent has no key that can be used"},
		"no key":       {os.Getenv("PATH"), []string{"--key", "none"}, "the key none is not a file"},
		"no program":   {empty, []string{"--key", "w.json"}, "ssh-keygen is not installed"},
		"no key in it": {os.Getenv("PATH"), []string{"--key", "w.json"}, "ssh-keygen"},
	} {
		cmd := exec.Command(self, append([]string{"export", "@last", "-o", "c.json", "--sign", "--store", p.store}, row.args...)...)
		cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "PATH="+row.path)
		out, _ := cmd.CombinedOutput()
		text := strings.Join(strings.Fields(string(out)), " ")
		if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(text, "[SIGNATURE_REQUIRED]") || !strings.Contains(text, row.want) ||
			!strings.Contains(text, "c.json is complete, without a signature") {
			t.Errorf("%s: %d %s", name, cmd.ProcessState.ExitCode(), text)
		}
		p.runPiped(0, "bundle", "verify", "c.json")
		if left, _ := filepath.Glob(filepath.Join(p.dir, "*c.json*")); len(left) != 1 {
			t.Errorf("%s: %q", name, left)
		}
		if hidden, _ := filepath.Glob(filepath.Join(p.dir, ".*")); len(hidden) != 0 {
			t.Errorf("%s: %q", name, hidden)
		}
		if err := os.Remove(filepath.Join(p.dir, "c.json")); err != nil {
			t.Fatal(err)
		}
	}
	// An existing signature is refused before anything is written.
	p.writeFile("c.json.sig", "mine")
	if text := p.runPiped(2, "export", "@last", "-o", "c.json", "--sign"); !strings.Contains(text, "c.json.sig already exists") {
		t.Error(text)
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "c.json")); err == nil {
		t.Error("the bundle was written")
	}
	// A bundle that is replaced takes its signature with it, also if signing fails.
	p.writeFile("c.json", "old")
	p.runPiped(3, "export", "@last", "-o", "c.json", "--sign", "--force")
	if _, err := os.Lstat(filepath.Join(p.dir, "c.json.sig")); err == nil {
		t.Error("the signature of the replaced file was left")
	}
	p.writeFile("c.json.sig", "mine")
	if text := p.runPiped(0, "export", "@last", "-o", "c.json", "--force"); !strings.Contains(text, "is not a signature over this") {
		t.Error(text)
	}
	for _, args := range [][]string{{"-o", "-", "--sign"}, {"-o", "d.json", "--key", "k"}, {"-o", "d.json", "--sign", "--format", "openwop"}} {
		if text := p.runPiped(2, append([]string{"export", "@last"}, args...)...); !strings.Contains(text, "USAGE_ERROR") {
			t.Errorf("%q: %s", args, text)
		}
	}
}

// pipedBundle runs the program with a bundle on stdin.
func (p program) pipedBundle(bundle []byte, args ...string) (out, errs string, status int) {
	cmd := p.command(args...)
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = bytes.NewReader(bundle), &stderr
	b, _ := cmd.Output()
	return string(b), stderr.String(), cmd.ProcessState.ExitCode()
}
