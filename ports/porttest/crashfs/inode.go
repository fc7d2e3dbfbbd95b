package crashfs

import "slices"

// inode is a file or a directory. It has three parts: the state that processes see (now, entries),
// the state that survives every power cut (disk, durable), and the versions in between, of which a
// power cut keeps any (sectors, sizes, names).
type inode struct {
	dir bool

	// Of a file: its content, visible and durable.
	now, disk []byte
	// Set while another inode may use the same array: it is copied before a change.
	sharedNow, sharedDisk bool
	sectors               map[int64]*sector // that differ, or may differ, from disk
	sizes                 []version[int64]  // since the last sync
	sizeDoubt             bool

	// Of a directory: its entries, visible and durable.
	entries, durable map[string]*inode
	names            map[string]*name // that changed since the last sync
}

// version is a value that was set by the change with number seq.
type version[T any] struct {
	seq   int
	value T
}

// sector and name hold every value since the last sync. doubt is set by a sync that failed: from
// then on a sync that succeeds does not make the value durable; a new change resets doubt.
type sector struct {
	versions []version[[]byte]
	doubt    bool
}

type name struct {
	versions []version[*inode] // nil: absent
	doubt    bool
}

// newDir returns an empty directory.
func newDir() *inode {
	return &inode{dir: true, entries: map[string]*inode{}, durable: map[string]*inode{}}
}

// newFile returns an empty file.
func newFile() *inode { return &inode{} }

// own copies now where another inode may use the same array. It is called before every change.
func (n *inode) own() {
	if n.sharedNow {
		n.now, n.sharedNow = slices.Clone(n.now), false
	}
}

// write changes the visible content at an offset. A gap before the offset reads as zeros.
func (n *inode) write(p []byte, at int64, seq int) {
	if len(p) == 0 {
		return
	}
	n.own() // the array may be shared with a copy of the disk or with a state
	end := at + int64(len(p))
	if int64(len(n.now)) < end {
		n.now = append(n.now, make([]byte, end-int64(len(n.now)))...)
		n.resized(seq)
	}
	copy(n.now[at:], p)
	n.touched(at, end, seq)
}

// truncate changes the visible size, in bytes; a larger size adds zeros.
func (n *inode) truncate(size int64, seq int) {
	if size == int64(len(n.now)) {
		return
	}
	n.own()
	// The rest of the last sector becomes zeros in memory, as the kernel does it: where a later
	// write makes the file longer and leaves a gap, the gap reads as zeros, not as the cut bytes.
	if size < int64(len(n.now)) {
		n.now = slices.Clone(n.now[:size])
		n.touched(size-1, size, seq)
	} else {
		n.now = append(n.now, make([]byte, size-int64(len(n.now)))...)
	}
	n.resized(seq)
}

// resized records a new size; a doubt about earlier sizes ends.
func (n *inode) resized(seq int) {
	n.sizes, n.sizeDoubt = append(n.sizes, version[int64]{seq, int64(len(n.now))}), false
}

// touched records a version of every sector between two offsets; a doubt about these sectors ends.
func (n *inode) touched(from, to int64, seq int) {
	for i := max(from, 0) / SectorBytes; i*SectorBytes < to; i++ {
		s := n.sectors[i]
		if s == nil {
			s = &sector{}
			if n.sectors == nil {
				n.sectors = map[int64]*sector{}
			}
			n.sectors[i] = s
		}
		s.versions, s.doubt = append(s.versions, version[[]byte]{seq, slices.Clone(part(n.now, i))}), false
	}
}

// part returns the i-th sector of a file: fewer than SectorBytes at its end, none behind it.
func part(b []byte, i int64) []byte {
	from := min(i*SectorBytes, int64(len(b)))
	return b[from:min(from+SectorBytes, int64(len(b)))]
}

