package configs

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	maxText  = 64 << 10 // bytes of a run file
	maxDepth = 32       // nested lists and mappings on one line
)

type nodeKind uint8

const (
	nullNode nodeKind = iota
	scalarNode
	listNode
	mappingNode
)

// A node is one value of a YAML text.
type node struct {
	kind         nodeKind
	text         string // of a scalar
	quoted       bool   // the scalar is a text whatever it looks like
	block        bool   // a literal or folded scalar: its text begins on a later line
	line, column int    // from 1, in code points
	items        []node
	entries      []entry
}

type entry struct {
	key          string
	line, column int
	value        node
}

// A fault is what is wrong at a place of a text: it is not the YAML that ibid reads, or of
// another type than a setting.
type fault struct {
	line, column int
	msg, hint    string
}

// parseYAML reads the one document of a text. An empty text is null.
//
// Anchors, aliases, tags, merge keys and complex keys are refused: settings
// are small, and a value should stand where it is used.
func parseYAML(text string) (root node, bad *fault) {
	if bad := plausible(text); bad != nil {
		return node{}, bad
	}
	// The library has panicked on malformed input before; a run file must
	// not be able to end the program.
	defer func() {
		if r := recover(); r != nil {
			root, bad = node{}, &fault{1, 1, "not valid YAML", ""}
		}
	}()
	tokens := lexer.Tokenize(text)
	if bad := supported(tokens); bad != nil {
		return node{}, bad
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return node{}, faultOf(err)
	}
	if len(file.Docs) == 0 {
		return node{}, nil
	}
	if len(file.Docs) > 1 {
		return node{}, secondDocument(file.Docs[1])
	}
	return convert(file.Docs[0].Body)
}

// plausible refuses what is not text before the parser sees it.
func plausible(text string) *fault {
	if len(text) > maxText {
		return &fault{0, 0, fmt.Sprintf("larger than %d KiB", maxText>>10), "is this a run file?"}
	}
	if strings.HasPrefix(text, "PAR1") {
		return &fault{0, 0, "a Parquet file, not a run file", ""}
	}
	line, column := 1, 1
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &fault{line, column, "not valid UTF-8", "save the file as UTF-8"}
		case r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f:
			return &fault{line, column, fmt.Sprintf("control character %U", r), ""}
		}
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return nil
}

// supported refuses tokens outside the subset, and depth that would exhaust
// the parser's stack.
func supported(tokens token.Tokens) *fault {
	flow, line, onLine := 0, 0, 0
	for _, t := range tokens {
		at := func(msg, hint string) *fault {
			return &fault{t.Position.Line, t.Position.Column, msg, hint}
		}
		if t.Position.Line != line {
			line, onLine = t.Position.Line, 0
		}
		switch t.Type {
		case token.AliasType:
			return at("aliases are not supported", `a value that begins with * needs quotes, such as "*.parquet"`)
		case token.AnchorType, token.MergeKeyType:
			return at("anchors and merge keys are not supported", "write the value where it is used")
		case token.TagType, token.DirectiveType:
			return at("tags and directives are not supported", "")
		case token.MappingKeyType:
			return at("complex keys are not supported", "write key: value")
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			onLine++
		}
		if flow > maxDepth || onLine > maxDepth {
			return at("nested too deeply", "")
		}
	}
	return nil
}

func faultOf(err error) *fault {
	var e yaml.Error
	if !errors.As(err, &e) {
		return &fault{1, 1, "not valid YAML", ""}
	}
	bad := &fault{1, 1, e.GetMessage(), ""}
	if t := e.GetToken(); t != nil && t.Position != nil {
		bad.line, bad.column = t.Position.Line, t.Position.Column
		if strings.HasPrefix(strings.TrimLeft(t.Value, " "), "\t") || strings.Contains(bad.msg, "'\t'") {
			bad.msg, bad.hint = "a tab cannot indent", "use spaces"
		}
	}
	return bad
}

func secondDocument(doc *ast.DocumentNode) *fault {
	bad := &fault{1, 1, "a second document", "a run file holds one; remove everything from here"}
	if doc.Start != nil {
		bad.line, bad.column = doc.Start.Position.Line, doc.Start.Position.Column
	} else if doc.Body != nil {
		bad.line, bad.column = doc.Body.GetToken().Position.Line, doc.Body.GetToken().Position.Column
	}
	return bad
}

func convert(from ast.Node) (node, *fault) {
	if from == nil {
		return node{}, nil
	}
	t := from.GetToken()
	n := node{line: t.Position.Line, column: t.Position.Column}
	switch x := from.(type) {
	case *ast.NullNode:
		return n, nil
	case *ast.StringNode:
		n.kind, n.text = scalarNode, x.Value
		n.quoted = t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType
		return n, nil
	case *ast.LiteralNode:
		n.kind, n.text, n.quoted, n.block = scalarNode, x.Value.Value, true, true
		return n, nil
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = scalarNode, t.Value
		return n, nil
	case *ast.SequenceNode:
		return convertList(n, x)
	case *ast.MappingNode:
		return convertMapping(n, x.Values)
	case *ast.MappingValueNode:
		return convertMapping(n, []*ast.MappingValueNode{x})
	}
	return node{}, &fault{n.line, n.column, "not a value", ""}
}

func convertList(n node, from *ast.SequenceNode) (node, *fault) {
	n.kind = listNode
	for _, v := range from.Values {
		item, bad := convert(v)
		if bad != nil {
			return node{}, bad
		}
		n.items = append(n.items, item)
	}
	return n, nil
}

func convertMapping(n node, from []*ast.MappingValueNode) (node, *fault) {
	n.kind = mappingNode
	for _, v := range from {
		key, bad := convert(v.Key)
		if bad == nil && key.kind != scalarNode {
			bad = &fault{key.line, key.column, "not a key", "write key: value"}
		}
		if bad != nil {
			return node{}, bad
		}
		value, bad := convert(v.Value)
		if bad != nil {
			return node{}, bad
		}
		n.entries = append(n.entries, entry{key.text, key.line, key.column, value})
	}
	if len(n.entries) > 0 && n.column > n.entries[0].column {
		n.line, n.column = n.entries[0].line, n.entries[0].column // a block mapping begins at its first key, not at the colon
	}
	return n, nil
}
