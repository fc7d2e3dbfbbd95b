package projections

// SaveNewest is Save for a window of another size.
func (f *Fold) SaveNewest(newest int) ([]byte, bool) {
	w, ok := f.Window(newest)
	if !ok {
		return nil, false
	}
	data, err := (&Fold{Session: w, Head: f.Head, Last: f.Last}).encode()
	return data, err == nil
}

// Bare is a node without what only windows have.
func (n *Node) Bare() Node {
	out := *n
	out.Above, out.Cut = nil, false
	return out
}
