package id

// Imported returns the id that an import under new ids gives a record whose old id was not made
// by a derivation of this package, as in logs of other programs. It is derived from the old id,
// the importing store and the head digest of the imported log. An id that a derivation made is
// derived again from its new inputs instead, so that re-executing the run gives the same ids.
func (i ID[K]) Imported(st Store, head string) ID[K] {
	return derived[K]("import", st.String(), head, i.String())
}

// Raw returns the 16 bytes of an id, zero for the zero id; OfRaw is its inverse for any other.
func (i ID[K]) Raw() [16]byte { return [16]byte(i.raw[:]) }

// OfRaw returns the id of the receiver's kind with these bytes: Node{}.OfRaw(raw).
func (ID[K]) OfRaw(raw [16]byte) ID[K] { return fromBytes[K](raw) }
