package canon

// UnmarshalCompared is the fallback of UnmarshalExact: decode, encode, compare.
func UnmarshalCompared(data []byte, out any) error { return unmarshalCompared(data, out) }

// UnmarshalDirect is the one-pass decoding of UnmarshalExact alone.
func UnmarshalDirect(data []byte, out any) bool { return unmarshalDirect(data, out) }
