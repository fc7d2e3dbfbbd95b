package ports

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/command"
)

// Commands runs the commands of steps (docs/design.md#commands-and-trust). Whether a command may
// run is decided by the caller.
type Commands interface {
	// Try runs a command once and waits for its end, without a shell and with no other input than
	// Command.Input. A missing program, a signal and a timeout are outcomes, not errors. An error means that ctx ended
	// first: the command and its process group were killed, and what it had done is unknown; or it
	// is ErrOutside, and nothing ran. When
	// Try returns, and also when this process is killed, no process of the command's process group
	// remains; a process that left the group does.
	Try(ctx context.Context, c Command) (CommandOutcome, error)
}

// ErrOutside reports a folder that must be below the project's root and is not. Nothing ran.
var ErrOutside = errors.New("the folder is not below the project's root")

// Command is one try of an action.
type Command struct {
	Argv []string
	Cwd  string // relative to the working directory of the performer; "" is that directory
	// Below requires that Cwd, links resolved, is below the root of the project: a value chose it.
	// Try returns ErrOutside otherwise.
	Below bool
	// AtRoot has Cwd counted from the root of the project, wherever in it the performer was started.
	AtRoot bool
	Env    map[string]string // added to the environment of the performer
	// Environ replaces the environment of the performer, nil: it does not.
	Environ map[string]string
	// Program is the absolute path of the program, "": Argv[0] is looked up.
	Program   string
	TimeoutMs int64 // 0: none
	// Folder names the private folder of the command, "" for none. It contains the file that
	// WAYBILL_CONTEXT names, with Context, and the empty one that WAYBILL_OUTPUT names. It exists
	// during the try; one that a killed performer left is removed by a later try.
	Folder  string
	Context []byte
	// Input is what standard input has; without it that is the null device. A command need not read it.
	Input []byte
	// Whole requests all of stdout, up to this number of bytes; 0 requests none.
	Whole int
}

// CommandOutcome is the result of a try. Output is stdout and stderr in the order in which the
// performer received them. All heads and tails are valid UTF-8.
type CommandOutcome struct {
	ExitStatus   int64            // -1 if the command did not start or was killed
	Failure      string           // why it did not exit by itself, as one clause; else ""
	Fix          fault.Suggestion // what to do about Failure, in one sentence, if known
	DurationMs   int64
	OutputBytes  int64
	OutputDigest canon.Digest
	OutputHead   string // the first limits.StreamHeadBytesMax bytes of output
	OutputTail   string // the last limits.StreamTailBytesMax bytes of the rest; "" if OutputHead has all
	Stdout       command.Stream
	Stderr       command.Stream
	// Whole is stdout as it was written, if Command.Whole is set and it is not longer.
	Whole []byte
	// Written is the content of the file that WAYBILL_OUTPUT names, at most
	// limits.CommandOutputBytesMax bytes. Unread says why it was not read, as a clause without a
	// subject; "" if it was.
	Written []byte
	Unread  string
}

// OK reports that the command exited with status 0.
func (o CommandOutcome) OK() bool { return o.ExitStatus == 0 && o.Failure == "" }
