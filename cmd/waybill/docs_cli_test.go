package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/about"
	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

const cliDocs = "../../docs/cli"

// generated is the part of the index that is written from the commands.
var generated = expression(`(?s)(<!-- generated: [^\n]*-->\n).*?(<!-- end of generated -->)`)

// TestCommandPagesAreCurrent: docs/cli has one page per top-level command, made from the
// commands themselves, and an index that lists them in the groups of the help.
func TestCommandPagesAreCurrent(t *testing.T) {
	t.Parallel()
	root := newRoot(&cli.App{})
	root.InitDefaultHelpCmd()
	pages := map[string]bool{"README.md": true}
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			pages[cmd.Name()+".md"] = true
			current(t, filepath.Join(cliDocs, cmd.Name()+".md"), commandPage(cmd))
		}
	}
	found, err := filepath.Glob(filepath.Join(cliDocs, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		if !pages[filepath.Base(name)] {
			t.Errorf("%s is the page of no command", name)
		}
	}
	index, err := os.ReadFile(filepath.Join(cliDocs, "README.md"))
	if err != nil || !generated().Match(index) {
		t.Fatalf("the index of the commands has no generated part: %v", err)
	}
	current(t, filepath.Join(cliDocs, "README.md"),
		generated().ReplaceAllStringFunc(string(index), func(part string) string {
			m := generated().FindStringSubmatch(part)
			return m[1] + commandIndex(root) + m[2]
		}))
}

// commandIndex is the commands by group, and the flags of all of them.
func commandIndex(root *cobra.Command) string {
	var b strings.Builder
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "\n### %s\n\n| command | |\n| --- | --- |\n", strings.TrimSuffix(group.Title, ":"))
		for _, cmd := range root.Commands() {
			if cmd.IsAvailableCommand() && cmd.GroupID == group.ID {
				fmt.Fprintf(&b, "| [`%s`](%s.md) | %s |\n", cmd.CommandPath(), cmd.Name(), cmd.Short)
			}
		}
	}
	fmt.Fprintf(&b, "\n## Flags of every command\n\n```text\n%s```\n\n",
		cli.FlagList(root.PersistentFlags(), page.HelpColumns))
	return b.String()
}

// commandPage is the page of a top-level command, its subcommands included.
func commandPage(top *cobra.Command) string {
	var b strings.Builder
	b.WriteString("<!-- Generated from the commands by 'go test ./cmd/waybill -update'. Do not edit. -->\n\n")
	walk(top, func(cmd *cobra.Command) {
		level := "##"
		if cmd == top {
			level = "#"
		} else {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s %s\n\n%s.\n\n", level, cmd.CommandPath(), cmd.Short)
		if !cmd.HasSubCommands() || cmd.Annotations[cli.RunsAlone] != "" {
			fmt.Fprintf(&b, "```text\n%s\n```\n\n", cmd.UseLine())
		}
		b.WriteString(prose(cmd.Long))
		if guide := about.GuidePage(cmd); guide != "" && cmd == top {
			fmt.Fprintf(&b, "\nGuide: [%s](../%s).\n", guide, strings.TrimPrefix(guide, "docs/"))
		}
		for i, sub := range cmd.Commands() {
			if i == 0 {
				b.WriteString("\n| command | |\n| --- | --- |\n")
			}
			if sub.IsAvailableCommand() {
				anchor := strings.ReplaceAll(sub.CommandPath(), " ", "-")
				fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", sub.CommandPath(), anchor, sub.Short)
			}
		}
		if cmd.Example != "" {
			fmt.Fprintf(&b, "\nExamples:\n\n```sh\n%s\n```\n",
				strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
		}
		if flags := ownFlags(cmd); flags != "" {
			fmt.Fprintf(&b, "\nFlags:\n\n```text\n%s```\n", flags)
		}
		if kinds := answers[cmd.CommandPath()]; kinds != "" {
			fmt.Fprintf(&b, "\nKind of its JSON document: %s.\n", kinds)
		}
	})
	return b.String() + "\nThe flags of every command, and how commands answer: [index](README.md).\n"
}

var (
	quotedCommand = expression(`'(waybill [^'\n]*)'`)
	markdownSigns = expression(`[*_<>]|\[`)
	codeSpan      = expression("`[^`\n]*`")
)

// prose is a long help text as Markdown: paragraphs are text, what is indented or spelled
// in braces is shown as it is.
func prose(long string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.Trim(long, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		if strings.HasPrefix(part, " ") || strings.Contains(part, "\n ") || strings.ContainsAny(part, "{}|") {
			fmt.Fprintf(&b, "```text\n%s\n```\n", part)
			continue
		}
		part = quotedCommand().ReplaceAllString(part, "`$1`")
		spans := codeSpan().FindAllStringIndex(part, -1)
		out, at := "", 0
		for _, s := range append(spans, []int{len(part), len(part)}) {
			out += markdownSigns().ReplaceAllString(part[at:s[0]], `\$0`) + part[s[0]:s[1]]
			at = s[1]
		}
		b.WriteString(out + "\n")
	}
	return b.String()
}

// TestProse: plain paragraphs become Markdown, and what a renderer would swallow does not.
func TestProse(t *testing.T) {
	t.Parallel()
	got := prose("Run 'waybill gc' or <it>, a_b.\n\n  indented\n\nTake {\"a\": 1}.")
	want := "Run `waybill gc` or \\<it\\>, a\\_b.\n\n```text\n  indented\n```\n\n```text\nTake {\"a\": 1}.\n```\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
