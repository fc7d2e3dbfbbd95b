package id

// Imported is the id that an import as new makes of one that follows none of the
// recipes: of the old id, in the store that imports, of the log that has this head. An
// id that follows its recipe is derived anew by that recipe instead, so that what is
// decided once more comes to the same ids.
func (i ID[K]) Imported(st Store, head string) ID[K] { return derived[K]("import", st.s, head, i.s) }

// Raw are the 16 bytes of an id, for those who hold a million; OfRaw undoes it. That of
// the zero id is all zeros.
func (i ID[K]) Raw() (raw [16]byte) {
	var k K
	if i.s != "" {
		_, _ = encoding.Decode(raw[:], []byte(i.s[len(k.prefix())+1:])) // no id is spelled otherwise
	}
	return raw
}

// OfRaw is the id of the receiver's kind with these bytes: Node{}.OfRaw(raw).
func (ID[K]) OfRaw(raw [16]byte) ID[K] { return make16[K](raw) }
