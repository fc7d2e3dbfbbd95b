package id

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// TextLen is how many characters of an id follow its prefix and the "_": 16 bytes in base32 without padding.
const TextLen = 26

// alphabet is that of RFC 4648, section 6, in lower case.
const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

// outside is the value of a byte that is not in the alphabet. Its upper bits are set in no other value.
const outside = 0xff

// values are the values of the characters of the alphabet.
var values = func() (out [256]byte) {
	for c := range out {
		out[c] = outside
	}
	for v, c := range []byte(alphabet) {
		out[c] = byte(v)
	}
	return out
}()

// places are the places of the values in the order of their characters, in which digits precede letters.
var places = func() (out [32]byte) {
	for v := range out {
		out[v] = byte((v + 6) % 32)
	}
	return out
}()

// appendBase32 appends the characters of 16 bytes: eight for each five bytes, and two for the last one.
func appendBase32(dst []byte, raw [16]byte) []byte {
	for at := 0; at < 15; at += 5 {
		five := uint64(raw[at])<<32 | uint64(raw[at+1])<<24 | uint64(raw[at+2])<<16 | uint64(raw[at+3])<<8 | uint64(raw[at+4])
		dst = append(dst, alphabet[five>>35&31], alphabet[five>>30&31], alphabet[five>>25&31], alphabet[five>>20&31],
			alphabet[five>>15&31], alphabet[five>>10&31], alphabet[five>>5&31], alphabet[five&31])
	}
	return append(dst, alphabet[raw[15]>>3], alphabet[raw[15]<<2&31])
}

// decodeBase32 returns the 16 bytes of TextLen characters. These carry two bits more, which must be zero: otherwise four texts
// would decode to one id.
func decodeBase32(text string) (raw [16]byte, ok bool) {
	_ = text[TextLen-1]
	var seen byte
	for at, from := 0, 0; at < 15; at, from = at+5, from+8 {
		var five uint64
		for j := range 8 {
			v := values[text[from+j]]
			seen |= v
			five = five<<5 | uint64(v&31)
		}
		raw[at], raw[at+1], raw[at+2], raw[at+3], raw[at+4] = byte(five>>32), byte(five>>24), byte(five>>16), byte(five>>8), byte(five)
	}
	high, low := values[text[24]], values[text[25]]
	raw[15] = high<<3 | low>>2
	return raw, (seen|high|low)&^31 == 0 && low&3 == 0
}

// isBase32 reports whether all characters are of the alphabet of ids.
func isBase32(text string) bool {
	var seen byte
	for i := range len(text) {
		seen |= values[text[i]]
	}
	return seen != outside
}

// Compare orders ids as their texts are ordered, in which digits precede letters; the zero id is the first.
func (i ID[K]) Compare(j ID[K]) int {
	if i.IsZero() || j.IsZero() {
		return cmp.Compare(i.raw[16], j.raw[16])
	}
	for at := 0; at < 16; at += 8 {
		differing := binary.BigEndian.Uint64(i.raw[at:]) ^ binary.BigEndian.Uint64(j.raw[at:])
		if differing != 0 {
			character := (8*at + bits.LeadingZeros64(differing)) / 5 // the first that differs
			return cmp.Compare(alphabet[i.value(character)], alphabet[j.value(character)])
		}
	}
	return 0
}

// Sort sorts ids in the order of Compare. Of each id it compares a number first, so that the ids of a whole store are sorted
// several times as fast as by Compare alone.
func Sort[K kind](ids []ID[K]) {
	type numbered struct {
		number uint64
		id     ID[K]
	}
	all := make([]numbered, len(ids))
	for i, one := range ids {
		all[i] = numbered{one.leading(), one}
	}
	slices.SortFunc(all, func(a, b numbered) int {
		if a.number != b.number {
			return cmp.Compare(a.number, b.number)
		}
		return a.id.Compare(b.id)
	})
	for i := range all {
		ids[i] = all[i].id
	}
}

// leading returns a number that orders ids as their first twelve characters do, 0 for the zero id.
func (i ID[K]) leading() (number uint64) {
	if i.IsZero() {
		return 0
	}
	rest := binary.BigEndian.Uint64(i.raw[:])
	for range 12 {
		number = number<<5 | uint64(places[rest>>59])
		rest <<= 5
	}
	return number
}

// value returns the five bits of a character. The last one has two bits of the byte behind the 16, which are zero.
func (i ID[K]) value(character int) uint16 {
	from := 5 * character
	two := uint16(i.raw[from/8])<<8 | uint16(i.raw[from/8+1])
	return two >> (11 - from%8) & 31
}
