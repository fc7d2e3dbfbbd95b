package notifier

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/waybill/waybill/infra/process"
	"github.com/waybill/waybill/ports"
)

// jobBytesMax bounds a job: an argv and a document of a few kilobytes.
const jobBytesMax = 1 << 20

// Keep is the body of a keeper: it reads a job, runs the command until it ends or the time limit is over,
// and writes the outcome, for a caller that may have ended. It returns the exit status. What it starts is what
// its caller says; it gives no right that the caller does not have.
func Keep(in io.Reader, out io.Writer, env []string) int {
	// The end of a terminal or of the process that reads the outcome does not end the command. The signals
	// are caught and not ignored, which the command would inherit.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGHUP, syscall.SIGPIPE)
	var j job
	if err := json.NewDecoder(io.LimitReader(in, jobBytesMax)).Decode(&j); err != nil {
		return 2
	}
	runner := &process.Runner{Dir: j.Dir, Env: env, Grace: graceMax}
	defer runner.Close()
	limit := max(j.LimitMs, 1) // 0 would be none
	outcome, err := runner.Try(context.Background(), ports.Command{Argv: j.Argv, Env: j.Env, TimeoutMs: limit,
		Input: []byte(j.Document)})
	if err != nil {
		outcome = ports.CommandOutcome{ExitStatus: -1, Failure: err.Error()}
	}
	report := struct {
		ExitStatus  int64
		Failure     string
		DurationMs  int64
		OutputBytes int64
		OutputTail  string
	}{outcome.ExitStatus, outcome.Failure, outcome.DurationMs, outcome.OutputBytes, tail(outcome)}
	if json.NewEncoder(out).Encode(report) != nil {
		return 1
	}
	return 0
}

// tailBytesMax bounds what is reported of the output.
const tailBytesMax = 512

// tail is the end of the output.
func tail(o ports.CommandOutcome) string {
	text := o.OutputHead + o.OutputTail
	if cut := len(text) - tailBytesMax; cut > 0 {
		text = "…" + string([]rune(text[cut:]))
	}
	return text
}
