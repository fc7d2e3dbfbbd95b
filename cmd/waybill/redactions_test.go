package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// plantedSecret is a text that redaction recognizes, and the part of it that must not be found anywhere.
type plantedSecret struct{ text, needle string }

// plantedSecrets has texts of different rules.
func plantedSecrets() []plantedSecret {
	same := func(s string) plantedSecret { return plantedSecret{s, s} }
	return []plantedSecret{
		same("ghp_planted0123456789abcdef0123456789abcd"),
		same("sk-planted0005555"),
		same("AKIAPLANTED777777777"),
		same("st.v1.cGxhbnRlZA.cGxhbnRlZHBsYW50ZWQ"),
		{"password=planted-hunter2", "planted-hunter2"},
		{"https://ada:plantedhunter2@host.example/x", "plantedhunter2"},
	}
}

// planter calls commands in one directory.
type planter struct {
	*testing.T
	dir string
}

// newPlanter works in an empty directory with an empty store.
func newPlanter(t *testing.T) *planter {
	t.Helper()
	p := &planter{T: t, dir: t.TempDir()}
	t.Chdir(p.dir)
	return p
}

// call runs a command and returns its exit status and everything that it prints.
func (p *planter) call(stdin string, args ...string) (exit int, stdout, stderr string) {
	p.Helper()
	var out, errOut bytes.Buffer
	env := []string{"HOME=" + p.dir, "USERPROFILE=" + p.dir, "WAYBILL_HOME=" + filepath.Join(p.dir, "home")}
	exit = run(args, strings.NewReader(stdin), &out, &errOut, env)
	return exit, out.String(), errOut.String()
}

// endless lists the commands that serve until they are stopped, unless they are refused.
var endless = []string{"waybill serve", "waybill console", "waybill mcp", "waybill runs watch", "waybill runs logs"}

// TestErrorsEchoNoSecret gives a secret in the place of each argument and each flag of each command. What a
// failing call prints does not have it, with diagnostics and as JSON.
func TestErrorsEchoNoSecret(t *testing.T) {
	p := newPlanter(t)
	if exit, _, errOut := p.call("", "start", "wr.demo"); exit != 0 {
		t.Fatal(errOut)
	}
	planted := plantedSecrets()
	cases := sample.OneIn(t, 12)
	refused, n, places := 0, 0, 0
	// Each place gets one secret, the next place the next one; a command name gets all.
	try := func(args ...string) {
		if places++; !cases.Try() {
			return
		}
		c := planted[n%len(planted)]
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "CANARY", c.text)
		}
		n++
		form := []string{"--log-level", "debug"}
		if n/len(planted)%2 == 0 {
			form = append(form, "--json", "--log-format", "json")
		}
		line := append(slices.Clone(args), form...)
		exit, out, errOut := p.call("", line...)
		if exit == 0 {
			return
		}
		refused++
		if strings.Contains(out+errOut, c.needle) {
			t.Errorf("%q prints %q:\n%s%s", line, c.needle, out, errOut)
		}
	}
	for range planted {
		try("CANARY")
		try("--CANARY")
		try("-CANARY")
		try("runs", "CANARY")
		try("--log-level", "CANARY", "runs", "list")
	}
	walk(newRoot(&cli.App{Process: cli.Process{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}}), func(cmd *cobra.Command) {
		words := strings.Fields(cmd.CommandPath())[1:]
		if !cmd.Runnable() || len(words) == 0 || cmd.Name() == "help" {
			return
		}
		ends := !slices.Contains(endless, cmd.CommandPath())
		for args := range 4 {
			if ends || args > 1 {
				try(append(slices.Clone(words), slices.Repeat([]string{"CANARY"}, args)...)...)
			}
			if ends {
				try(append(append(slices.Clone(words), "@last"), slices.Repeat([]string{"CANARY"}, args)...)...)
			}
		}
		try(append(slices.Clone(words), "--CANARY")...)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Name == "store" || !ends && f.Value.Type() != "bool" {
				return
			}
			try(append(slices.Clone(words), "--"+f.Name+"=CANARY")...)
			try(append(slices.Clone(words), "@last", "--"+f.Name+"=CANARY")...)
			try(append(slices.Clone(words), "@last", "x", "--"+f.Name+"=CANARY")...)
		})
	})
	// The path of a store is cleaned, after which a URL is none any more.
	planted = slices.DeleteFunc(planted, func(c plantedSecret) bool { return strings.Contains(c.text, "://") })
	for range planted {
		try("runs", "show", "x", "--store", "CANARY")
	}
	if places < 4000 || refused < n/2 {
		t.Errorf("only %d of %d calls are refused, of %d places", refused, n, places)
	}
	t.Logf("%d refused calls", refused)
}

