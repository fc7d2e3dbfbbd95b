package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// Commands runs the commands of steps (docs/design.md#commands-and-trust). Whether a command may
// run is decided by the caller.
type Commands interface {
	// Try runs a command once and waits for its end, without a shell and without input. A missing
	// program, a signal and a timeout are outcomes, not errors. An error means that ctx ended
	// first: the command and its process group were killed, and what it had done is unknown. When
	// Try returns, and also when this process is killed, no process of the command's process group
	// remains; a process that left the group does.
	Try(ctx context.Context, c Command) (CommandOutcome, error)
}

// Command is one try of an action.
type Command struct {
	Argv      []string
	Cwd       string            // relative to the working directory of the performer; "" is that directory
	Env       map[string]string // added to the environment of the performer
	TimeoutMs int64             // 0: none
}

// CommandOutcome is the result of a try. Output is stdout and stderr in the order of their arrival.
type CommandOutcome struct {
	ExitStatus   int64            // -1 if the command did not start or was killed
	Failure      string           // why it did not exit by itself, as one clause; else ""
	Fix          fault.Suggestion // what to do about Failure, in one sentence, if known
	DurationMs   int64
	OutputBytes  int64
	OutputDigest canon.Digest
	OutputHead   string // the first command.OutputHeadBytesMax bytes of output, made valid UTF-8
	OutputTail   string // the last command.OutputTailBytesMax bytes of the rest; "" if OutputHead has all
}

// OK reports that the command exited with status 0.
func (o CommandOutcome) OK() bool { return o.ExitStatus == 0 && o.Failure == "" }
