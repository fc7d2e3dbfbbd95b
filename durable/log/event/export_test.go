package event

// DecodeLineLongWay reads a line as every line was once read: parsed into a tree,
// decoded, encoded again and compared.
func (t *Table) DecodeLineLongWay(line []byte) (Event, error) { return t.decodeAny(line) }

// DecodeLineExactly is the short way alone.
func (t *Table) DecodeLineExactly(line []byte) (Event, bool) { return t.decodeExact(line) }
