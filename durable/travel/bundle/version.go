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
// the rest, which a later version may have changed. An error ends the search.
func (s *scanner) unsupported() (found *fault.Fault) {
	// Several statements: the first one counts.
	note := func(other *fault.Fault) {
		if s.err == nil && found == nil {
			found = other
		}
	}
	s.object(func(name []byte) {
		switch at := s.at(); {
		case string(name) == "bundleSchemaVersion":
			if n := s.number(); n != SchemaVersion {
				note(otherVersion(n, at))
			}
		// Only an object can state its kind.
		case string(name) == "integrity" && s.peek() == '{':
			s.object(func(name []byte) {
				if string(name) != "kind" {
					s.skip()
				} else if at, kind := s.at(), s.text(nameBytesMax); string(kind) != IntegrityKind {
					note(otherKind(kind, at))
				}
			})
		default:
			s.skip()
		}
	})
	return found
}

// skip skips a value of any size, judged by quotes and brackets only.
func (s *scanner) skip() {
	// Neither depth nor size is bounded: nothing of the value is kept.
	open, quoted, escaped := 0, false, false
	for ; s.has(1); s.pos++ {
		switch c := s.buf[s.pos]; {
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
			return // the end of the value
		}
	}
}
