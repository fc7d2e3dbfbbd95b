//go:build linux || darwin

package osfs

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// starts are the directories in which ReadStart reads many files. They are kept open, so that the system looks up one name
// for a file, while a caller of KeepDirs wants that.
type starts struct {
	mu     sync.RWMutex
	wanted int // callers
	open   [startsMax]startDir
	// seen are the directories of the latest files that were opened from the root. At its second file a directory is kept
	// open: a list reads one file of each session.
	seen               [startsMax]string
	nextOpen, nextSeen int // which to replace
}

// startsMax is the number of directories that are kept open: the segments of a session and its snapshots, of two readers.
const startsMax = 4

// startDir is an open directory, with name "" none.
type startDir struct {
	name string
	fd   int
}

// readStart implements the interface of ReadStart.
func (d *Dir) readStart(name string, b []byte) (int, bool) {
	fd, err := d.openStart(name)
	if err != nil {
		return 0, false
	}
	n, _ := unix.Pread(fd, b, 0) // -1 after an error
	_ = unix.Close(fd)
	return max(n, 0), n > 0
}

// openStart opens a file for readStart.
func (d *Dir) openStart(name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_NONBLOCK
	at := strings.LastIndexByte(name, '/')
	if at <= 0 {
		return d.open(name, flags)
	}
	dir, base := name[:at], name[at+1:]
	s := &d.starts
	s.mu.RLock()
	for i := range s.open {
		if s.open[i].name == dir { // base is one name: of a file, or of a directory, which cannot be read
			defer s.mu.RUnlock()
			return unix.Openat(s.open[i].fd, base, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		}
	}
	s.mu.RUnlock()
	fd, err := d.open(name, flags)
	if err == nil {
		d.keepOpen(dir)
	}
	return fd, err
}

// keepOpen opens a directory for openStart, if a file of it was opened before.
func (d *Dir) keepOpen(dir string) {
	s := &d.starts
	s.mu.Lock()
	defer s.mu.Unlock()
	isDir := func(o startDir) bool { return o.name == dir }
	if s.wanted == 0 || slices.ContainsFunc(s.open[:], isDir) { // opened by another goroutine
		return
	}
	if !slices.Contains(s.seen[:], dir) {
		s.seen[s.nextSeen] = dir
		s.nextSeen = (s.nextSeen + 1) % startsMax
		return
	}
	if fd, err := d.open(dir, unix.O_RDONLY|unix.O_DIRECTORY); err == nil {
		s.open[s.nextOpen].close()
		s.open[s.nextOpen] = startDir{dir, fd}
		s.nextOpen = (s.nextOpen + 1) % startsMax
	}
}

// keepDirs implements the interface of KeepDirs.
func (d *Dir) keepDirs() (done func()) {
	s := &d.starts
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted++
	return func() {
		s.mu.Lock()
		s.wanted--
		last := s.wanted == 0
		s.mu.Unlock()
		if last {
			s.close()
		}
	}
}

// close closes all directories.
func (s *starts) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.open {
		s.open[i].close()
	}
	s.open, s.seen = [startsMax]startDir{}, [startsMax]string{}
}

func (o startDir) close() {
	if o.name != "" {
		_ = unix.Close(o.fd)
	}
}
