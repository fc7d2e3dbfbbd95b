package crashfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill/waybill/ports/porttest/sample"
)

// Reopen returns a copy of the disk as the next process finds it after this one ended without a
// power cut: everything that was written, synced or not. Values that were not synced can still be
// lost, and values in doubt stay in doubt. The copy has no Fault, no Mutation and no Before.
func (f *FS) Reopen() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &FS{root: f.root.clone(map[*inode]*inode{}), seq: f.seq, Vol: f.Vol}
}

// State is one disk that a power cut can leave.
type State struct {
	Name string // describes what was lost, for messages
	FS   *FS    // all of it is durable
}

// choice is one value that a power cut decides: a directory entry, the size of a file or the
// content of a sector; targets, sizes or contents holds its options. Option 0 is the durable value,
// the last one is the visible value. seqs are the numbers of the changes that set the options,
// ascending.
type choice struct {
	what string // describes it, for messages
	of   *inode
	key  string // name of the entry
	i    int64  // number of the sector
	seqs []int

	targets  []*inode // nil: no entry
	sizes    []int64  // in bytes
	contents [][]byte
}

// Crashes enumerates the states that a power cut can leave of the disk as it is now, until yield
// returns false. Where at most limit combinations exist, it enumerates all of them. Otherwise it
// enumerates
//   - for each change, the state in which everything up to that change is kept and nothing later;
//   - every single option of every choice, with all other values lost and with all others kept;
//   - from a limit of 100 on, every pair of options in the same way;
//   - limit pseudo-random combinations, the same ones in every run.
//
// Each different tree is yielded once.
func (f *FS) Crashes(limit int, yield func(State) bool) { f.SampleCrashes(nil, limit, yield) }

// SampleCrashes is Crashes for a sample: cases counts every state, and only those that it selects are built
// and yielded. A nil cases selects all of them.
func (f *FS) SampleCrashes(cases *sample.Cases, limit int, yield func(State) bool) {
	f.some(cases, limit, map[digest]bool{}, yield)
}

// some skips the trees whose digest is in seen, and adds the digests of all others.
func (f *FS) some(cases *sample.Cases, limit int, seen map[digest]bool, yield func(State) bool) {
	f.mu.Lock()
	// A copy: yield may write to the disk, and vectors are enumerated while it runs.
	frozen := &FS{root: f.root.clone(map[*inode]*inode{}), Vol: f.Vol}
	f.mu.Unlock()
	b := newBuilder(frozen)
	// Different vectors often leave the same tree: a lost entry, for example, makes the content of
	// its file unreachable.
	tried := map[string]bool{}
	for vector := range vectors(b.choices, limit) {
		if key := vectorKey(vector); tried[key] {
			continue
		} else {
			tried[key] = true
		}
		tree := b.digest(vector)
		if seen[tree] {
			continue
		}
		seen[tree] = true
		if cases.Try() && !yield(State{describe(b.choices, vector), b.build(vector)}) {
			return
		}
	}
}

// vectorKey returns a vector as the key of a map.
func vectorKey(vector []int) string {
	key := make([]byte, 0, 2*len(vector))
	for _, option := range vector {
		key = binary.BigEndian.AppendUint16(key, uint16(option))
	}
	return string(key)
}

// collect lists the choices in a tree in a fixed order: directories by the names of their entries,
// durable and unsynced ones. It follows every option of an entry, so that a file that is visible
// under no name any more counts as long as a power cut may restore its name.
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
		// An entry that was removed or not yet synced is in one of the two maps only.
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
				// A version that repeats the one before adds no option. One that repeats an earlier
				// one does, at its own time: prefixes in time need it.
				for _, v := range e.versions {
					if !slices.Contains(c.targets, v.value) || v.value != c.targets[len(c.targets)-1] {
						c.targets, c.seqs = append(c.targets, v.value), append(c.seqs, v.seq)
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

// fileChoices lists the choices of a file: its size, and each sector with more than one version.
func fileChoices(path string, n *inode) (out []choice) {
	size := choice{what: "size of " + path, of: n, seqs: []int{0}, sizes: []int64{int64(len(n.disk))}}
	for _, v := range n.sizes {
		if v.value != size.sizes[len(size.sizes)-1] {
			size.sizes, size.seqs = append(size.sizes, v.value), append(size.seqs, v.seq)
		}
	}
	if len(size.sizes) > 1 {
		out = append(out, size)
	}
	// Sectors behind the end under the chosen size are options nevertheless; build drops them.
	for _, i := range slices.Sorted(maps.Keys(n.sectors)) {
		c := choice{what: fmt.Sprintf("sector %d of %s", i, path), of: n, i: i, seqs: []int{0},
			contents: [][]byte{part(n.disk, i)}}
		for _, v := range n.sectors[i].versions {
			if !bytes.Equal(v.value, c.contents[len(c.contents)-1]) {
				c.contents, c.seqs = append(c.contents, v.value), append(c.seqs, v.seq)
			}
		}
		if len(c.contents) > 1 {
			out = append(out, c)
		}
	}
	return out
}

// describe describes a vector in messages: how many values were lost, the last of them, and the
// options themselves, with which a failure can be reproduced.
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
	return fmt.Sprintf("%d unsynced, %d lost (last: %s) %v", len(choices), lost, last, vector)
}

// Files returns the visible contents of all files by their names. Directories without files do not
// appear in it.
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
