package judge

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A cursor reads JSON as [Roster.Encode] writes it: members in the order of the
// structs, no white space. It is several times faster than encoding/json, which
// matters where every row of a run comes from the store. Anything else makes it
// bad, and encoding/json reads the whole.
type cursor struct {
	rest []byte
	bad  bool
}

// has takes a literal if it is next.
func (c *cursor) has(literal string) bool {
	if len(c.rest) < len(literal) || string(c.rest[:len(literal)]) != literal {
		return false
	}
	c.rest = c.rest[len(literal):]
	return true
}

// want takes a literal that must be next.
func (c *cursor) want(literal string) {
	if !c.has(literal) {
		c.bad = true
	}
}

// int takes a number without sign.
func (c *cursor) int() int {
	n, i := 0, 0
	for i < len(c.rest) && i < 9 && isDigit(c.rest[i]) {
		n = 10*n + int(c.rest[i]-'0')
		i++
	}
	c.bad = c.bad || i == 0 || i > 1 && c.rest[0] == '0' || i < len(c.rest) && isDigit(c.rest[i])
	c.rest = c.rest[i:]
	return n
}

// string takes a string.
func (c *cursor) string() string {
	if len(c.rest) == 0 || c.rest[0] != '"' {
		c.bad = true
		return ""
	}
	end := bytes.IndexByte(c.rest[1:], '"') + 1
	if end == 0 {
		c.bad = true
		return ""
	}
	if plain := c.rest[1:end]; bytes.IndexByte(plain, '\\') < 0 {
		if !utf8.Valid(plain) || bytes.ContainsFunc(plain, func(r rune) bool { return r < ' ' }) {
			c.bad = true
		}
		s := string(plain)
		c.rest = c.rest[end+1:]
		return s
	}
	for end = 1; end < len(c.rest) && c.rest[end] != '"'; end++ {
		if c.rest[end] == '\\' {
			end++
		}
	}
	var s string
	if end >= len(c.rest) || json.Unmarshal(c.rest[:end+1], &s) != nil {
		c.bad = true
		return ""
	}
	c.rest = c.rest[end+1:]
	return s
}

// list calls f for each element of an array.
func (c *cursor) list(f func()) {
	c.want("[")
	if c.has("]") {
		return
	}
	for !c.bad {
		f()
		if c.has("]") {
			return
		}
		c.want(",")
	}
}

// byte takes a number that names a label or a yes or no.
func (c *cursor) byte() uint8 {
	n := c.int()
	c.bad = c.bad || n > 255
	return uint8(n)
}

// verdict takes the whole.
func (c *cursor) verdict(v *normalVerdict) {
	c.want(`{"tampering":`)
	v.Tampering = c.string()
	c.want(`,"claims":`)
	v.Claims = []normalClaim{}
	c.list(func() {
		v.Claims = append(v.Claims, normalClaim{})
		c.claim(&v.Claims[len(v.Claims)-1])
	})
	c.want(`}`)
	c.bad = c.bad || len(c.rest) > 0
}

func (c *cursor) claim(v *normalClaim) {
	c.want(`{"factual":`)
	v.Factual = Tri(c.byte())
	c.want(`,"joint":`)
	v.Joint = Label(c.byte())
	if c.has(`,"joint_why":`) {
		v.JointWhy = c.string()
	}
	if c.has(`,"votes":`) {
		v.Votes = c.int()
	}
	if c.has(`,"checks":`) {
		v.Checks = []normalCheck{}
		c.list(func() {
			v.Checks = append(v.Checks, normalCheck{})
			c.check(&v.Checks[len(v.Checks)-1])
		})
	}
	if c.has(`,"sufficient":`) {
		sets := [][]int{}
		c.list(func() {
			set := []int{}
			c.list(func() { set = append(set, c.int()) })
			sets = append(sets, set)
		})
		v.Sufficient = &sets
	}
	c.want(`,"elsewhere":`)
	v.Elsewhere = Label(c.byte())
	if c.has(`,"other":{`) {
		v.Other = new(normalPassage)
		c.passage(v.Other)
		c.want(`}`)
	}
	c.want(`}`)
}

func (c *cursor) check(v *normalCheck) {
	c.want(`{`)
	c.passage(&v.normalPassage)
	c.want(`,"support":`)
	v.Support = Label(c.byte())
	c.want(`,"relevant":`)
	v.Relevant = Tri(c.byte())
	if c.has(`,"why":`) {
		v.Why = c.string()
	}
	c.want(`}`)
}

// passage takes the members of one, without braces.
func (c *cursor) passage(v *normalPassage) {
	c.want(`"evidence":`)
	v.Evidence = c.int()
	if c.has(`,"quote":`) {
		v.Quote = c.string()
	}
	if c.has(`,"start":`) {
		v.Start = int32(c.int())
	}
	if c.has(`,"end":`) {
		v.End = int32(c.int())
	}
}
