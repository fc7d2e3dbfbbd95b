package crashfs

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// Revive is what the next process finds after this one ended without a power cut:
// all that was written, settled or not.
func (f *FS) Revive() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &FS{root: f.root.clone(map[*inode]*inode{}), seq: f.seq, Vol: f.Vol}
}

// State is one thing that a power cut can leave.
type State struct {
	Name string // which choice was taken, for messages
	FS   *FS
}

// choice is one thing that a power cut decides. Option 0 is what the disk holds,
// the last what processes saw; seqs tell when each came to be.
type choice struct {
	what string
	of   *inode
	key  string // of an entry
	i    int64  // of a sector
	seqs []int

	targets  []*inode
	sizes    []int64
	contents [][]byte
}

// Crashes enumerates what a power cut can leave of the disk as it is now: all of
// it while that is at most limit, else everything lost, everything kept, every
// prefix in time, every single choice and (for a limit from 100 on) every pair
// against both, and limit further combinations that are the same in every run. The same tree comes once.
func (f *FS) Crashes(limit int, yield func(State) bool) {
	f.mu.Lock()
	frozen := &FS{root: f.root.clone(map[*inode]*inode{}), Vol: f.Vol}
	f.mu.Unlock()
	choices := collect(frozen.root)
	// Different choices often leave the same tree, as when a lost entry hides what is
	// in its file: each tree is worth one look.
	seen := map[[sha256.Size]byte]bool{}
	tried := map[string]bool{}
	for vector := range vectors(choices, limit) {
		if key := fmt.Sprint(vector); tried[key] {
			continue
		} else {
			tried[key] = true
		}
		after := materialize(frozen, choices, vector)
		print := after.Print()
		if seen[print] {
			continue
		}
		seen[print] = true
		if !yield(State{describe(choices, vector), after}) {
			return
		}
	}
}

// collect lists the choices below a directory, through every entry that may count.
func collect(root *inode) (out []choice) {
	visited := map[*inode]bool{}
	var walk func(path string, n *inode)
	walk = func(path string, n *inode) {
		if n == nil || visited[n] {
			return
		}
		visited[n] = true
		if !n.dir {
			out = append(out, fileChoices(path, n)...)
			return
		}
		keys := map[string]bool{}
		for key := range n.durable {
			keys[key] = true
		}
		for key := range n.names {
			keys[key] = true
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			below := path + "/" + key
			c := choice{what: "entry " + below, of: n, key: key, seqs: []int{0}, targets: []*inode{n.durable[key]}}
			if e := n.names[key]; e != nil {
				for _, v := range e.versions {
					if !slices.Contains(c.targets, v.is) || v.is != c.targets[len(c.targets)-1] {
						c.targets, c.seqs = append(c.targets, v.is), append(c.seqs, v.seq)
					}
				}
			}
			if len(c.targets) > 1 {
				out = append(out, c)
			}
			for _, target := range c.targets {
				walk(below, target)
			}
		}
	}
	walk("", root)
	return out
}

// fileChoices are the sizes and sector contents that a file may come back with.
func fileChoices(path string, n *inode) (out []choice) {
	size := choice{what: "size of " + path, of: n, seqs: []int{0}, sizes: []int64{int64(len(n.disk))}}
	for _, v := range n.sizes {
		if v.is != size.sizes[len(size.sizes)-1] {
			size.sizes, size.seqs = append(size.sizes, v.is), append(size.seqs, v.seq)
		}
	}
	if len(size.sizes) > 1 {
		out = append(out, size)
	}
	for _, i := range slices.Sorted(maps.Keys(n.sectors)) {
		c := choice{what: fmt.Sprintf("sector %d of %s", i, path), of: n, i: i, seqs: []int{0},
			contents: [][]byte{part(n.disk, i)}}
		for _, v := range n.sectors[i].versions {
			if !bytes.Equal(v.is, c.contents[len(c.contents)-1]) {
				c.contents, c.seqs = append(c.contents, v.is), append(c.seqs, v.seq)
			}
		}
		if len(c.contents) > 1 {
			out = append(out, c)
		}
	}
	return out
}

// materialize builds the disk that a vector of choices leaves; all of it is settled.
func materialize(f *FS, choices []choice, vector []int) *FS {
	byNode := map[*inode][]int{}
	for i, c := range choices {
		byNode[c.of] = append(byNode[c.of], i)
	}
	// A file with two names is built once, as on a disk.
	built := map[*inode]*inode{}
	var build func(*inode) *inode
	build = func(n *inode) *inode {
		if b, ok := built[n]; ok {
			return b
		}
		b := newFile()
		if n.dir {
			b = newDir()
		}
		built[n] = b
		if n.dir {
			entries := maps.Clone(n.durable)
			for _, i := range byNode[n] {
				set(entries, choices[i].key, choices[i].targets[vector[i]])
			}
			for key, target := range entries {
				made := build(target)
				b.entries[key], b.durable[key] = made, made
			}
			return b
		}
		// Size first: sectors beyond the end that was chosen are not there.
		content := slices.Clone(n.disk)
		for _, i := range byNode[n] {
			if c := choices[i]; c.sizes != nil {
				content = resize(content, int(c.sizes[vector[i]]))
			}
		}
		for _, i := range byNode[n] {
			if c := choices[i]; c.contents != nil {
				content = overlay(content, c.i, c.contents[vector[i]])
			}
		}
		b.now, b.disk = content, slices.Clone(content)
		return b
	}
	return &FS{root: build(f.root), Vol: f.Vol}
}

// describe names a vector so that a failure can be found again: how much was lost,
// and the choices themselves.
func describe(choices []choice, vector []int) string {
	var kept, lost int
	var last string
	for i, c := range choices {
		if vector[i] == len(c.seqs)-1 {
			kept++
		} else {
			lost, last = lost+1, c.what
		}
	}
	return fmt.Sprintf("%d unsettled, %d lost (last: %s) %v", len(choices), lost, last, vector)
}

// Print tells two trees apart: names, kinds and contents as processes see them.
func (f *FS) Print() (out [sha256.Size]byte) {
	h := sha256.New()
	var walk func(*inode)
	walk = func(n *inode) {
		for _, key := range slices.Sorted(maps.Keys(n.entries)) {
			e := n.entries[key]
			size := int64(-1)
			if !e.dir {
				size = int64(len(e.now))
			}
			fmt.Fprintf(h, "%s\x00", key)
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(size)))
			h.Write(e.now)
			if e.dir {
				walk(e)
			}
		}
		h.Write([]byte{0xff})
	}
	walk(f.root)
	h.Sum(out[:0])
	return out
}

// Files gives what processes see: the contents of all files by their names.
func (f *FS) Files() map[string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string][]byte{}
	var walk func(string, *inode)
	walk = func(prefix string, n *inode) {
		for key, e := range n.entries {
			if e.dir {
				walk(prefix+key+"/", e)
			} else {
				out[prefix+key] = bytes.Clone(e.now)
			}
		}
	}
	walk("", f.root)
	return out
}
