package crashfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill/waybill/ports/porttest/sample"
)

// Revive is the disk that the next process finds after this one ended without a power cut:
// everything that was written, settled or not.
func (f *FS) Revive() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &FS{root: f.root.clone(map[*inode]*inode{}), seq: f.seq, Vol: f.Vol}
}

// State is one disk that a power cut can leave.
type State struct {
	Name string // which choice was taken, for messages
	FS   *FS
}

// choice is one thing that a power cut decides. Option 0 is what the disk holds, the last what
// processes saw; seqs are the moments at which the options were written.
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

// Crashes enumerates what a power cut can leave of the disk as it is now: all of it while that is
// at most limit, else everything lost, everything kept, every prefix in time, every single choice
// and (for a limit from 100 on) every pair against both, and limit further combinations that are
// the same in every run. Equal trees are yielded once.
func (f *FS) Crashes(limit int, yield func(State) bool) { f.Some(nil, limit, yield) }

// Some is Crashes for a sample: every state is counted, and those that cases selects are
// built. A nil cases selects all of them.
func (f *FS) Some(cases *sample.Cases, limit int, yield func(State) bool) {
	f.some(cases, limit, map[print]bool{}, yield)
}

// some leaves out the trees in seen, and adds to it.
func (f *FS) some(cases *sample.Cases, limit int, seen map[print]bool, yield func(State) bool) {
	f.mu.Lock()
	frozen := &FS{root: f.root.clone(map[*inode]*inode{}), Vol: f.Vol}
	f.mu.Unlock()
	b := newBuilder(frozen)
	// Different choices often leave the same tree, as when a lost entry hides the content of its
	// file: each tree is tried once.
	tried := map[string]bool{}
	for vector := range vectors(b.choices, limit) {
		if key := vectorKey(vector); tried[key] {
			continue
		} else {
			tried[key] = true
		}
		tree := b.print(vector)
		if seen[tree] {
			continue
		}
		seen[tree] = true
		if cases.Try() && !yield(State{describe(b.choices, vector), b.build(vector)}) {
			return
		}
	}
}

func vectorKey(vector []int) string {
	key := make([]byte, 0, 2*len(vector))
	for _, option := range vector {
		key = binary.BigEndian.AppendUint16(key, uint16(option))
	}
	return string(key)
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

// Files returns what processes see: the contents of all files by their names.
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
