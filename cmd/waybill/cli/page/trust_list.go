package page

import (
	"github.com/waybill/waybill/durable/canon"
)

// ShortDigest is a digest as people compare it.
func ShortDigest(d canon.Digest) string {
	s := d.String()
	return s[:min(len(s), len("sha256:")+12)]
}
