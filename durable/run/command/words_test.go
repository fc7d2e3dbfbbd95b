package command_test

import (
	"testing"

	"github.com/waybill/waybill/durable/run/command"
)

func TestLine(t *testing.T) {
	for want, argv := range map[string][]string{
		"git log -1":                    {"git", "log", "-1"},
		"sh -c 'echo a b'":              {"sh", "-c", "echo a b"},
		`echo 'it'\''s'`:                {"echo", "it's"},
		"run ''":                        {"run", ""},
		`echo "\x1b[2Jgone"`:            {"echo", "\x1b[2Jgone"},
		"rm -- '$HOME'":                 {"rm", "--", "$HOME"},
		"cp './päckchen' a_b@c%d+e=f,g": {"cp", "./päckchen", "a_b@c%d+e=f,g"},
	} {
		if got := command.Line(argv); got != want {
			t.Errorf("%q: got %s, want %s", argv, got, want)
		}
	}
}
