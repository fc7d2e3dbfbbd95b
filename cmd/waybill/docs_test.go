package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
)

// go test ./cmd/waybill -update writes the generated documents and golden files again.
var update = flag.Bool("update", false, "write docs/cli, docs/errors.md and golden files again")

// current compares a generated file with what it should be.
func current(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is not current: run 'go test ./cmd/waybill -update' (%v)", path, err)
	}
}

// walk visits every command that help shows, parents first.
func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	if !cmd.HasParent() {
		cmd.InitDefaultHelpCmd()
	}
	cmd.InitDefaultHelpFlag()
	visit(cmd)
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			walk(sub, visit)
		}
	}
}

// ownFlags are those of one command alone; that each has --help goes without saying.
func ownFlags(cmd *cobra.Command) string {
	own := pflag.NewFlagSet("own", pflag.ContinueOnError)
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			own.AddFlag(f)
		}
	})
	return cli.FlagList(own, page.HelpColumns)
}

// answers are the kinds of document that commands give.
var answers = map[string]string{
	"waybill run": "`run`", "waybill start": "`step`", "waybill continue": "`step` or `blocked`",
	"waybill checkpoint": "`step`",
	"waybill approve":    "`step`", "waybill send-back": "`step`", "waybill deny": "`step`", "waybill fork": "`step`", "waybill resume": "`candidates`",
	"waybill replay":  "`replay`",
	"waybill trailer": "`trailer`", "waybill who": "`who`",
	"waybill annotate": "`annotation`, in the shape of RFC 0056", "waybill annotations list": "`annotations`",
	"waybill annotations summary": "`annotation_summary`", "waybill annotations retract": "`retracted`",
	"waybill runs graph": "`graph`", "waybill runs diff": "`run_diff`", "waybill runs cancel": "`cancelled`", "waybill runs pause": "`paused`", "waybill runs resume": "`resumed`",
	"waybill runs logs":      "`logs`",
	"waybill runs search":    "`search`",
	"waybill runs report":    "`report_file`, `report_index`, `report`",
	"waybill artifacts list": "`artifacts`",
	"waybill artifacts show": "`artifact`",
	"waybill artifacts get":  "`artifact_file`, with -o FILE",
	"waybill runs watch": "none: each line is an event, as it is stored or as a run event, or one of `run.annotated`, " +
		"`proposal.created` and `proposal.activated` around a notification",
	"waybill workflows new":    "`workflow_file`",
	"waybill workflows attach": "`sources`", "waybill workflows detach": "`sources`", "waybill workflows sources": "`sources`",
	"waybill schema":         "`schemas` for the list; else what is printed is the schema",
	"waybill mcp":            "none: it speaks the protocol, and each tool returns a document (docs/mcp.md)",
	"waybill trust":          "`trust`, or `trusted` for the list",
	"waybill workflows list": "`workflows`", "waybill workflows builtins": "`builtins`", "waybill workflows inspect": "`workflow`",
	"waybill workflows validate": "`validation`",
	"waybill workflows test":     "`workflow_test`, or `workflow_test_file` with --from-run",
	"waybill workflows compile":  "`compiled`", "waybill runs list": "`runs`", "waybill runs show": "`run`, or `run_snapshot` with --format openwop",
	"waybill runs events":   "`events`, or `run_events` with --format openwop",
	"waybill runs timeline": "`timeline`", "waybill verify": "`verification`", "waybill config get": "`config`",
	"waybill config confirm": "`config`", "waybill config set": "`config`",
	"waybill export": "`export`, or `debug_bundle` with --format openwop", "waybill import": "`import`", "waybill push": "`push`", "waybill pull": "`pull`", "waybill bundle show": "`bundle`",
	"waybill bundle verify": "`verification`",
	"waybill bundle diff":   "`bundle_diff`", "waybill sessions list": "`sessions`", "waybill sessions keep": "`kept`",
	"waybill sessions delete":  "`deleted`, or `trash_emptied` with --empty-trash",
	"waybill sessions restore": "`restored`", "waybill gc": "`gc`",
	"waybill du": "`du`", "waybill artifacts erase": "`erased`", "waybill audit list": "`audit`",
	"waybill audit show":       "`audit_entry`",
	"waybill audit verify":     "`audit_verification`",
	"waybill proposals create": "`proposal`, in the shape of RFC 0096", "waybill proposals revise": "`proposal`",
	"waybill proposals list":    "`proposals`",
	"waybill proposals get":     "`proposal`, or `proposal_history` with --history",
	"waybill proposals approve": "`proposal`", "waybill proposals apply": "`proposal`",
	"waybill proposals reject": "`proposal`", "waybill proposals archive": "`proposal`",
	"waybill proposals rollback":  "`proposal`",
	"waybill proposals installed": "`installed`", "waybill proposals events": "`proposal_events`",
	"waybill automations due": "`automations`", "waybill due": "`due`", "waybill work": "`work`", "waybill inbox": "`inbox`",
	"waybill capabilities": "`capabilities`, in the shape of OpenWOP",
	"waybill repair":       "`repair`", "waybill keys list": "`keys`", "waybill keys rotate": "`keys`",
	"waybill doctor": "`doctor`", "waybill store check": "`doctor`", "waybill store init": "`store_init`",
	"waybill runs take-back": "`taken_back`",
	"waybill guard install":  "`client_settings`", "waybill guard uninstall": "`client_settings`",
	"waybill mcp install": "`client_settings`", "waybill mcp uninstall": "`client_settings`",
	"waybill guard test": "`guard_test`",
	"waybill console":    "`console`, when it listens", "waybill serve keys add": "`serve_key`", "waybill serve keys list": "`serve_keys`",
	"waybill serve keys remove": "`serve_keys`",
	"waybill guard hook":        "none: it answers in the form of the client",
	"waybill completion":        "`completion`", "waybill version": "`version`", "waybill help": "none: help is text",
}

func TestEveryCommandHasAnswerKind(t *testing.T) {
	t.Parallel()
	walk(newRoot(&cli.App{}), func(cmd *cobra.Command) {
		if path := cmd.CommandPath(); !cmd.HasSubCommands() && answers[path] == "" {
			t.Errorf("%s: no kind of document in answers", path)
		}
	})
}

func TestErrorDocIsCurrent(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`# Errors

<!-- Generated from the table of codes by 'go test ./cmd/waybill -update'. Do not edit. -->

Every error has a code for programs, a sentence that says what and where, advice on whether to try again, and
a suggestion. The suggestion here is the general one; where the error knows a better one, it gives that.

Retry: *never* — the same call fails again; *at once* — the same call may succeed now; *in a second* — later.

| code | exit | retry | meaning | what to do |
| --- | --- | --- | --- | --- |
`)
	words := map[fault.RetryKind]string{fault.NotRetryable: "never", fault.RetryableImmediate: "at once",
		fault.RetryableAfterMs: "in a second"}
	for _, row := range fault.Table {
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s | %s |\n", row.Code, row.Exit, words[row.Retry.Kind],
			strings.ReplaceAll(row.Meaning, "|", `\|`), row.Suggestion)
	}
	current(t, "../../docs/errors.md", b.String())
}
