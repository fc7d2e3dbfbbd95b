package lock

import (
	"os"
	"sync"

	"github.com/waybill/waybill/infra/osfs"
)

// Memory keeps apart the holders within one process, for a tree that itself lies
// in memory. Every Locks of one Memory stands for a process of its own.
type Memory struct {
	mu    sync.Mutex
	users map[any]int // file identity: -1 exclusive, n shared
}

// NewMemory is an exclusion without holders.
func NewMemory() *Memory { return &Memory{users: map[any]int{}} }

// On gives the lock files of a tree.
func (m *Memory) On(fs osfs.FS) *Locks {
	return &Locks{fs: fs, keep: inMemory{m, fs}, pid: os.Getpid()}
}

type inMemory struct {
	m  *Memory
	fs osfs.FS
}

func (l inMemory) try(name string, exclusive bool) (grip, bool, error) {
	info, err := l.fs.Stat(name)
	if err != nil {
		return nil, false, err
	}
	// By identity, as the system does it: a file that was removed and made again is
	// another lock.
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	switch n := l.m.users[info.ID]; {
	case n != 0 && exclusive, n < 0:
		return nil, false, nil
	case exclusive:
		l.m.users[info.ID] = -1
	default:
		l.m.users[info.ID]++
	}
	return memoryGrip{l.m, info}, true, nil
}

type memoryGrip struct {
	m    *Memory
	info osfs.Info
}

func (g memoryGrip) of() (osfs.Info, error) { return g.info, nil }

func (g memoryGrip) release() error {
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	if g.m.users[g.info.ID] > 0 {
		g.m.users[g.info.ID]--
	} else {
		g.m.users[g.info.ID] = 0
	}
	return nil
}
