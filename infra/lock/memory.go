package lock

import (
	"os"
	"sync"

	"github.com/waybill/waybill/infra/osfs"
)

// Memory excludes the holders within one process, for trees in memory. Each Locks of one Memory
// acts as a separate process.
type Memory struct {
	mu    sync.Mutex
	users map[any]int // file identity: -1 exclusive, n shared
}

// NewMemory returns an exclusion without holders.
func NewMemory() *Memory { return &Memory{users: map[any]int{}} }

// On returns the locks of a tree.
func (m *Memory) On(fs osfs.FS) *Locks {
	return &Locks{fs: fs, exclusion: memoryExclusion{m, fs}, pid: os.Getpid()}
}

// memoryExclusion implements exclusion with the counters of m.
type memoryExclusion struct {
	m  *Memory
	fs osfs.FS
}

func (l memoryExclusion) try(name string, exclusive bool) (lockedFile, bool, error) {
	info, err := l.fs.Stat(name)
	if err != nil {
		return nil, false, err
	}
	// By identity, like the operating system: a file that was removed and created again is another
	// lock.
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
	return memoryLock{l.m, info}, true, nil
}

// memoryLock implements lockedFile.
type memoryLock struct {
	m    *Memory
	info osfs.Info
}

func (g memoryLock) fileInfo() (osfs.Info, error) { return g.info, nil }

func (g memoryLock) release() error {
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	g.m.users[g.info.ID] = max(g.m.users[g.info.ID]-1, 0) // 0 after an exclusive holder
	return nil
}
