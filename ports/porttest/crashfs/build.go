package crashfs

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
)

// builder makes the trees that the choices of one moment leave. Trees share the contents of their
// files (see inode.own), and the entries or the content that one combination of an inode's own
// options gives are computed once.
type builder struct {
	frozen  *FS
	choices []choice
	byNode  map[*inode][]int // indices of choices
	dirs    map[*inode]map[string][]entry
	files   map[*inode]map[string]content
}

// entry is one name in a directory.
type entry struct {
	key string
	to  *inode
}

// print is a digest of a tree or of a file.
type print [sha256.Size]byte

// content is what a file holds.
type content struct {
	data  []byte
	print print
}

func newBuilder(frozen *FS) *builder {
	b := &builder{frozen: frozen, choices: collect(frozen.root), byNode: map[*inode][]int{},
		dirs: map[*inode]map[string][]entry{}, files: map[*inode]map[string]content{}}
	for i, c := range b.choices {
		b.byNode[c.of] = append(b.byNode[c.of], i)
	}
	return b
}

// options are those that a vector takes of an inode's own choices.
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

// entries are those of a directory, sorted.
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

// content is that of a file.
func (b *builder) content(n *inode, vector []int) content {
	key := b.options(n, vector)
	out, known := b.files[n][key]
	if known {
		return out
	}
	data := n.disk
	if key != "" {
		// Size first: sectors beyond the chosen end do not exist.
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

// print identifies the tree of a vector: its names, kinds and contents.
func (b *builder) print(vector []int) print {
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
			text = append(text, c.print[:]...)
		}
		text = append(text, 0xff)
	}
	walk(b.frozen.root)
	return sha256.Sum256(text)
}

// build is the disk that a vector leaves; all of it is settled.
func (b *builder) build(vector []int) *FS {
	// A file with two names is built once, as on a disk.
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
