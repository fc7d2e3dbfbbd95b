package crashfs

import "slices"

// inode is a file or a directory: what processes see, what the disk holds for certain, and what a
// power cut decides.
type inode struct {
	dir bool

	now, disk []byte
	// Set while another inode may have the same array: it is copied before a change.
	sharedNow, sharedDisk bool
	sectors               map[int64]*sector // that differ, or may differ, from disk
	sizes                 []version[int64]  // since the last sync
	sizeDoubt             bool

	entries, durable map[string]*inode
	names            map[string]*name // that changed since the last sync
}

// version is a value from a change on.
type version[T any] struct {
	seq int
	is  T
}

// sector and name hold every value since the last sync. In doubt are those that a sync failed for:
// another sync settles nothing, another change does.
type sector struct {
	versions []version[[]byte]
	doubt    bool
}

type name struct {
	versions []version[*inode] // nil: absent
	doubt    bool
}

func newDir() *inode {
	return &inode{dir: true, entries: map[string]*inode{}, durable: map[string]*inode{}}
}

func newFile() *inode { return &inode{} }

// own makes now an array that no other inode has, before a change to it.
func (n *inode) own() {
	if n.sharedNow {
		n.now, n.sharedNow = slices.Clone(n.now), false
	}
}

// write puts p at an offset of the file as it is seen.
func (n *inode) write(p []byte, at int64, seq int) {
	if len(p) == 0 {
		return
	}
	n.own()
	end := at + int64(len(p))
	if int64(len(n.now)) < end {
		n.now = append(n.now, make([]byte, end-int64(len(n.now)))...)
		n.resized(seq)
	}
	copy(n.now[at:], p)
	n.touched(at, end, seq)
}

func (n *inode) truncate(size int64, seq int) {
	if size == int64(len(n.now)) {
		return
	}
	n.own()
	// A shorter file zeroes the rest of its last sector in memory: what a later and
	// longer write leaves out reads as zeros, not as what was cut.
	if size < int64(len(n.now)) {
		n.now = slices.Clone(n.now[:size])
		n.touched(size-1, size, seq) // the rest of its last sector becomes zeros
	} else {
		n.now = append(n.now, make([]byte, size-int64(len(n.now)))...)
	}
	n.resized(seq)
}

func (n *inode) resized(seq int) {
	n.sizes, n.sizeDoubt = append(n.sizes, version[int64]{seq, int64(len(n.now))}), false
}

// touched records the sectors between two offsets as they are now.
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

// part is the i-th sector of a file, as much as there is of it.
func part(b []byte, i int64) []byte {
	from := min(i*SectorBytes, int64(len(b)))
	return b[from:min(from+SectorBytes, int64(len(b)))]
}

// sync settles everything that is not in doubt. What is in doubt keeps all its versions.
func (n *inode) sync() {
	if n.dir {
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
	// Sectors beyond a size that is settled are gone, whatever they held.
	if !n.sizeDoubt {
		if grown := len(n.now) - len(n.disk); grown > 0 {
			n.disk = append(n.disk, make([]byte, grown)...)
		}
		n.disk, n.sizes = n.disk[:len(n.now)], nil
	}
	for i, s := range n.sectors {
		if !s.doubt {
			n.disk = overlay(n.disk, i, part(n.now, i))
			delete(n.sectors, i)
		}
	}
}

// failSync is a sync that failed: the system takes the pages for clean now.
func (n *inode) failSync() {
	for _, e := range n.names {
		e.doubt = true
	}
	for _, s := range n.sectors {
		s.doubt = true
	}
	n.sizeDoubt = len(n.sizes) > 0
}

// link sets or, with nil, removes an entry.
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

func set(entries map[string]*inode, key string, to *inode) {
	if to == nil {
		delete(entries, key)
	} else {
		entries[key] = to
	}
}

func resize(b []byte, size int) []byte {
	if size <= len(b) {
		return slices.Clone(b[:size])
	}
	return append(slices.Clone(b), make([]byte, size-len(b))...)
}

// overlay puts sector content at its place, within the size that b has.
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

// clone copies a tree with all that is unsettled in it; copied keeps files that
// have several names one file.
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
	copied[n] = c
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
	for key, e := range n.durable {
		c.durable[key] = e.clone(copied)
	}
	if len(n.names) > 0 {
		c.names = make(map[string]*name, len(n.names))
	}
	for key, e := range n.names {
		versions := make([]version[*inode], len(e.versions))
		for i, v := range e.versions {
			versions[i] = version[*inode]{v.seq, v.is.clone(copied)}
		}
		c.names[key] = &name{versions, e.doubt}
	}
	return c
}