// TestErrorsAboutFilesEchoNoSecret reads files that have a secret where they are wrong.
func TestErrorsAboutFilesEchoNoSecret(t *testing.T) {
	p := newPlanter(t)
	const flow = `{"id":"test.planted","name":"N","description":"D","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"P"%s}]}`
	cases := sample.OneIn(t, 8)
	for _, c := range plantedSecrets() {
		word := quoted(c.text)
		for name, content := range map[string]string{
			"text.json":      c.text,
			"cut.json":       `{"id":` + word,
			"key.json":       `{` + word + `:1,` + word + `:2}`,
			"yaml.yaml":      "id: test.planted\n" + c.text + "\n  x: [",
			"id.json":        strings.Replace(strings.Replace(flow, "%s", "", 1), `"test.planted"`, word, 1),
			"member.json":    strings.Replace(flow, "%s", `,`+word+`:1`, 1),
			"condition.json": strings.Replace(flow, "%s", `,"runCondition":{"var":"x",`+word+`:`+word+`}`, 1),
			"criteria.json":  strings.Replace(flow, "%s", `,"validationCriteria":[{"type":`+word+`,"value":`+word+`}]`, 1),
			"command.json":   strings.Replace(flow, "%s", `,"command":{"argv":[`+word+`],`+word+`:1}`, 1),
			"prompt.json":    strings.Replace(flow, `"P"%s`, quoted("{{"+c.text+"}}")+`,"x":1`, 1),
		} {
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"workflows", "validate", name}, {"workflows", "compile", name}, {"start", name},
				{"run", name}, {"start", "wr.demo", "--context", name}, {"proposals", "create", name},
				{"import", name}, {"bundle", "verify", name}, {"config", "set", "roles", "@" + name},
				{"annotate", "@last", "--from", name}, {"trust", "add", name}} {
				for _, form := range [][]string{{"--log-level", "debug"}, {"--json"}} {
					if !cases.Try() {
						continue
					}
					exit, out, errOut := p.call("", append(slices.Clone(args), form...)...)
					if exit != 0 && strings.Contains(out+errOut, c.needle) {
						t.Errorf("%q with %s prints %q:\n%s%s", args, content, c.needle, out, errOut)
					}
				}
			}
		}
	}
}

// TestRedactedTextsHoldNoSecret plants each secret in every text that is redacted, through the commands. It is in
// no file below the store, in no bundle, and nothing prints it; the answers name the place and the rule.
func TestRedactedTextsHoldNoSecret(t *testing.T) {
	cases := sample.OneIn(t, 6)
	for i, c := range plantedSecrets() {
		if !cases.Try() {
			continue
		}
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			p := newPlanter(t)
			p.plants(c)
			p.reads(c)
			for _, dir := range []string{"home", "out"} {
				p.holdsNone(dir, c)
			}
		})
	}
}

// says calls a command as text or as JSON. It must succeed, print no secret, and name the places that it redacted.
func (p *planter) says(c plantedSecret, asJSON bool, args []string, pointers ...string) string {
	p.Helper()
	args = slices.Clone(args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "CANARY", c.text)
	}
	args = append(args, "--log-level", "debug")
	if asJSON {
		args = append(args, "--json")
	}
	exit, out, errOut := p.call("", args...)
	if exit != 0 {
		p.Errorf("%q: exit status %d: %s%s", args, exit, out, errOut)
	}
	if strings.Contains(out+errOut, c.needle) {
		p.Errorf("%q prints %q:\n%s%s", args, c.needle, out, errOut)
	}
	for _, pointer := range pointers {
		want := "redacted: " + pointer + " ("
		if asJSON {
			want = `{"pointer":"` + pointer + `","rule":"`
		}
		if !strings.Contains(out+errOut, want) {
			p.Errorf("%q: no %s in\n%s%s", args, want, out, errOut)
		}
	}
	return out
}

