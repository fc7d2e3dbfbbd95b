package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/store/config"
)

// completing is a store for which the shell asks for completions.
type completing struct {
	*testing.T
	home string
}

// newCompleting returns an empty store.
func newCompleting(t *testing.T) completing { return completing{t, filepath.Join(t.TempDir(), "home")} }

// call runs the program in this process and returns what it prints on stdout.
func (c completing) call(args ...string) string {
	c.Helper()
	var out, errOut bytes.Buffer
	status := run(args, strings.NewReader(""), &out, &errOut, []string{"WAYBILL_HOME=" + c.home})
	if status != 0 || args[0] == cobra.ShellCompRequestCmd && errOut.Len() > 0 {
		c.Errorf("waybill %q: exit status %d, stderr %q", args, status, &errOut)
	}
	return out.String()
}

// complete returns the completions of the last word of a command line, without descriptions, and the directive
// for the shell.
func (c completing) complete(line ...string) (words []string, directive string) {
	c.Helper()
	text := c.call(append([]string{cobra.ShellCompRequestCmd}, line...)...)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for _, l := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(l, "\t")
		words = append(words, word)
	}
	return words, lines[len(lines)-1]
}

// expect checks the completions of the last word of a command line; no file names may be among them.
func (c completing) expect(line []string, want ...string) {
	c.Helper()
	if got, directive := c.complete(line...); !slices.Equal(got, want) || directive != ":4" {
		c.Errorf("%q completes to %q %s, want %q", line, got, directive, want)
	}
}

// tree returns the names, modes, times and bytes of all files.
func (c completing) tree() string {
	var b strings.Builder
	_ = filepath.WalkDir(filepath.Dir(c.home), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %s %s %x\n", path, info.Mode(), info.ModTime(), sha256.Sum256(data))
		return nil
	})
	return b.String()
}

// openValues are the names of values that are not members of a set which the program knows.
var openValues = strings.Fields("TEXT N TIME DURATION CURSOR TOKEN K=V KEY LABEL REF DIGEST HOST:PORT FINGERPRINT SHARE " +
	"EVENT ANNOTATION NAME TAGS ROLE")

// alternatives matches a text that lists the values of a closed set.
var alternatives = expression(`\b[a-z_-]+(?:, [a-z_-]+)* or [a-z_-]+$`)

// flagLines returns a command line for each flag that takes a value, which ends before the value, and the name of
// the value. The name is SET if the text of the flag lists the values.
func flagLines() (lines [][]string, values []string) {
	root := newRoot(&cli.App{})
	walk(root, func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal != "" {
				return
			}
			line := strings.Fields(cmd.CommandPath())[1:]
			switch hasRun := cmd.LocalFlags().Lookup("run") != nil; {
			case hasRun && f.Name != "run":
				line = append(line, "--run", "@last")
			case !hasRun && strings.Contains(cmd.Use, " RUN"):
				line = append(line, "@last")
			}
			value, text := pflag.UnquoteUsage(f)
			if _, list, ok := strings.Cut(text, ": "); ok && alternatives().FindString(list) == list {
				value = "SET"
			}
			lines, values = append(lines, append(line, "--"+f.Name, "")), append(values, value)
		})
	})
	return lines, values
}

// TestEveryFlagCompletes: the value of a flag completes to the members of its set, to files, to directories or, if
// it is free text, to nothing.
func TestEveryFlagCompletes(t *testing.T) {
	t.Parallel()
	c := newCompleting(t)
	c.call("start", "wr.demo", "--title", "A \x1b[31mtitle\u202e")
	before := c.tree()
	lines, values := flagLines()
	for i, line := range lines {
		words, directive := c.complete(line...)
		isRating := line[len(line)-2] == "--rating"
		want := ":4"
		switch values[i] {
		case "FILE", "ALLOWED_SIGNERS", "FILE|ID":
			want = ":0"
		case "DIR", "STORE":
			want = ":16"
		}
		if directive != want {
			t.Errorf("%q: directive %s, want %s", line, directive, want)
		}
		isOpen := slices.Contains(openValues, values[i]) && !isRating
		if want == ":4" && isOpen != (len(words) == 0) {
			t.Errorf("%q %s completes to %q", line, values[i], words)
		}
	}
	for _, line := range [][]string{{"runs", "show", ""}, {"continue", "--run", ""}, {"resume", "--run", ""}} {
		if text := c.call(append([]string{cobra.ShellCompRequestCmd}, line...)...); strings.ContainsAny(text, "\x1b\u202e") ||
			!strings.Contains(text, "title") {
			t.Errorf("%q completes to %q", line, text)
		}
	}
	if c.tree() != before {
		t.Error("completion changed a file")
	}
}

