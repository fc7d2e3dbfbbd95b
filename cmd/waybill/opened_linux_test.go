package main

import (
	"bytes"
	numbers "encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// opens are the files of one directory that processes open.
type opens struct {
	t  *testing.T
	fd int
}

// watchOpens watches a directory.
func watchOpens(t *testing.T, dir string) opens {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err == nil {
		t.Cleanup(func() { _ = syscall.Close(fd) })
		_, err = syscall.InotifyAddWatch(fd, dir, syscall.IN_OPEN)
	}
	if err != nil {
		t.Skip("files that are opened cannot be counted: ", err)
	}
	return opens{t, fd}
}

// take returns how often each file was opened since the last call.
func (o opens) take() map[string]int {
	o.t.Helper()
	out := map[string]int{}
	buf := make([]byte, 1<<16)
	for {
		n, err := syscall.Read(o.fd, buf)
		if err == syscall.EAGAIN {
			return out
		}
		if err != nil {
			o.t.Fatal(err)
		}
		for rest := buf[:n]; len(rest) >= syscall.SizeofInotifyEvent; {
			mask, length := numbers.NativeEndian.Uint32(rest[4:]), numbers.NativeEndian.Uint32(rest[12:])
			name := bytes.TrimRight(rest[syscall.SizeofInotifyEvent:syscall.SizeofInotifyEvent+length], "\x00")
			if mask&syscall.IN_Q_OVERFLOW != 0 {
				o.t.Fatal("too many files are opened")
			}
			if mask&syscall.IN_ISDIR == 0 {
				out[string(name)]++
			}
			rest = rest[syscall.SizeofInotifyEvent+length:]
		}
	}
}

// TestOneFileIsOpened: a command that names a workflow file opens no other beside it, neither 100 small ones nor ones of
// 2,000 steps. A list opens all of them, so that the count counts.
func TestOneFileIsOpened(t *testing.T) {
	t.Parallel()
	workflow := func(id string, steps int) string {
		var all []string
		for i := range steps {
			all = append(all, fmt.Sprintf(`{"id":"s%d","title":"T","prompt":"p"}`, i))
		}
		return fmt.Sprintf(`{"id":"team.%s","name":"N","description":"d","version":"1.0.0","steps":[%s]}`, id, strings.Join(all, ","))
	}
	for beside, write := range map[string]func(p program, at string){
		"alone": func(program, string) {},
		"beside 100 files": func(p program, at string) {
			for i := range 100 {
				p.writeFile(filepath.Join(at, fmt.Sprintf("w%d.json", i)), workflow(fmt.Sprintf("w%d", i), 1))
			}
		},
		"beside files of 2,000 steps": func(p program, at string) {
			for i := range 3 {
				p.writeFile(filepath.Join(at, fmt.Sprintf("w%d.json", i)), workflow(fmt.Sprintf("w%d", i), 2000))
			}
		},
	} {
		for _, at := range []string{"flows", filepath.Join(".waybill", "workflows")} {
			p := program{t: t, dir: t.TempDir(), store: t.TempDir() + "/store"}
			if err := os.MkdirAll(filepath.Join(p.dir, at), 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(at, "main.json")
			p.writeFile(file, workflow("main", 1))
			write(p, at)
			seen := watchOpens(t, filepath.Join(p.dir, at))
			for _, call := range [][]string{{"start", file}, {"run", file}, {"workflows", "validate", file}} {
				out, _ := p.command(call...).CombinedOutput()
				if got := seen.take(); len(got) != 1 || got["main.json"] == 0 {
					t.Errorf("%s, in %s, %v opens %v\n%s", beside, at, call, slices.Sorted(maps.Keys(got)), out)
				}
			}
			files, _ := filepath.Glob(filepath.Join(p.dir, at, "*.json"))
			if at == "flows" {
				continue
			}
			if _, err := p.command("workflows", "list").CombinedOutput(); err != nil || len(seen.take()) != len(files) {
				t.Errorf("%s: a list does not open all of %d files: %v", beside, len(files), err)
			}
		}
	}
}
