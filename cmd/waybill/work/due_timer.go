package work

import (
	"os"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/command"
)

// printTimer prints the units of a timer for the store and the directory of this call. Paths are
// absolute, since a scheduler has another directory and another environment.
func printTimer(a *cli.App) error {
	program, err := os.Executable()
	if err != nil {
		return fault.Wrap(err, fault.StoreIO, "the path of this program is not known: %v", err)
	}
	dir, _, err := a.Workspace()
	if err != nil {
		return err
	}
	store, err := a.StoreName()
	if err != nil {
		return err
	}
	argv := []string{program, "due", "--run", "--store", store}
	if a.Flags.Workspace != "" {
		argv = append(argv, "--workspace", a.Flags.Workspace)
	}
	if a.Flags.AllowNetworkFS {
		argv = append(argv, "--allow-network-fs")
	}
	for _, text := range append(argv, dir) {
		if strings.ContainsAny(text, "\n\r\x00") {
			return fault.New(fault.UsageError, "the path %q has a line break, which a timer cannot have", text).
				Suggest("Rename the directory, or call %s from a script.", fault.Command{"due", "--run"})
		}
	}
	text := timerText(argv, dir)
	return a.Answer("due", document.Due{Items: []document.DueItem{}, Unreadable: []views.Unreadable{}, Timer: text},
		func(p *page.Page) { p.Print(text) })
}

// timerText is a service and a timer of systemd, and a crontab line as a comment.
func timerText(argv []string, dir string) string {
	unit, cron := make([]string, len(argv)), make([]string, len(argv))
	for i, word := range argv {
		unit[i], cron[i] = unitWord(word), command.Word(word)
	}
	// In a crontab a percent sign is a line break.
	line := strings.ReplaceAll("cd "+command.Word(dir)+" && "+strings.Join(cron, " "), "%", `\%`)
	return `# ~/.config/systemd/user/waybill-due.service
[Unit]
Description=Continue Waybill runs whose wait is over

[Service]
Type=oneshot
WorkingDirectory=` + strings.ReplaceAll(dir, "%", "%%") + `
ExecStart=` + strings.Join(unit, " ") + `

# ~/.config/systemd/user/waybill-due.timer
[Unit]
Description=Continue Waybill runs whose wait is over, every minute

[Timer]
OnCalendar=minutely
AccuracySec=5s
Persistent=true

[Install]
WantedBy=timers.target

# Write the two files, then: systemctl --user enable --now waybill-due.timer
# Instead of a timer, a line of a crontab (crontab -e):
# * * * * * ` + line + `
`
}

// unitWord writes an argument of ExecStart: in quotation marks, since a path may have blanks, and with
// the characters doubled that systemd would expand.
func unitWord(word string) string {
	if plainWord(word) {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(word) + `"`
}

// plainWord reports a word that systemd reads as it is.
func plainWord(word string) bool {
	return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@") == ""
}
