package runs

import (
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
)

// hookText is a hook of git in the language of POSIX shells, with COMMAND for the command that prints the trailer. Each way
// through it ends with status 0. The exit status of git's interpret-trailers does not count either: it replaces the message
// in one step or leaves it.
const hookText = `#!/bin/sh
# Adds a trailer to the message of a commit: the Waybill run that is open in this repository, and the
# head of its log. 'waybill who COMMIT' shows the run, its step and the decisions about it.
#
# This is a prepare-commit-msg hook. Installed as commit-msg too, it also serves messages that are
# written in an editor. It never stops a commit: if anything fails, the message stays as it is.

message=$1
dir=$(git rev-parse --git-dir 2>/dev/null) || exit 0

# Commits that a rebase copies were not made in this run.
if [ -d "$dir/rebase-merge" ] || [ -d "$dir/rebase-apply" ]; then exit 0; fi

# A message without text stays empty, so that git still abandons the commit.
sed '/ >8 ------------------------$/,$d' "$message" 2>/dev/null | git stripspace --strip-comments 2>/dev/null |
  grep -q . || exit 0

line=$(COMMAND </dev/null 2>/dev/null) || exit 0
case $line in
'Waybill-Run: run_'*) ;;
*) exit 0 ;;
esac

# An amended commit gets the new head of the same run, and keeps the trailers of others.
how=addIfDifferent
last=$(git interpret-trailers --parse --no-divider "$message" 2>/dev/null | grep '^Waybill-Run: ' | tail -n 1)
case $last in
"${line% *} "*) how=replace ;;
esac

# Without a line feed at the end, older versions of git put the trailer into the last paragraph.
[ -z "$(tail -c 1 "$message")" ] || echo >>"$message"

git -c trailer.separators=: interpret-trailers --in-place --no-divider --where end --if-exists "$how" \
  --if-missing add --trailer "$line" "$message" >/dev/null 2>&1
exit 0
`

// printHook prints the hook, with the flags that select the store of this call. Its directory is absolute, since git runs
// hooks in another one.
func printHook(a *cli.App) error {
	flags := a.Flags
	if flags.Store != "" {
		dir, err := a.StoreName()
		if err != nil {
			return err
		}
		flags.Store = dir
	}
	line := flags.Command("trailer")
	if strings.ContainsAny(line, "\n\r\x00") {
		return fault.New(fault.UsageError, "the path %q has a line break, which a hook cannot have", flags.Store).
			Suggest("Rename the directory of the store.")
	}
	text := strings.Replace(hookText, "COMMAND", line, 1)
	return a.Answer("trailer", document.Trailer{Hook: text}, func(p *page.Page) { p.Print(text) })
}
