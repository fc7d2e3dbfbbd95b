package redact

import (
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// Value is v with Text in the place of every string, names of members too, and with
// the whole of every string and number that a secret name holds replaced, however deep
// below the name it stands. {"name":"token","value":"…"} is the same as {"token":"…"}.
// What is true, false or null is no secret.
func Value(v canon.Value, c Counts) canon.Value { return value(v, c, false) }

func value(v canon.Value, c Counts, named bool) canon.Value {
	switch v.Kind() {
	case canon.String:
		if !named {
			return keepLine(canon.OfString(Text(v.Text(), c)), v)
		}
		if s := v.Text(); s == "" || marker(s) == len(s) {
			return v
		}
	case canon.Number:
		if !named {
			return v
		}
	case canon.Array:
		items := make([]canon.Value, v.Len())
		for i := range items {
			items[i] = value(v.Item(i), c, named)
		}
		return keepLine(canon.OfList(items...), v)
	case canon.Object:
		return keepLine(object(v, c, named), v)
	default:
		return v
	}
	c.hit(NamedSecret)
	return keepLine(canon.OfString(Marker(NamedSecret)), v)
}

func keepLine(now, was canon.Value) canon.Value { return now.AtLine(was.Line()) }

// object redacts names as well. Of those that come out the same, or differ in case
// alone, the later get a number: no member is lost, and the document can be read.
func object(v canon.Value, c Counts, named bool) canon.Value {
	members := make([]canon.Member, v.Len())
	changed, pair := false, namesSecret(v)
	for i := range members {
		name := Text(v.Key(i), c)
		changed = changed || name != v.Key(i)
		secret := named || SecretName(name) || pair && valueNames[strings.ToLower(name)]
		members[i] = canon.Member{Name: name, Value: value(v.Item(i), c, secret)}
	}
	if !changed {
		return canon.OfMembers(members...)
	}
	taken := map[string]int{}
	for i := range members {
		if members[i].Name == v.Key(i) {
			taken[strings.ToLower(v.Key(i))] = 1 // names that stay keep their spelling
		}
	}
	for i := range members {
		if members[i].Name != v.Key(i) {
			members[i].Name = free(members[i].Name, taken)
		}
	}
	return canon.OfMembers(members...)
}

// namesSecret reports an object of which a member says that another holds a secret. One
// that something was taken out of says nothing the second time, and has nothing to say.
func namesSecret(v canon.Value) bool {
	for i := range v.Len() {
		if pairNames[strings.ToLower(v.Key(i))] && v.Item(i).Kind() == canon.String && SecretName(v.Item(i).Text()) {
			return true
		}
	}
	return false
}

// free is name, or name with the first number that nothing has yet.
func free(name string, taken map[string]int) string {
	low := strings.ToLower(name)
	out := name
	for n := taken[low]; n > 0; n++ {
		out = name + "#" + strconv.Itoa(n+1)
		if taken[strings.ToLower(out)] == 0 {
			taken[low] = n + 1
			break
		}
	}
	taken[strings.ToLower(out)] = max(1, taken[strings.ToLower(out)])
	return out
}
