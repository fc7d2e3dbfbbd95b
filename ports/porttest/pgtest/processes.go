//go:build unix

package pgtest

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processes are the server's processes, the first one in front. Where there is no /proc it is the only one, and the others end when they
// notice its end.
func (s *Server) processes() []int {
	first := s.cmd.Process.Pid
	out := []int{first}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		if state, parent := statOf(path); parent == first && state != "Z" {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			out = append(out, pid)
		}
	}
	return out
}

// statOf reads the state of a process and its parent: they are behind its name, which ends with the last bracket.
func statOf(path string) (state string, parent int) {
	b, _ := os.ReadFile(path)
	_, rest, _ := strings.Cut(string(b[strings.LastIndex(string(b), ")")+1:]), " ")
	if parts := strings.Fields(rest); len(parts) > 1 {
		state = parts[0]
		parent, _ = strconv.Atoi(parts[1])
	}
	return state, parent
}

// signalAll sends a signal to all processes of the server, and returns them. The first one is stopped before, so that it starts no more.
func (s *Server) signalAll(sig syscall.Signal) []int {
	_ = s.Signal(syscall.SIGSTOP)
	all := s.processes()
	for _, pid := range all {
		_ = syscall.Kill(pid, sig)
	}
	return all
}

// Kill ends all processes of the server at once, with SIGKILL, and returns when they are gone. One that does not run is left as it is.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	all := s.signalAll(syscall.SIGKILL)
	s.release()
	<-s.ended
	s.cmd = nil
	// Those that are left have the memory of the server, which keeps the next one from starting.
	for _, pid := range all[1:] {
		for {
			state, _ := statOf("/proc/" + strconv.Itoa(pid) + "/stat")
			if state == "" || state == "Z" {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// Freeze stops all processes of the server with SIGSTOP, until Thaw or Kill. They are killed if this process ends before: a stopped
// process does not notice it.
func (s *Server) Freeze() error {
	args := []string{"-c", `read _ || kill -KILL "$@"`, "sh"}
	for _, pid := range s.signalAll(syscall.SIGSTOP) {
		args = append(args, strconv.Itoa(pid))
	}
	guard := exec.Command("sh", args...)
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := guard.StdinPipe()
	if err == nil {
		err = guard.Start()
	}
	s.release = func() {
		s.release = func() {}
		_, _ = io.WriteString(in, "\n")
		_ = guard.Wait()
	}
	return err
}

// Thaw continues a frozen server.
func (s *Server) Thaw() {
	s.release()
	for _, pid := range s.processes() {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}
