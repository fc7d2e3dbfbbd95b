package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/about"
	"github.com/waybill/waybill/cmd/waybill/cli"
)

// tour is the page for people who have never seen the program.
const tour = "../../docs/tour.md"

// TestGuides types the lines of each page in docs/guide, of the tour and of the skill in docs/agents, in order, in a
// folder with the files that the page shows. Every line that the page shows as output must be printed, in which … is
// any text of a line, and every exit status must be the one shown. A line that ends with a question and y is
// answered by a person at a terminal, who types what is behind a ›.
func TestGuides(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"git", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	pages, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no page", err)
	}
	skills, err := filepath.Glob(agentSkills)
	if err != nil || len(skills) == 0 {
		t.Fatal("no skill", err)
	}
	pages = append(append(pages, tour), skills...)
	dir := t.TempDir()
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(page) == "README.md" && !fenced().Match(text) {
			continue // the index, which TestGuideIndex reads
		}
		script, typed := scriptOf(string(text))
		if runtime.GOOS == "windows" && strings.Contains(script, " person 'y") {
			continue // it has no pseudo-terminals
		}
		if _, err := exec.LookPath("ssh-keygen"); err != nil && strings.Contains(script, "ssh-keygen") {
			t.Logf("%s is not tried: %v", page, err)
			continue
		}
		if typed < 5 {
			t.Errorf("%s: %d typed lines", page, typed)
		}
		name := strings.TrimSuffix(filepath.Base(page), ".md") + ".txtar"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: func(env *testscript.Env) error {
		for name, value := range map[string]string{"HOME": env.WorkDir, "WAYBILL_HOME": filepath.Join(env.WorkDir, "home"),
			"XDG_CONFIG_HOME": filepath.Join(env.WorkDir, "config"), "NO_COLOR": "1", "TERM": "xterm",
			"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
			"GIT_COMMITTER_EMAIL": "a@example.org"} {
			env.Setenv(name, value)
		}
		return nil
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "shows": shows}})
}

// TestGuideIndex: the index links every page of the guide, once as the page to read, and its order is that of the
// "Next" links at the end of the pages.
func TestGuideIndex(t *testing.T) {
	index, err := os.ReadFile("../../docs/guide/README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatal(len(pages), err)
	}
	for _, page := range pages {
		name := filepath.Base(page)
		if n := strings.Count(string(index), "]("+name+")"); n != 1 && name != "README.md" {
			t.Errorf("docs/guide/README.md links %s %d times, want 1", name, n)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		next := regexp.MustCompile(`Next:\s\[[^]]+\]\(([^)]+)\)`).FindSubmatch(text)
		if next != nil && strings.Index(string(index), "]("+name+")") > strings.Index(string(index), "]("+string(next[1])+")") {
			t.Errorf("%s leads to %s, which the index lists before it", name, next[1])
		}
	}
}

// TestHelpNamesGuidePages: the help of each command that has a page of the guide names it, and the page exists; commands
// with subcommands that people use to write or perform workflows have one.
func TestHelpNamesGuidePages(t *testing.T) {
	named := 0
	walk(newRoot(&cli.App{}), func(cmd *cobra.Command) {
		page := about.GuidePage(cmd)
		if page == "" {
			return
		}
		named++
		if _, err := os.Stat("../../" + page); err != nil {
			t.Errorf("%s: %v", cmd.CommandPath(), err)
		}
		var out bytes.Buffer
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if run(args, strings.NewReader(""), &out, &out, nil); !strings.HasSuffix(out.String(), "\nGuide: "+page+"\n") {
			t.Errorf("%s --help does not end with %s", cmd.CommandPath(), page)
		}
	})
	if named < 30 {
		t.Errorf("%d commands have a page", named)
	}
}

// fenced matches a block of code with its language and, for a file, its name.
var fenced = expression("(?ms)^```(\\w+)(?: (\\S+))?\n(.*?)^```$")

// needsTerminal is the line behind a command that asks nothing and needs a person all the same.
const needsTerminal = "(at a terminal)"

// scriptOf returns a page as a script: its typed lines with what they must print, and its files, in a
// git repository with one commit and a folder for each service. A shell reads the lines.
func scriptOf(page string) (script string, typed int) {
	var lines, files []string
	for _, block := range fenced().FindAllStringSubmatch(page, -1) {
		if block[2] != "" {
			files = append(files, fmt.Sprintf("-- %s --\n%s", block[2], block[3]))
		}
		if block[1] != "console" {
			continue
		}
		for _, line := range strings.Split(strings.TrimRight(block[3], "\n"), "\n") {
			command, isTyped := strings.CutPrefix(line, "$ ")
			status, isStatus := strings.CutPrefix(line, "(exit status ")
			question, isAnswered := strings.CutSuffix(line, "N] y")
			text, isText := strings.CutPrefix(strings.TrimSpace(line), "› ")
			switch last := len(lines) - 1; {
			case isTyped:
				lines, typed = append(lines, "exits 0 sh -c '"+strings.ReplaceAll(command, "'", "''")+"'"), typed+1
			case isStatus:
				for !strings.HasPrefix(lines[last], "exits ") {
					last--
				}
				lines[last] = "exits " + strings.TrimSuffix(status, ")") + strings.TrimPrefix(lines[last], "exits 0")
			case isAnswered || line == needsTerminal: // by a person at a terminal
				for !strings.HasPrefix(lines[last], "exits ") {
					last--
				}
				if !strings.Contains(lines[last], " person 'y") {
					lines[last] = strings.Replace(lines[last], " sh -c ", " person 'y' sh -c ", 1)
				}
				if isAnswered {
					lines = append(lines, "shows '"+strings.ReplaceAll(question, "'", "''")+"'")
				}
			case isText: // typed by a person
				for !strings.HasPrefix(lines[last], "exits ") {
					last--
				}
				if !strings.Contains(lines[last], " person 'y") {
					lines[last] = strings.Replace(lines[last], " sh -c ", " person 'y' sh -c ", 1)
				}
				lines[last] = strings.Replace(lines[last], "' sh -c ", "|"+strings.ReplaceAll(text, "'", "''")+"' sh -c ", 1)
			default:
				lines = append(lines, "shows '"+strings.ReplaceAll(line, "'", "''")+"'")
			}
		}
	}
	return "exec git init -q\nexec git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m first\n" +
		"mkdir services/api services/web\ncp ready services/api/ready\n" + strings.Join(lines, "\n") + "\n" +
		strings.Join(files, "") + "-- ready --\n", typed
}

// shows TEXT: the last command printed the text, on stdout or stderr; … in it is also any text of a line.
func shows(ts *testscript.TestScript, _ bool, args []string) {
	out := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	pattern := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(args[0]), "…", ".+"))
	if !strings.Contains(out, args[0]) && !pattern.MatchString(out) {
		ts.Fatalf("not printed: %s\nin: %s", args[0], out)
	}
}