// TestCompletions: sets and what the store holds.
func TestCompletions(t *testing.T) {
	t.Parallel()
	c := newCompleting(t)
	levels := []string{"guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"}
	for _, cmd := range []string{"run", "start", "continue"} {
		c.expect([]string{cmd, "--autonomy", ""}, levels...)
		c.expect([]string{cmd, "--preset", ""}, levels...)
		c.expect([]string{cmd, "--risk", ""}, "conservative", "balanced", "aggressive")
	}
	c.expect([]string{"config", "get", ""}, config.Keys()...)
	c.expect([]string{"config", "set", ""}, config.Keys()...)
	c.expect([]string{"config", "set", "autonomy", ""}, levels...)
	c.expect([]string{"config", "set", "riskPolicy", ""}, "conservative", "balanced", "aggressive")
	c.expect([]string{"config", "set", "feedback", ""}, "on", "off")
	c.expect([]string{"config", "set", "lockWaitMs", ""})
	c.expect([]string{"config", "set", "nothing", ""})
	c.expect([]string{"config", "get", "autonomy", ""})
	c.expect([]string{"--log-format", ""}, "text", "json")
	c.expect([]string{"doctor", ""})
	c.expect([]string{"runs", "cancel", ""})
	c.expect([]string{"--tenant", "../other", "runs", "show", ""}, "@last")
	if words, _ := c.complete("help", ""); !slices.Contains(words, "runs") || !slices.Contains(words, "flags") {
		t.Errorf("help completes to %q", words)
	}
	if words, _ := c.complete("runs", "list", "--status", ""); !slices.Contains(words, "complete_with_gaps") {
		t.Errorf("--status completes to %q", words)
	}
	if _, err := os.Stat(c.home); err == nil {
		t.Error("completion created a store")
	}

	c.call("start", "wr.demo")
	short := func() string { words, _ := c.complete("runs", "show", ""); return words[1] }
	first := short()
	c.expect([]string{"runs", "cancel", ""}, "@last", first)
	// The run of a pull is one of the other store.
	c.expect([]string{"push", ""}, "@last", first)
	c.expect([]string{"pull", ""})
	c.expect([]string{"--tenant", "other", "pull", "--from", filepath.Join(c.home, "local"), ""}, "@last", first)
	c.expect([]string{"--tenant", "other", "pull", "--from", filepath.Join(c.home, "nowhere"), ""}, "@last")
	c.expect([]string{"continue", "--run", "@last", "--at", ""}, "where")
	c.expect([]string{"approve", "--at", ""}, "where")
	c.expect([]string{"continue", "--at", ""})
	c.expect([]string{"runs", "resume", ""})
	c.expect([]string{"runs", "pause", ""}, "@last", first)
	c.call("runs", "pause", "@last")
	c.expect([]string{"runs", "resume", ""}, "@last", first)
	c.expect([]string{"runs", "cancel", ""}, "@last", first)
	c.call("runs", "resume", "@last")
	c.expect([]string{"runs", "resume", ""})
	c.call("start", "wr.demo")
	second := short()
	c.call("runs", "cancel", "@last")
	c.expect([]string{"runs", "cancel", ""}, first)
	c.expect([]string{"runs", "cancel", first, ""})
	c.expect([]string{"runs", "show", ""}, "@last", second, first)
	c.expect([]string{"runs", "diff", ""}, "@last", second, first)
	c.expect([]string{"runs", "diff", first, ""}, "@last", second, first)
	c.expect([]string{"runs", "diff", first, second, ""})
}

// TestCompletionsOfBrokenStores: without a store that can be read there is nothing to complete, and no message.
func TestCompletionsOfBrokenStores(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(store string) error{
		"the store is a file": func(store string) error {
			return errorsOf(os.RemoveAll(store), os.WriteFile(store, []byte("x"), 0o600))
		},
		"the configuration is damaged": func(store string) error {
			return os.WriteFile(filepath.Join(store, "config.json"), []byte("{"), 0o600)
		},
		"the sessions are a file": func(store string) error {
			at := filepath.Join(store, "sessions")
			return errorsOf(os.RemoveAll(at), os.WriteFile(at, []byte("x"), 0o600))
		},
		"every file of the sessions is damaged": func(store string) error {
			return filepath.WalkDir(filepath.Join(store, "sessions"), func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				return os.WriteFile(path, []byte("\x00{\n"), 0o600)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCompleting(t)
			c.call("start", "wr.demo")
			if err := damage(filepath.Join(c.home, "local")); err != nil {
				t.Fatal(err)
			}
			before := c.tree()
			lines, _ := flagLines()
			for _, args := range [][]string{{"runs", "show"}, {"runs", "cancel"}, {"proposals", "get"}, {"start"},
				{"config", "set"}, {"config", "set", "autonomy"}, {"sessions", "delete"}} {
				lines = append(lines, append(args, ""))
			}
			for _, line := range lines {
				if _, directive := c.complete(line...); !strings.HasPrefix(directive, ":") {
					t.Errorf("%q: no directive", line)
				}
			}
			if c.tree() != before {
				t.Error("completion changed a file")
			}
		})
	}
}

// errorsOf returns the first error.
func errorsOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
