package bundle

import (
	"github.com/waybill/waybill/durable/fault"
)

func otherVersion(n float64, at int64) *fault.Fault {
	return failAt(fault.BundleUnsupportedVersion, "/bundleSchemaVersion", at,
		"bundleSchemaVersion is %v: this version knows %d", n, SchemaVersion)
}

func otherKind(kind []byte, at int64) *fault.Fault {
	return failAt(fault.BundleUnsupportedVersion, "/integrity/kind", at, "integrity/kind is %q: this version knows %q",
		kind, IntegrityKind)
}

// unsupported looks, in a document that was refused, for a version or a kind of
// integrity that is not known here. It reads on as long as the text hangs together,
// and knows nothing of the rest: that may have any shape in a later version.
func (s *scanner) unsupported() (found *fault.Fault) {
	// What is no document to its end has said all it can say.
	_ = s.object(func(name []byte) error {
		switch string(name) {
		case "bundleSchemaVersion":
			at := s.at()
			n, err := s.number()
			if err == nil && n != SchemaVersion && found == nil {
				found = otherVersion(n, at)
			}
			return err
		case "integrity":
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

// skip passes over a value of any size, as far as quotes and brackets tell.
func (s *scanner) skip() error {
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
			case open == 0 && (c == ',' || c == '}' || c == ']'):
				return nil // whatever it was, it ends here
			}
		}
		if ok, err := s.more(); err != nil {
			return err
		} else if !ok {
			return s.tooEarly()
		}
	}
}
