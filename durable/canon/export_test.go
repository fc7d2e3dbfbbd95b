package canon

// UnmarshalCompared is the long way of UnmarshalExact: decoded, encoded, compared.
func UnmarshalCompared(data []byte, out any) error { return unmarshalCompared(data, out) }

// UnmarshalShort is the short way alone.
func UnmarshalShort(data []byte, out any) bool { return exactly(data, out) }
