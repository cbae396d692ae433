package metrics

// A keyName is the key (document, page) within which offsets count.
type keyName struct {
	doc  string
	page int32
}

// codes numbers the distinct names of one row from 0 on, so that the arithmetic
// compares integers and not names.
type codes[T comparable] struct {
	names  []T
	codeOf map[T]int32 // in use beyond scanLimit names
}

// scanLimit is the number of names up to which a linear search beats a map.
const scanLimit = 16

func (c *codes[T]) reset() {
	if len(c.names) > scanLimit {
		clear(c.codeOf)
	}
	c.names = c.names[:0]
}

// code returns the number of a name.
func (c *codes[T]) code(name T) int32 {
	if len(c.names) <= scanLimit {
		for i := range c.names {
			if c.names[i] == name {
				return int32(i)
			}
		}
	} else if code, ok := c.codeOf[name]; ok {
		return code
	}
	code := int32(len(c.names))
	c.names = append(c.names, name)
	switch {
	case len(c.names) == scanLimit+1:
		if c.codeOf == nil {
			c.codeOf = map[T]int32{}
		}
		for i, old := range c.names {
			c.codeOf[old] = int32(i)
		}
	case len(c.names) > scanLimit:
		c.codeOf[name] = code
	}
	return code
}
