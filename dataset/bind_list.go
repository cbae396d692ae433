package dataset

import "slices"

// bindGroup binds the members of a list column.
func (b *binding) bindGroup(root *schemaNode, spec *schemaSpec, g int, names foreignNames, want Want) error {
	name := spec.groups[g]
	n, err := spec.find(root, name, names, name, nil)
	if err != nil || n == nil || n.isNull() {
		return err
	}
	members := spec.members(g)
	known := func(name string) bool {
		return slices.ContainsFunc(members, func(c int) bool { return spec.named(c, name) })
	}
	shape, ok := n.list(known)
	if !ok {
		hint := ""
		if name == "tags" && n.typeName() == "struct" {
			hint = "write tags as map<string,string>"
		}
		return columnError(name, hint, "%s instead of a list", n.typeName())
	}
	b.groups[g].found = slices.ContainsFunc(members, func(c int) bool { return spec.columns[c].want&want != 0 })
	if len(members) == 1 && spec.columns[members[0]].member == "" {
		return b.bindValues(spec, g, members[0], shape, want)
	}
	if shape.element.isNull() {
		return b.bindSkeleton(spec, g, shape, want)
	}
	if shape.element.isLeaf() {
		return columnError(name, "", "list of %s instead of a list of structs", shape.element.typeName())
	}
	for _, col := range members {
		if err := b.bindMember(spec, col, shape, names); err != nil {
			return err
		}
	}
	return b.bindSkeleton(spec, g, shape, want)
}

// bindValues binds a list of plain values.
func (b *binding) bindValues(spec *schemaSpec, g, col int, shape listShape, want Want) error {
	if shape.element.isNull() {
		return b.bindSkeleton(spec, g, shape, want)
	}
	leaf, err := bindLeaf(spec.path(col), shape.element, spec.columns[col].kind)
	if err != nil {
		return err
	}
	leaf.setCodes(shape.code, codeValue)
	b.leaves[col] = leaf
	return b.bindSkeleton(spec, g, shape, want)
}

func (b *binding) bindMember(spec *schemaSpec, col int, shape listShape, names foreignNames) error {
	s, path := &spec.columns[col], spec.path(col)
	n, err := spec.find(shape.element, path, names, s.member, s.aliases)
	if err != nil || n == nil {
		if err == nil && col == tagKey && spec == &rowSpec {
			return columnError(path, "write tags as map<string,string>", "the map has no key")
		}
		return err
	}
	if !s.nested {
		if n.repeated {
			return wrongType(path, n, s.kind.String())
		}
		leaf, err := bindLeaf(path, n, s.kind)
		if err != nil {
			return err
		}
		leaf.setCodes(func(def int) byte {
			if c := shape.code(def); c < codeElement {
				return c
			}
			if def < n.def {
				return codeElement
			}
			return codeValue
		}, codeValue)
		b.leaves[col] = leaf
		return nil
	}
	if n.isNull() {
		return nil
	}
	inner, ok := n.list(func(string) bool { return false })
	if !ok {
		return wrongType(path, n, "list of strings")
	}
	if inner.element.isNull() {
		return columnError(path, "write the column as list<string>", "list without a type")
	}
	leaf, err := bindLeaf(path, inner.element, s.kind)
	if err != nil {
		return err
	}
	leaf.setCodes(func(def int) byte {
		if c := shape.code(def); c < codeElement {
			return c
		}
		switch {
		case def < inner.repeated.def-1:
			return codeElement
		case def < inner.repeated.def:
			return codeValue
		case def < inner.element.def:
			return codeInnerNothing
		}
		return codeInnerValue
	}, codeInnerValue)
	b.leaves[col] = leaf
	return nil
}

// code is the code of a definition level as far as the list itself goes.
func (s listShape) code(def int) byte {
	switch {
	case def < s.repeated.def-1:
		return codeNull
	case def < s.repeated.def:
		return codeEmpty
	case def < s.element.def:
		return codeNothing
	case s.element.isLeaf():
		return codeValue
	}
	return codeElement
}

// bindSkeleton chooses the leaf that gives the group its shape: one of ours if
// there is one, else any leaf of the element.
func (b *binding) bindSkeleton(spec *schemaSpec, g int, shape listShape, want Want) error {
	b.drop(spec, want)
	group := &b.groups[g]
	group.column = -1
	for _, col := range spec.members(g) {
		if leaf := &b.leaves[col]; leaf.leaf >= 0 && !spec.columns[col].nested {
			group.column, group.skeleton = col, *leaf
			return nil
		}
	}
	n := shape.element.anyLeaf(shape.repeated.rep)
	if n == nil {
		return columnError(spec.groups[g], "", "the struct has no plain member")
	}
	group.skeleton = boundLeaf{leaf: n.leaf, null: true, physical: n.elem.Type.V, def: n.def, rep: n.rep}
	group.skeleton.setCodes(shape.code, codeInnerValue)
	return nil
}

// anyLeaf returns a leaf at or below n with that repetition level.
func (n *schemaNode) anyLeaf(rep int) *schemaNode {
	if n.isLeaf() {
		if n.rep == rep {
			return n
		}
		return nil
	}
	for _, c := range n.children {
		if leaf := c.anyLeaf(rep); leaf != nil {
			return leaf
		}
	}
	return nil
}
