package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
)

// Commands runs the commands of steps (R24). Whether one may run at all is
// decided before.
type Commands interface {
	// Try runs a command once, to its end, without a shell and without input. What
	// becomes of it is the outcome: a program that is not there, a signal and a
	// timeout are failures, not errors. An error says that ctx ended first: the
	// command and its process group are dead then, and what it had done is not
	// known. However Try returns, and also when this process is killed, nothing of
	// the command's process group goes on; a process that left the group does.
	Try(ctx context.Context, c Command) (CommandOutcome, error)
}

// Command is one try of an action.
type Command struct {
	Argv      []string
	Cwd       string            // relative to where the performer was started; "" is there
	Env       map[string]string // added to the performer's own environment
	TimeoutMs int64             // 0: none
}

// CommandOutcome is how a try ended. Output is stdout and stderr as they came.
type CommandOutcome struct {
	ExitStatus   int64  // -1 when it did not start or did not exit by itself
	Failure      string // what kept it from exiting by itself, in one clause; else ""
	Fix          string // what to do about Failure, in one sentence, where that is known
	DurationMs   int64
	OutputBytes  int64
	OutputDigest canon.Digest
	OutputHead   string // at most command.OutputHeadBytesMax bytes of output, made valid UTF-8
	OutputTail   string // at most command.OutputTailBytesMax more, from the end; "" when head holds all
}

// OK reports that the command exited with status 0.
func (o CommandOutcome) OK() bool { return o.ExitStatus == 0 && o.Failure == "" }
