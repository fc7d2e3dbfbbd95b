package ports

import "context"

// Notification is one start of the command of notifications (docs/design.md#notifications).
type Notification struct {
	Argv []string
	// Dir is the working directory of the command: an absolute path.
	Dir string
	// Env is added to the environment of this process.
	Env map[string]string
	// Document is the standard input of the command.
	Document []byte
}

// Notifier starts commands of notifications. It decides neither whether one may run nor what its document says.
// It is safe for concurrent use.
type Notifier interface {
	// Notify starts a command and does not wait for its end. The command and its process group end after
	// the time limit of the notifier, also when this process ended before. Nothing is repeated. While too
	// many commands run, it waits for the end of one until ctx ends, and then starts this one all the same.
	//
	// report is called once, by another goroutine, with the outcome; a command that did not start has one
	// too. It is not called for a command that is left to itself.
	Notify(ctx context.Context, n Notification, report func(CommandOutcome))
	// Wait returns when all commands have ended and their reports were made, or a short time after the call:
	// commands that still run then are left to themselves. No Notify may follow.
	Wait()
}
