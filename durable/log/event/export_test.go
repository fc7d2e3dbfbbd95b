package event

// DecodeLineAny is the fallback of DecodeLine: parse, decode, encode and compare.
func (t *Table) DecodeLineAny(line []byte) (Event, error) { return t.decodeAny(line) }

// DecodeLineExact is the one-pass decoding of DecodeLine.
func (t *Table) DecodeLineExact(line []byte) (Event, bool) { return t.decodeExact(line) }
