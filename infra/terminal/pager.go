package terminal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// ErrPagerQuit is the error of a Pager whose person has read enough: no further text is shown.
var ErrPagerQuit = errors.New("the pager was quit")

// Pager writes text to a terminal, through a pager program as soon as the text has more rows than the terminal. Where
// that program is not installed or cannot be started, the text goes to the terminal. The caller writes only text that is
// safe to print: the program gets it as it is.
type Pager struct {
	Out, Err *os.File         // the terminal
	Command  string           // of the program, with its flags
	Env      []string         // in the form of os.Environ
	Columns  func(string) int // columns of a line, without its colors

	text   bytes.Buffer // not shown yet
	direct bool         // text goes to Out
	quit   bool
	cmd    *exec.Cmd // nil: no program was started
	pipe   io.WriteCloser
	end    func() // restores what start has changed
}

// Write implements io.Writer. The error is ErrPagerQuit after the person has quit the program, else that of Out.
func (p *Pager) Write(text []byte) (int, error) {
	switch {
	case p.quit:
		return 0, ErrPagerQuit
	case p.direct:
		return p.Out.Write(text)
	case p.cmd != nil:
		return p.send(text)
	}
	p.text.Write(text)
	columns, rows := Size(p.Out)
	if rows > 0 && !p.exceeds(columns, rows-1) { // one row is for the prompt behind the text
		return len(text), nil
	}
	p.direct = rows == 0 || !p.start()
	err := p.flush()
	return len(text), err
}

// Close shows what is left, and returns when the person has quit the program. It may be called again.
func (p *Pager) Close() error {
	err := p.flush()
	if p.cmd == nil {
		return err
	}
	_ = p.pipe.Close()
	_ = p.cmd.Wait() // how the program ends is no error of the caller
	p.cmd, p.direct = nil, true
	p.end()
	return nil
}

// flush writes the text that is not shown yet.
func (p *Pager) flush() (err error) {
	if p.text.Len() == 0 {
		return nil
	}
	if p.cmd != nil {
		_, err = p.send(p.text.Bytes())
	} else {
		_, err = p.Out.Write(p.text.Bytes())
	}
	p.text = bytes.Buffer{}
	return err
}

// send writes to the program.
func (p *Pager) send(text []byte) (int, error) {
	if _, err := p.pipe.Write(text); err != nil {
		p.quit = true
		return 0, ErrPagerQuit
	}
	return len(text), nil
}

// exceeds reports that the text has more rows than fit.
func (p *Pager) exceeds(columns, rows int) bool {
	n := 0
	for line := range bytes.Lines(p.text.Bytes()) {
		width := len(line)
		if columns > 0 && width > columns { // a line has at most as many columns as bytes
			width = p.Columns(string(bytes.TrimSuffix(line, []byte("\n"))))
		}
		if n++; columns > 0 {
			n += max(width-1, 0) / columns
		}
		if n > rows {
			return true
		}
	}
	return false
}

// shellSigns are the characters for which a command is given to a shell, as git does.
const shellSigns = "|&;<>()$`\\\"'*?[#~=%\n"

// start starts the program. It reports false if that is not possible.
func (p *Pager) start() bool {
	words := strings.Fields(p.Command)
	program := ""
	for _, word := range words { // behind assignments of variables
		if program = strings.Trim(word, `"'`); !strings.Contains(word, "=") {
			break
		}
	}
	if _, err := exec.LookPath(program); err != nil || !isForeground(p.Out) {
		return false
	}
	p.cmd = exec.Command(words[0], words[1:]...)
	if strings.ContainsAny(p.Command, shellSigns) {
		p.cmd = exec.Command("/bin/sh", "-c", p.Command)
	}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = p.Out, p.Err, pagerEnv(p.Env)
	pipe, err := p.cmd.StdinPipe()
	restore := keepMode(p.Out)
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.cmd = nil
		return false
	}
	p.pipe = pipe
	stop := passSignals(p.cmd.Process)
	p.end = func() {
		restore()
		stop()
	}
	return true
}

// pagerEnv returns the environment of the program. It must not start others or write files for what a person types, and
// shows colors but no other control sequence, unless LESS says something else.
func pagerEnv(env []string) []string {
	out := append([]string{"LESS=FRX", "LV=-c"}, env...) // the last entry of a name counts
	return append(out, "LESSSECURE=1", "PAGERSECURE=1")
}

// killDelay is how long the program has for its end after a signal, in which it restores the terminal.
const killDelay = 2 * time.Second

// passSignals lets Ctrl-C be a key of the program, and ends the program when this process is to end: it ends by the same
// signal after stop, when the terminal is as it was.
func passSignals(to *os.Process) (stop func()) {
	signals := make(chan os.Signal, 1)
	ended := make(chan struct{})
	var last os.Signal
	seen := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer close(seen)
		for {
			select {
			case <-ended:
				return
			case s := <-signals:
				if s == os.Interrupt {
					continue
				}
				last = s
				_ = to.Signal(s)
				time.AfterFunc(killDelay, func() { _ = to.Kill() })
			}
		}
	}()
	return func() {
		close(ended)
		<-seen
		signal.Stop(signals)
		if last != nil {
			endBy(last)
		}
	}
}
