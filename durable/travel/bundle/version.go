package bundle

import (
	"github.com/waybill/waybill/durable/fault"
)

// otherVersion is the fault for a bundle of another schema version.
func otherVersion(n float64, at int64) *fault.Fault {
	return failAt(fault.BundleUnsupportedVersion, "/bundleSchemaVersion", at,
		"bundleSchemaVersion is %v: this version knows %d", n, SchemaVersion)
}

// otherKind is the fault for another kind of integrity.
func otherKind(kind []byte, at int64) *fault.Fault {
	return failAt(fault.BundleUnsupportedVersion, "/integrity/kind", at, "integrity/kind is %q: this version knows %q",
		kind, IntegrityKind)
}

// unsupported searches a refused document for an unknown version or kind of integrity, nil if
// there is none. It reads as far as quotes and brackets match and makes no assumptions about
// the rest, which a later version may have changed.
func (s *scanner) unsupported() (found *fault.Fault) {
	// An error ends the search: a result found before it is returned.
	_ = s.object(func(name []byte) error {
		switch string(name) {
		case "bundleSchemaVersion":
			at := s.at()
			n, err := s.number()
			// Several statements: the first one counts.
			if err == nil && n != SchemaVersion && found == nil {
				found = otherVersion(n, at)
			}
			return err
		case "integrity":
			// Only an object can state its kind.
			if c, err := s.peek(); err == nil && c == '{' {
				return s.object(func(name []byte) error {
					if string(name) != "kind" {
						return s.skip()
					}
					at := s.at()
					kind, err := s.text(nameBytesMax)
					if err == nil && string(kind) != IntegrityKind && found == nil {
						found = otherKind(kind, at)
					}
					return err
				})
			}
		}
		return s.skip()
	})
	return found
}

// skip skips a value of any size, judged by quotes and brackets only.
func (s *scanner) skip() error {
	// Neither depth nor size is bounded: nothing of the value is kept.
	open, quoted, escaped := 0, false, false
	for {
		for ; s.pos < s.end; s.pos++ {
			c := s.buf[s.pos]
			switch {
			case escaped:
				escaped = false
			case quoted && c == '\\':
				escaped = true
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '{' || c == '[':
				open++
			case open > 0 && (c == '}' || c == ']'):
				open--
			// A separator outside of all brackets ends the value.
			case open == 0 && (c == ',' || c == '}' || c == ']'):
				return nil // the end of the value
			}
		}
		if ok, err := s.more(); err != nil {
			return err
		} else if !ok {
			return s.truncated()
		}
	}
}