// plants gives the secret to every command that stores a redacted text, once as text and once with --json. Calls
// that are repeated find what the first one recorded.
func (p *planter) plants(c plantedSecret) {
	p.Helper()
	proposed := `{"kind":"prompt-template","title":TEXT,"rationale":TEXT,"synthesizerModel":TEXT,"artifact":{"templateId":"team.x","text":TEXT}}`
	const flow = `{"id":"test.one","name":"N","description":"D","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"P"}]}`
	p.writes("one.json", flow)
	p.writes("proposal.json", strings.ReplaceAll(proposed, "TEXT", quoted(c.text)))
	for _, asJSON := range []bool{false, true} {
		say := func(args []string, pointers ...string) string {
			p.Helper()
			return p.says(c, asJSON, args, pointers...)
		}
		for range 2 {
			say([]string{"start", "wr.demo", "--title", "CANARY", "--goal", "CANARY", "--key", "k"}, "/title", "/goal")
		}
		say([]string{"run", "one.json", "--title", "CANARY", "--goal", "CANARY", "--notes", "x"}, "/title", "/goal")
		say([]string{"start", "wr.demo"})
		say([]string{"annotate", "@last", "--correction", "CANARY", "--note", "CANARY"}, "/note", "/signal/correction")
		say([]string{"annotate", "@last", "--label", "CANARY"}, "/signal/label")
		var list struct {
			Data struct {
				Annotations []struct{ AnnotationID string }
			}
		}
		p.decodes(&list, "annotations", "list", "@last", "--json")
		for range 2 {
			say([]string{"annotations", "retract", "@last", list.Data.Annotations[0].AnnotationID, "--reason", "CANARY"}, "/reason")
		}
		say([]string{"fork", "@last", "--title", "CANARY"}, "/title")
		for range 2 {
			say([]string{"runs", "pause", "@last", "--reason", "CANARY"}, "/reason")
		}
		for range 2 {
			say([]string{"runs", "cancel", "@last", "--reason", "CANARY"}, "/reason")
		}
		for range 2 {
			say([]string{"sessions", "keep", "@last", "--reason", "CANARY"}, "/reason")
		}
		say([]string{"sessions", "keep", "@last", "--off", "--reason", "CANARY"}, "/reason")
		say([]string{"sessions", "delete", "@last", "--yes", "--reason", "CANARY"}, "/reason")
		say([]string{"proposals", "create", "proposal.json", "--reason", "CANARY"}, "/title", "/rationale", "/synthesizerModel",
			"/artifact/text", "/reason")
		var all struct {
			Data struct {
				Proposals []struct{ ID string }
			}
		}
		p.decodes(&all, "proposals", "list", "--json")
		id := all.Data.Proposals[0].ID
		say([]string{"proposals", "revise", id, "proposal.json", "--reason", "CANARY"}, "/title", "/artifact/text", "/reason")
		say([]string{"proposals", "reject", id, "--reason", "CANARY"}, "/reason")
		say([]string{"proposals", "archive", id, "--reason", "CANARY"}, "/reason")
	}
}

// decodes calls a command and decodes what it prints.
func (p *planter) decodes(out any, args ...string) {
	p.Helper()
	if _, printed, errOut := p.call("", args...); json.Unmarshal([]byte(printed), out) != nil {
		p.Fatalf("%v: %s%s", args, printed, errOut)
	}
}

// reads prints everything that shows the texts, and exports the runs.
func (p *planter) reads(c plantedSecret) {
	p.Helper()
	if err := os.Mkdir("out", 0o700); err != nil {
		p.Fatal(err)
	}
	p.says(c, false, []string{"start", "wr.demo", "--title", "CANARY", "--goal", "CANARY"}, "/title", "/goal")
	p.says(c, false, []string{"annotate", "@last", "--label", "CANARY", "--note", "CANARY"}, "/note", "/signal/label")
	for _, asJSON := range []bool{false, true} {
		for _, args := range [][]string{{"runs", "list"}, {"runs", "show", "@last"}, {"runs", "timeline", "@last"},
			{"runs", "events", "@last"}, {"annotations", "list", "@last", "--history"}, {"annotations", "summary"},
			{"resume"}, {"continue", "--run", "@last"}, {"sessions", "list"}, {"sessions", "list", "--trash"},
			{"audit", "list"}, {"verify"}, {"proposals", "list"}, {"proposals", "events"}, {"du"},
			{"export", "@last", "-o", "out/plain.json", "--force"}, {"export", "@last", "--redact", "-o", "out/redacted.json", "--force"}} {
			p.says(c, asJSON, args)
		}
	}
}

// writes writes a file in the directory.
func (p *planter) writes(name, content string) {
	p.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		p.Fatal(err)
	}
}

// holdsNone fails if a file below a directory, or its name, has the secret. There are files.
func (p *planter) holdsNone(dir string, c plantedSecret) {
	p.Helper()
	if name := p.holder(dir, c); name != "" {
		p.Errorf("%s has %q", name, c.needle)
	}
}

// holds reports that a file below a directory has the secret.
func (p *planter) holds(dir string, c plantedSecret) bool { return p.holder(dir, c) != "" }

// holder returns a file below a directory that has the secret, or whose name does; "" if none does.
func (p *planter) holder(dir string, c plantedSecret) (found string) {
	p.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		b, err := os.ReadFile(name)
		if bytes.Contains(b, []byte(c.needle)) || strings.Contains(name, c.needle) {
			found = name
		}
		return err
	})
	if err != nil || n == 0 {
		p.Errorf("%d files: %v", n, err)
	}
	return found
}
