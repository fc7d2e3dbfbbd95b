package similar

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/derive"
)

// shingleContext names what the values are derived for. It changes whenever an artifact is
// cut otherwise: signatures of two ways of cutting say nothing about each other.
const shingleContext = "waybill 2026 v1 similarity shingle"

// shingleWords is how many words in a row one shingle of a sentence holds: shorter ones are
// in every text, and one changed word touches as many shingles.
const shingleWords = 4

// sentenceWeight is how often a shingle of a sentence counts, where every other counts once.
// Renaming all the steps of a workflow, or giving it another version, leaves what it says.
const sentenceWeight = 4

// The kinds of shingles: each says something about one member's name.
const (
	shapeKind    byte = 's' // the names of the members that an object has
	shortKind    byte = 't' // a whole text of few words, a title, a number or a boolean
	sentenceKind byte = 'w' // some words in a row
	nameKind     byte = 'n' // no shingle of its own: the name of a member
)

// shingles cuts an artifact. It holds one text at a time.
type shingles struct {
	sums   *derive.Shorts
	sample sample
	text   []byte // the words of the text at hand, or the names of an object, each behind a space
}

func newShingles() *shingles {
	return &shingles{sums: derive.NewShorts(shingleContext), sample: newSample()}
}

// named is a member's name, as it goes into every shingle of what the member holds: by its
// sum, since a name may be as long as the artifact.
type named struct {
	sum   uint64
	short bool // says what something is called, in however many words
}

func (s *shingles) named(member string) named {
	return named{
		sum:   s.sums.Sum(nameKind, 0, []byte(member)),
		short: member == "title" || member == "name" || member == "id" || member == "version",
	}
}

// value cuts a value that is a member of this name, or that is in a list that is.
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
		// is as good as absent
	}
}

// shape is one shingle for each kind of object, not for each member: in a short artifact
// the names that all of its kind have must not count for more than what it says.
func (s *shingles) shape(member named, v canon.Value) {
	s.text = s.text[:0]
	for i := range v.Len() {
		s.text = append(append(s.text, ' '), v.Key(i)...)
	}
	s.add(shapeKind, member, s.text, 1)
}

func (s *shingles) string(member named, text string) {
	s.text = s.text[:0]
	words := 0
	for word := range eachWord(text) {
		s.text = append(append(s.text, ' '), word...)
		words++
	}
	switch {
	case text == "":
	case words == 0:
		s.add(shortKind, member, []byte(text), 1) // only signs: they are what it says
	case words < shingleWords || member.short:
		s.add(shortKind, member, s.text, 1)
	default:
		s.sentences(member)
	}
}

// sentences cuts the text at hand into shingles that overlap, one from each word on that
// enough of them follow.
func (s *shingles) sentences(member named) {
	var begins [shingleWords]int // of the newest words, in turn
	words := 0
	for at, c := range s.text {
		if c != ' ' {
			continue
		}
		if words >= shingleWords { // the word before this space is the last of one
			s.add(sentenceKind, member, s.text[begins[words%shingleWords]:at], sentenceWeight)
		}
		begins[words%shingleWords] = at
		words++
	}
	s.add(sentenceKind, member, s.text[begins[words%shingleWords]:], sentenceWeight)
}

func (s *shingles) add(kind byte, member named, text []byte, weight uint64) {
	v := s.sums.Sum(kind, member.sum, text)
	for n := range weight {
		s.sample.add(mix(v + n))
	}
}

// mix spreads neighbouring numbers over all of them (the finalizer of SplitMix64): one
// derivation serves for all the values of a shingle.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// eachWord hands out the words of a text in lower case: letters, marks and digits in a row,
// or one letter where the script puts no space between words. Texts are not normalised any
// further: the same letters in another composition are another word.
func eachWord(text string) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		var word []byte
		for _, r := range text {
			inside := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
			alone := inside && r >= 0x0E00 && unicode.In(r, unspaced...)
			if (!inside || alone) && len(word) > 0 {
				if !yield(word) {
					return
				}
				word = word[:0]
			}
			if inside {
				word = utf8.AppendRune(word, unicode.ToLower(r))
			}
			if alone {
				if !yield(word) {
					return
				}
				word = word[:0]
			}
		}
		if len(word) > 0 {
			yield(word)
		}
	}
}

// unspaced are scripts in which a sentence would be one word.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
	unicode.Khmer, unicode.Myanmar}