// sync makes everything durable that is not in doubt. Values in doubt keep all their versions.
func (n *inode) sync() {
	if n.dir {
		// Entries whose sync failed keep their versions; all others become durable.
		for key, e := range n.names {
			if !e.doubt {
				set(n.durable, key, n.entries[key])
				delete(n.names, key)
			}
		}
		return
	}
	if len(n.sectors) == 0 && len(n.sizes) == 0 {
		return
	}
	if n.sharedDisk {
		n.disk, n.sharedDisk = slices.Clone(n.disk), false
	}
	// The size first: sectors behind a durable end no longer exist.
	if !n.sizeDoubt {
		if grown := len(n.now) - len(n.disk); grown > 0 {
			n.disk = append(n.disk, make([]byte, grown)...)
		}
		n.disk, n.sizes = n.disk[:len(n.now)], nil
	}
	// A sector in doubt keeps its durable content, so that all its versions stay possible.
	for i, s := range n.sectors {
		if !s.doubt {
			n.disk = overlay(n.disk, i, part(n.now, i))
			delete(n.sectors, i)
		}
	}
}

// failSync puts every unsynced value in doubt. Kernels mark the pages of a failed sync as clean, so
// that the next sync writes nothing and succeeds (docs/design.md#failed-sync).
func (n *inode) failSync() {
	for _, e := range n.names {
		e.doubt = true
	}
	for _, s := range n.sectors {
		s.doubt = true
	}
	n.sizeDoubt = len(n.sizes) > 0
}

// link sets an entry, or removes it (to is nil), and records the version.
func (n *inode) link(key string, to *inode, seq int) {
	set(n.entries, key, to)
	e := n.names[key]
	if e == nil {
		e = &name{}
		if n.names == nil {
			n.names = map[string]*name{}
		}
		n.names[key] = e
	}
	e.versions, e.doubt = append(e.versions, version[*inode]{seq, to}), false
}

// set sets an entry of a map, or removes it (to is nil).
func set(entries map[string]*inode, key string, to *inode) {
	if to == nil {
		delete(entries, key)
	} else {
		entries[key] = to
	}
}

// resize returns a copy of b with another size, in bytes; added bytes are zeros.
func resize(b []byte, size int) []byte {
	if size <= len(b) {
		return slices.Clone(b[:size])
	}
	return append(slices.Clone(b), make([]byte, size-len(b))...)
}

// overlay sets the i-th sector of b to content, filled up with zeros, without changing the size
// of b. A sector behind the end of b is dropped.
func overlay(b []byte, i int64, content []byte) []byte {
	from := i * SectorBytes
	if from >= int64(len(b)) {
		return b
	}
	to := min(from+SectorBytes, int64(len(b)))
	clear(b[from:to])
	copy(b[from:to], content)
	return b
}

// clone copies a tree with all versions in it. File contents are shared until one side changes them
// (see own). copied maps the inodes that were copied already: a file with several names stays one.
func (n *inode) clone(copied map[*inode]*inode) *inode {
	if n == nil {
		return nil
	}
	if c, ok := copied[n]; ok {
		return c
	}
	n.sharedNow, n.sharedDisk = true, true
	c := &inode{dir: n.dir, now: n.now, disk: n.disk, sharedNow: true, sharedDisk: true, sizes: slices.Clone(n.sizes),
		sizeDoubt: n.sizeDoubt}
	copied[n] = c // before the entries: a directory may be reachable by several paths
	if !n.dir {
		if len(n.sectors) > 0 {
			c.sectors = make(map[int64]*sector, len(n.sectors))
		}
		for i, s := range n.sectors {
			c.sectors[i] = &sector{slices.Clone(s.versions), s.doubt}
		}
		return c
	}
	c.entries, c.durable = make(map[string]*inode, len(n.entries)), make(map[string]*inode, len(n.durable))
	for key, e := range n.entries {
		c.entries[key] = e.clone(copied)
	}
	// A durable entry may lead to an inode that no visible entry leads to, such as a removed file.
	for key, e := range n.durable {
		c.durable[key] = e.clone(copied)
	}
	if len(n.names) > 0 {
		c.names = make(map[string]*name, len(n.names))
	}
	for key, e := range n.names {
		versions := make([]version[*inode], len(e.versions))
		for i, v := range e.versions {
			versions[i] = version[*inode]{v.seq, v.value.clone(copied)}
		}
		c.names[key] = &name{versions, e.doubt}
	}
	return c
}
