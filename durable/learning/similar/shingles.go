package similar

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/derive"
)

// shingleContext is the derivation context of the values (docs/design.md#hashes). It must
// change whenever shingles are cut in another way: signatures of different cuts are not
// comparable.
const shingleContext = "waybill 2026 v1 similarity shingle"

// shingleWords is the number of consecutive words in a sentence shingle. Shorter shingles
// occur in every text; with longer ones a single changed word would change more shingles.
const shingleWords = 4

// sentenceWeight is how many values a sentence shingle contributes; every other shingle
// contributes one. It keeps two workflows similar after steps are renamed or the version is
// changed.
const sentenceWeight = 4

// The kinds of shingles. The kind and the sum of the member's name enter every value, so that
// equal texts under different members differ.
const (
	shapeKind    byte = 's' // the names of an object's members
	shortKind    byte = 't' // a text of few words, a title, a number or a boolean
	sentenceKind byte = 'w' // shingleWords consecutive words
	nameKind     byte = 'n' // not a shingle: the name of a member
)

// shingles cuts an artifact into shingles and adds their values to a sample. It keeps one
// text in memory at a time.
type shingles struct {
	sums   *derive.ShortHasher
	sample sample
	text   []byte // current text or an object's member names, a space before each word
}

func newShingles() *shingles {
	return &shingles{sums: derive.NewShortHasher(shingleContext), sample: newSample()}
}

// named is a member's name as it enters every shingle of the member's value: by its sum,
// since a name may be as long as the artifact.
type named struct {
	sum   uint64
	short bool // a naming member: its text is one shingle, however many words it has
}

// named returns the sum of a member's name and whether the member holds a name.
func (s *shingles) named(member string) named {
	return named{
		sum:   s.sums.Sum(nameKind, 0, []byte(member)),
		short: member == "title" || member == "name" || member == "id" || member == "version",
	}
}

// value cuts a value of the given member. Items of a list belong to the list's member; their
// order does not matter.
func (s *shingles) value(member named, v canon.Value) {
	switch v.Kind() {
	case canon.Object:
		s.shape(member, v)
		for i := range v.Len() {
			s.value(s.named(v.Key(i)), v.Item(i))
		}
	case canon.Array:
		for i := range v.Len() {
			s.value(member, v.Item(i))
		}
	case canon.String:
		s.string(member, v.Text())
	case canon.Number:
		s.text = strconv.AppendFloat(s.text[:0], v.Float(), 'g', -1, 64)
		s.add(shortKind, member, s.text, 1)
	case canon.Bool:
		s.text = strconv.AppendBool(s.text[:0], v.True())
		s.add(shortKind, member, s.text, 1)
	case canon.Null:
		// equal to an absent member
	}
}

// shape adds one shingle for the member names of an object. One per object rather than one
// per member: in a short artifact the names that every artifact of a kind has would otherwise
// outweigh its texts.
func (s *shingles) shape(member named, v canon.Value) {
	s.text = s.text[:0]
	for i := range v.Len() {
		s.text = append(append(s.text, ' '), v.Key(i)...)
	}
	s.add(shapeKind, member, s.text, 1)
}

// string cuts a text: into overlapping sentence shingles, or into one shingle if it has fewer
// than shingleWords words or names something.
func (s *shingles) string(member named, text string) {
	switch words := s.words(text); {
	case text == "":
	case words == 0:
		s.add(shortKind, member, []byte(text), 1) // only punctuation: the text itself is the shingle
	case words < shingleWords || member.short:
		s.add(shortKind, member, s.text, 1)
	default:
		s.sentences(member)
	}
}

// sentences cuts s.text into overlapping shingles of shingleWords words, one starting at each
// word that has enough successors. begins is a ring of the offsets of the latest words.
func (s *shingles) sentences(member named) {
	var begins [shingleWords]int // offsets of the latest words
	words := 0
	for at, c := range s.text {
		if c != ' ' {
			continue
		}
		if words >= shingleWords { // the word before this space ends a shingle
			s.add(sentenceKind, member, s.text[begins[words%shingleWords]:at], sentenceWeight)
		}
		begins[words%shingleWords] = at
		words++
	}
	s.add(sentenceKind, member, s.text[begins[words%shingleWords]:], sentenceWeight)
}

// add derives one value and adds it weight times, each time mixed with another number.
func (s *shingles) add(kind byte, member named, text []byte, weight uint64) {
	v := s.sums.Sum(kind, member.sum, text)
	for n := range weight {
		s.sample.add(mix(v + n))
	}
}

// mix spreads consecutive numbers over the whole range (the finalizer of SplitMix64), so that
// one derivation yields all values of a shingle.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// words sets s.text to the words of a text in lower case and returns their number: runs of letters,
// marks and digits, or single letters in scripts without spaces between words. Texts are not
// normalized: other compositions of the same letters are other words.
func (s *shingles) words(text string) (words int) {
	s.text = s.text[:0]
	open := false // the next letter continues a word
	for _, r := range text {
		inWord := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		single := inWord && r >= 0x0E00 && unicode.In(r, unspaced...)
		if inWord && (single || !open) {
			s.text = append(s.text, ' ')
			words++
		}
		if inWord {
			s.text = utf8.AppendRune(s.text, unicode.ToLower(r))
		}
		open = inWord && !single
	}
	return words
}

// unspaced lists the scripts that put no spaces between words: a sentence would be one word.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
	unicode.Khmer, unicode.Myanmar}
