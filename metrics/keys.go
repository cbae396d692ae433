package metrics

// A keyName is the key (document, page) within which offsets count.
type keyName struct {
	doc  string
	page int32
}

// names numbers the distinct keys and documents of one row from 0 on, so that
// the arithmetic compares integers and not names.
type names struct {
	keys  []keyName
	docOf []int32 // number of the document of each key
	docs  []string

	// In use beyond scanLimit keys or documents.
	keyCodes map[keyName]int32
	docCodes map[string]int32
}

// scanLimit is the number of names up to which a linear search beats a map.
const scanLimit = 16

func (n *names) reset() {
	if len(n.keys) > scanLimit {
		clear(n.keyCodes)
	}
	if len(n.docs) > scanLimit {
		clear(n.docCodes)
	}
	n.keys, n.docOf, n.docs = n.keys[:0], n.docOf[:0], n.docs[:0]
}

// codes returns the numbers of the key (doc, page) and of the document.
func (n *names) codes(doc string, page int32) (key, document int32) {
	if len(n.keys) <= scanLimit {
		for i := range n.keys {
			if k := &n.keys[i]; k.page == page && k.doc == doc {
				return int32(i), n.docOf[i]
			}
		}
	} else if code, ok := n.keyCodes[keyName{doc, page}]; ok {
		return code, n.docOf[code]
	}
	document = n.document(doc)
	n.keys = append(n.keys, keyName{doc, page})
	n.docOf = append(n.docOf, document)
	enter(&n.keyCodes, n.keys)
	return int32(len(n.keys) - 1), document
}

// document returns the number of a document.
func (n *names) document(doc string) int32 {
	if len(n.docs) <= scanLimit {
		for i, d := range n.docs {
			if d == doc {
				return int32(i)
			}
		}
	} else if code, ok := n.docCodes[doc]; ok {
		return code
	}
	n.docs = append(n.docs, doc)
	enter(&n.docCodes, n.docs)
	return int32(len(n.docs) - 1)
}

// enter adds the last name to the map once there are more than scanLimit, and
// all names when that limit is passed.
func enter[T comparable](codes *map[T]int32, names []T) {
	n := len(names)
	if n <= scanLimit {
		return
	}
	if *codes == nil {
		*codes = map[T]int32{}
	}
	if n > scanLimit+1 {
		(*codes)[names[n-1]] = int32(n - 1)
		return
	}
	for i, name := range names {
		(*codes)[name] = int32(i)
	}
}
