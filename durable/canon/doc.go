// Package canon is the one spelling of data: strict JSON in (R5), RFC 8785 (JCS)
// bytes out, and SHA-256 digests over those bytes (locks section 11).
//
// It reads no files and knows no record; what a document means is decided by
// the packages that hand their structs to Marshal and Decode.
package canon
