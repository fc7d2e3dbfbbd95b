package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// canary is a text that redaction recognizes, and the part of it that must not be found anywhere.
type canary struct{ text, needle string }

// canaries has texts of different rules.
func canaries() []canary {
	same := func(s string) canary { return canary{s, s} }
	return []canary{
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
var endless = []string{"waybill serve", "waybill mcp", "waybill runs watch", "waybill runs logs"}

// TestErrorsEchoNoSecret gives a secret in the place of each argument and each flag of each command. What a
// failing call prints does not have it, with diagnostics and as JSON.
func TestErrorsEchoNoSecret(t *testing.T) {
	p := newPlanter(t)
	if exit, _, errOut := p.call("", "start", "wr.demo"); exit != 0 {
		t.Fatal(errOut)
	}
	planted := canaries()
	refused, n := 0, 0
	// Each place gets one secret, the next place the next one; a command name gets all.
	try := func(args ...string) {
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
	planted = slices.DeleteFunc(planted, func(c canary) bool { return strings.Contains(c.text, "://") })
	for range planted {
		try("runs", "show", "x", "--store", "CANARY")
	}
	if refused < 1000 {
		t.Errorf("only %d calls are refused", refused)
	}
	t.Logf("%d refused calls", refused)
}

// TestErrorsAboutFilesEchoNoSecret reads files that have a secret where they are wrong.
func TestErrorsAboutFilesEchoNoSecret(t *testing.T) {
	p := newPlanter(t)
	const flow = `{"id":"test.planted","name":"N","description":"D","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"P"%s}]}`
	for _, c := range canaries() {
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
					exit, out, errOut := p.call("", append(slices.Clone(args), form...)...)
					if exit != 0 && strings.Contains(out+errOut, c.needle) {
						t.Errorf("%q with %s prints %q:\n%s%s", args, content, c.needle, out, errOut)
					}
				}
			}
		}
	}
}
