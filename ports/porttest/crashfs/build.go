package crashfs

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
)

// builder makes the trees that a power cut can leave of one disk. A tree is selected by a vector,
// which has one option for each choice. Trees share the contents of their files (see inode.own);
// the entries of a directory and the content of a file are computed once for each combination of
// the inode's own options, as most vectors differ in few of them.
type builder struct {
	frozen  *FS
	choices []choice
	byNode  map[*inode][]int              // indices in choices
	dirs    map[*inode]map[string][]entry // by the options of the inode
	files   map[*inode]map[string]content // by the options of the inode
}

// entry is one name in a directory.
type entry struct {
	key string
	to  *inode
}

// digest is a digest of a tree or of a file.
type digest [sha256.Size]byte

// content is the content of a file, with its digest.
type content struct {
	data   []byte
	digest digest
}

// newBuilder collects the choices of a disk that does not change any more.
func newBuilder(frozen *FS) *builder {
	b := &builder{frozen: frozen, choices: collect(frozen.root), byNode: map[*inode][]int{},
		dirs: map[*inode]map[string][]entry{}, files: map[*inode]map[string]content{}}
	for i, c := range b.choices {
		b.byNode[c.of] = append(b.byNode[c.of], i)
	}
	return b
}

// options returns the part of a vector that concerns an inode, as a key; "" where it has no
// choices.
func (b *builder) options(n *inode, vector []int) string {
	own := b.byNode[n]
	if len(own) == 0 {
		return ""
	}
	taken := make([]int, len(own))
	for i, c := range own {
		taken[i] = vector[c]
	}
	return vectorKey(taken)
}

// entries returns the entries of a directory under a vector, sorted by name.
func (b *builder) entries(n *inode, vector []int) []entry {
	key := b.options(n, vector)
	out, known := b.dirs[n][key]
	if known {
		return out
	}
	all := n.durable
	if key != "" {
		all = maps.Clone(all)
		for _, i := range b.byNode[n] {
			set(all, b.choices[i].key, b.choices[i].targets[vector[i]])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, entry{name, all[name]})
	}
	if b.dirs[n] == nil {
		b.dirs[n] = map[string][]entry{}
	}
	b.dirs[n][key] = out
	return out
}

// content returns the content of a file under a vector.
func (b *builder) content(n *inode, vector []int) content {
	key := b.options(n, vector)
	out, known := b.files[n][key]
	if known {
		return out
	}
	data := n.disk
	if key != "" {
		// Without choices of its own a file has its durable content.
		// The size first: sectors behind the chosen end do not exist.
		data = slices.Clone(data)
		for _, i := range b.byNode[n] {
			if c := b.choices[i]; c.sizes != nil {
				data = resize(data, int(c.sizes[vector[i]]))
			}
		}
		for _, i := range b.byNode[n] {
			if c := b.choices[i]; c.contents != nil {
				data = overlay(data, c.i, c.contents[vector[i]])
			}
		}
	}
	out = content{data, sha256.Sum256(data)}
	if b.files[n] == nil {
		b.files[n] = map[string]content{}
	}
	b.files[n][key] = out
	return out
}

// digest returns the digest of the tree of a vector: names, kinds and contents. Two vectors with
// the same digest leave the same disk.
func (b *builder) digest(vector []int) digest {
	// The text that is hashed cannot be ambiguous: names contain no NUL, contents are written as
	// length and digest, and a byte that no UTF-8 text contains ends a directory.
	var text []byte
	var walk func(*inode)
	walk = func(n *inode) {
		for _, e := range b.entries(n, vector) {
			text = append(append(text, e.key...), 0)
			if e.to.dir {
				text = append(text, 'd')
				walk(e.to)
				continue
			}
			c := b.content(e.to, vector)
			text = append(text, 'f')
			text = binary.BigEndian.AppendUint64(text, uint64(len(c.data)))
			text = append(text, c.digest[:]...)
		}
		text = append(text, 0xff)
	}
	walk(b.frozen.root)
	return sha256.Sum256(text)
}

// build returns the disk that a vector leaves; all of it is durable.
func (b *builder) build(vector []int) *FS {
	// A file with two names (a rename of which both entries are kept) is one inode in the result
	// too.
	built := map[*inode]*inode{}
	var build func(*inode) *inode
	build = func(n *inode) *inode {
		if made, ok := built[n]; ok {
			return made
		}
		if !n.dir {
			made := newFile()
			built[n] = made
			made.now = b.content(n, vector).data
			made.disk, made.sharedNow, made.sharedDisk = made.now, true, true
			return made
		}
		made := newDir()
		built[n] = made
		for _, e := range b.entries(n, vector) {
			below := build(e.to)
			made.entries[e.key], made.durable[e.key] = below, below
		}
		return made
	}
	return &FS{root: build(b.frozen.root), Vol: b.frozen.Vol}
}
