package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// manDir is where 'make man' writes the pages.
var manDir = flag.String("man", "", "write the man pages to the folder `DIR`")

// manDate is the date of the pages: none, so that the same commands give the same bytes.
const manDate = ""

// roff writes text as roff shows it: backslashes and hyphens as they are, and no line that is a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return regexp.MustCompile(`(?m)^([.'])`).ReplaceAllString(text, `\&$1`)
}

// manParagraphs is a long help text: paragraphs are filled, and what is indented is shown as it is.
func manParagraphs(long string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.Trim(long, "\n"), "\n\n") {
		if strings.HasPrefix(part, " ") || strings.Contains(part, "\n ") {
			fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", roff(part))
		} else {
			fmt.Fprintf(&b, ".PP\n%s\n", roff(part))
		}
	}
	return strings.TrimPrefix(b.String(), ".PP\n")
}

// manFlags lists flags.
func manFlags(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		term := "--" + f.Name
		if f.Shorthand != "" {
			term = "-" + f.Shorthand + ", " + term
		}
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR", roff(term))
		if value != "" {
			fmt.Fprintf(&b, " \\fI%s\\fR", roff(value))
		}
		fmt.Fprintf(&b, "\n%s\n", roff(text))
	})
	return b.String()
}

// manName is the name of the page of a command.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is the page of a command, from the texts of its help.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 %q \"Waybill\" \"Waybill\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(manName(cmd)), manDate,
		roff(manName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fR\n", roff(cmd.UseLine()))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", manParagraphs(cmd.Long))
	if cmd.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n\\fB%s\\fR(1)\n%s.\n", roff(manName(sub)), roff(sub.Short))
			}
		}
	}
	if flags := manFlags(cmd.LocalFlags()); flags != "" {
		b.WriteString(".SH OPTIONS\n" + flags)
	}
	fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	b.WriteString(".SH SEE ALSO\n")
	if cmd.HasParent() {
		fmt.Fprintf(&b, "\\fB%s\\fR(1)\n", roff(manName(cmd.Parent())))
	} else {
		b.WriteString("docs/guide/README.md\n")
	}
	return b.String()
}

// TestManPages: each command has a page that a formatter accepts without a warning and that shows its texts. With -man the
// pages are written to a folder: 'make man'.
func TestManPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var files []string
	root := newRoot(&cli.App{})
	walk(root, func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		name := filepath.Join(dir, manName(cmd)+".1")
		if err := os.WriteFile(name, []byte(manPage(cmd)), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	})
	if len(files) < 80 {
		t.Errorf("only %d pages", len(files))
	}
	show := filepath.Join(dir, "waybill-runs-list.1")
	text, err := os.ReadFile(show)
	for _, part := range []string{".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH OPTIONS\n", ".SH EXAMPLES\n", `\fB\-\-jsonl\fR`} {
		if err != nil || !strings.Contains(string(text), part) {
			t.Errorf("%s lacks %q, %v", show, part, err)
		}
	}
	if _, err := exec.LookPath("mandoc"); err == nil {
		out, _ := exec.Command("mandoc", append([]string{"-Tlint", "-Wwarning"}, files...)...).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "missing date") {
				t.Error(line)
			}
		}
	} else {
		t.Log("mandoc is not installed: the pages are not linted")
	}
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("man is not installed: no page is rendered")
	}
	render := exec.Command("man", "--warnings", "-l", show)
	render.Env = append(os.Environ(), "MANWIDTH=300", "LC_ALL=C.UTF-8", "MANPAGER=cat")
	var warnings strings.Builder
	render.Stderr = &warnings
	out, err := render.Output()
	list, _, _ := root.Find([]string{"runs", "list"})
	if plain := words(string(out)); err != nil || warnings.Len() > 0 || !strings.Contains(plain, words(list.Long)[:200]) {
		t.Errorf("%v, %s: the page shows\n%s", err, &warnings, out)
	}
}

// TestRoff: what roff takes for requests or escapes is text.
func TestRoff(t *testing.T) {
	for text, want := range map[string]string{".SH X": `\&.SH X`, "a\n'b": "a\n\\&'b", `\u0041 -x`: `\eu0041 \-x`} {
		if got := roff(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
