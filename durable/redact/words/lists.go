package words

import "strings"

// states is the set of words that describe a value in the place of one: its state, its
// source, its type, and keywords that begin an expression.
var states = Set(
	"required optional missing none null nil true false empty unknown invalid expired hidden set " +
		"unset yes no ok undefined redacted default " +
		"valid todo tbd changed reset rotated revoked refreshed updated created deleted removed " +
		"stored encrypted hashed " +
		"provided generated masked absent present " +
		"weak strong enabled disabled pending rejected accepted denied correct incorrect wrong same see prompt " +
		"stdin inherit write " +
		"read n/a ... … xxx " +
		"string str bytes byte []byte bool int any object buffer " +
		"await new lambda func function async self this match try not if void here same-origin include omit secretstr fixme")

// sentence is the set of words that appear before and behind a flag in sentences.
var sentence = Set(
	"a an the this that and or with without via by use using uses pass passing passes give gives " +
		"given set sets setting add adds needs need see of to for is are was be no not as in " +
		"flag flags option options argument arguments parameter value again instead now too only " +
		"twice first later does " +
		"takes when then if run it support supports drop remove")

// Ordinary reports a word that describes a secret in a sentence.
func Ordinary(v string) bool {
	lower := strings.ToLower(v)
	if ordinaryWords.Has(lower) || states.Has(lower) || sentence.Has(lower) {
		return true
	}
	for _, end := range []string{"ed", "ing", "able", "ible", "ive", "ory", "ent", "ant", "ous", "ful", "less", "ly", "ary",
		"ally", "ness", "ment", "tion", "ward", "wise", "text"} {
		if strings.HasSuffix(lower, end) && len(lower) > len(end)+1 {
			return true
		}
	}
	// well-known, read-only: two words of small letters.
	return strings.Count(lower, "-") == 1 && strings.Trim(v, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// ordinaryWords is the set of such words without a common ending.
var ordinaryWords = Set(
	"weak strong short long shorter longer weaker stronger newer older better good bad fine okay right here there below " +
		"above inside outside elsewhere public private secret safe unsafe secure insecure fresh stale old new lost gone " +
		"known broken written taken given sent shown leaked hard easy simple trivial obvious plain clear random unique " +
		"yours mine ours theirs his hers not still also just only never always too so very much more less enough all any " +
		"some what which where when how why who because since until unless while after before like about in at by from " +
		"into onto over under up down out off on part one two three four five six seven eight nine ten dead alive active " +
		"inactive static dynamic local global remote optional mandatory up-to-date case-sensitive ready static admin's " +
		"sensitive temporary permanent default empty blank visible hex hexadecimal numeric alphanumeric bearer opaque " +
		"rotated managed cached signed unsigned read kept held found asked typed entered hashed salted encrypted " +
		"database keychain keyring vault environment settings configuration file header cookie body query string number " +
		"crucial vital critical essential unchanged identical equal different similar alike everything nothing something " +
		"communication simplicity patience practice preparation consistency kindness timing trust yes no")

// State reports a word that describes a value in the place of one.
func State(lower string) bool { return states.Has(lower) }

// Sentence reports a word that appears around a flag in sentences.
func Sentence(lower string) bool { return sentence.Has(lower) }

// SchemeWords is the set of words that follow Bearer or Basic in sentences about them.
var SchemeWords = Set("auth authentication authorization scheme schemes header headers tokens credentials")

// MemberOwners is the set of variables whose members usually hold configuration or secrets in code.
var MemberOwners = Set(
	"self this process os req request cfg config conf settings opts options args env ctx flags form " +
		"params props state data secrets vars local module environ event res response")

// Variable is the set of usual names of variables in code, which stand for a value in an assignment.
var Variable = Set("iota value values val vals tok toks tokens str name dir path text data buf input output result res " +
	"arg args key keys line next item elem elt it tmp old new prev cur current raw body json")

// CookieAttributes is the set of the attributes of a cookie, which are not secret.
var CookieAttributes = Set("path domain expires max-age samesite priority version comment httponly secure partitioned")
