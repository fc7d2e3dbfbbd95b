package runs

// SaveNewest is Save for a window of newest nodes.
func (f *Fold) SaveNewest(newest int) ([]byte, bool) {
	w, ok := f.Window(newest)
	if !ok {
		return nil, false
	}
	data, err := (&Fold{Session: w, Head: f.Head, Last: f.Last}).encode()
	return data, err == nil
}

// Bare returns a copy of the node without the members that only windows set.
func (n *Node) Bare() Node {
	out := *n
	out.Above, out.Cut = nil, false
	return out
}
