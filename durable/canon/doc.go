// Package canon implements canonical JSON: a strict parser (docs/design.md#json-from-outside),
// an encoder of RFC 8785 (JCS) bytes (docs/design.md#canonical-json), and SHA-256 digests over
// those bytes (docs/design.md#hashes). Every stored document is written and read through it, so
// that equal content has equal bytes and equal digests.
//
// It reads no files, knows no record types and does not validate meaning; the packages that
// pass their structs to Marshal and Decode do that. It does not stream: a document is a byte
// slice, and the caller bounds its size.
//
// The main types are Value (a parsed document), Digest and ParseError. Start reading at Parse
// and Marshal; Exact is the fast path for lines that Waybill wrote itself, and Checker that for text
// that only has to be checked (docs/decisions/0042-one-reader-of-json-text.md).
package canon
