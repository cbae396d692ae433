//go:build unix

package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A mutant is one change of one place. All mutants of a package are in one build,
// where the environment says which is on: a place calls a function of switch.go.txt
// with the number of its mutant.
type mutant struct {
	id       int
	file     string // below the root of the module
	function string // Name, Type.Name, or "" outside of functions
	line     int
	change   string // "a < b -> a <= b"; "#2" follows where a function has it twice
	lo, hi   int    // offsets of what is changed
	bad      bool   // it does not compile
}

// key names a mutant in the list of equivalent ones. It has no line, which every edit moves.
func (m *mutant) key() string { return m.file + ":" + m.function + ": " + m.change }

// An edit inserts text, or replaces an operator, in the source of a file. The edit that
// ends what another began follows it.
type edit struct {
	at, end int // what is replaced, nothing if at == end
	text    string
	opens   bool      // it begins what ends at other
	other   int       // 0 of an operator
	mutants []*mutant // that need this edit; it is made if one of them compiles
}

// A mutator finds the mutants of one file.
type mutator struct {
	fset     *token.FileSet
	info     *types.Info
	pkg      *types.Package
	file     *ast.File
	name     string
	src      string
	function string
	next     *int // number of the next mutant of the package
	mutants  []*mutant
	edits    []edit
	path     []ast.Node
	fixed    map[ast.Node]bool // what must stay constant
}

func (m *mutator) run() {
	m.fixed = make(map[ast.Node]bool)
	ast.PreorderStack(m.file, nil, func(n ast.Node, stack []ast.Node) bool {
		m.path = stack
		if len(stack) == 1 {
			m.function = ""
		}
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Comment, *ast.CommentGroup:
			return false
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.FuncDecl:
			m.function = name(n)
		case *ast.Field:
			return false // of a signature or a struct: no statement is in it
		case *ast.ArrayType:
			return false
		case *ast.CompositeLit:
			m.composite(n)
		case *ast.CaseClause:
			m.caseClause(n)
		}
		if e, is := n.(ast.Expr); is {
			if m.fixed[n] {
				return false
			}
			if m.constant(e) {
				return false
			}
			m.condition(e)
		}
		m.node(n)
		return true
	})
}

func name(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// composite keeps the keys of arrays and slices, which the language wants constant, and
// names of fields.
func (m *mutator) composite(n *ast.CompositeLit) {
	if _, is := m.info.TypeOf(n).Underlying().(*types.Map); is {
		return
	}
	for _, e := range n.Elts {
		if kv, is := e.(*ast.KeyValueExpr); is {
			m.fixed[kv.Key] = true
		}
	}
}

// caseClause keeps the types of a type switch.
func (m *mutator) caseClause(n *ast.CaseClause) {
	for _, e := range n.List {
		if m.info.Types[e].IsType() || m.info.Types[e].IsNil() {
			m.fixed[e] = true
		}
	}
}

func (m *mutator) offset(p token.Pos) int { return m.fset.Position(p).Offset }

func (m *mutator) text(n ast.Node) string { return m.src[m.offset(n.Pos()):m.offset(n.End())] }

// add makes a mutant of the node n, whose source becomes what to says.
func (m *mutator) add(n ast.Node, to string) *mutant {
	at := m.fset.Position(n.Pos())
	mu := &mutant{
		id: *m.next, file: m.name, function: m.function, line: at.Line,
		change: short(m.text(n)) + " -> " + short(to), lo: at.Offset, hi: m.offset(n.End()),
	}
	*m.next++
	m.mutants = append(m.mutants, mu)
	return mu
}

// short is source on one line.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 100 {
		return string(r[:60]) + " ... " + string(r[len(r)-35:])
	}
	return s
}

// wrap puts n between before and after.
func (m *mutator) wrap(n ast.Node, before, after string, of ...*mutant) {
	lo, hi := m.offset(n.Pos()), m.offset(n.End())
	m.edits = append(m.edits,
		edit{at: lo, end: lo, text: before, opens: true, other: hi, mutants: of},
		edit{at: hi, end: hi, text: after, other: lo, mutants: of})
}

// call makes a call of function out of the binary expression n.
func (m *mutator) call(n *ast.BinaryExpr, function string, of ...*mutant) {
	m.wrap(n, fmt.Sprintf("%s(%d, ", function, of[0].id), ")", of...)
	at := m.offset(n.OpPos)
	m.edits = append(m.edits, edit{at: at, end: at + len(n.Op.String()), text: ",", mutants: of})
}

// typeName is how the file spells t, or "" if it cannot.
func (m *mutator) typeName(t types.Type) string {
	known := true
	s := types.TypeString(t, func(p *types.Package) string {
		if p == m.pkg {
			return ""
		}
		for _, i := range m.file.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); path == p.Path() {
				if i.Name != nil {
					return i.Name.Name
				}
				return p.Name()
			}
		}
		known = false
		return p.Name()
	})
	if !known {
		return ""
	}
	return s
}

func basic(t types.Type, of types.BasicInfo) bool {
	b, is := t.Underlying().(*types.Basic)
	return is && b.Info()&of != 0
}

// constant mutates an expression of constant value. It is true for those, whose parts are
// left alone.
func (m *mutator) constant(e ast.Expr) bool {
	tv := m.info.Types[e]
	if tv.Value == nil {
		return false
	}
	t := types.Default(tv.Type)
	switch {
	case basic(t, types.IsBoolean):
		mu := m.add(e, "!"+m.text(e))
		m.wrap(e, fmt.Sprintf("muNot(%d, ", mu.id), ")", mu)
	case basic(t, types.IsInteger|types.IsFloat):
		spelt := m.typeName(t)
		if spelt == "" {
			break
		}
		to := m.text(e) + "+1"
		if tv.Value.Kind() == constant.Int {
			if n, exact := constant.Int64Val(tv.Value); exact {
				to = strconv.FormatInt(n+1, 10)
			}
		}
		mu := m.add(e, to)
		m.wrap(e, fmt.Sprintf("muNext(%d, %s(", mu.id, spelt), "))", mu)
	}
	return true
}

// condition negates what decides, where it is no comparison: those are changed as such.
func (m *mutator) condition(e ast.Expr) {
	decides := false
	switch p := m.parent(); p := p.(type) {
	case *ast.IfStmt:
		decides = p.Cond == e
	case *ast.ForStmt:
		decides = p.Cond == e
	case *ast.BinaryExpr:
		decides = p.Op == token.LAND || p.Op == token.LOR
	case *ast.UnaryExpr:
		decides = p.Op == token.NOT
	case *ast.CaseClause:
		decides = slices.Contains(p.List, e) && m.info.Types[e].Type != nil && basic(m.info.Types[e].Type, types.IsBoolean)
	}
	if !decides {
		return
	}
	switch x := e.(type) {
	case *ast.ParenExpr, *ast.BinaryExpr:
		return
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return
		}
	}
	mu := m.add(e, "!"+m.text(e))
	m.wrap(e, fmt.Sprintf("muNot(%d, ", mu.id), ")", mu)
}

func (m *mutator) parent() ast.Node {
	if len(m.path) == 0 {
		return nil
	}
	return m.path[len(m.path)-1]
}

func (m *mutator) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		m.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.SUB {
			mu := m.add(n, m.text(n.X))
			m.wrap(n.X, fmt.Sprintf("muMinus(%d, ", mu.id), ")", mu)
		}
	case *ast.CallExpr:
		m.arguments(n)
	case *ast.IndexExpr:
		m.index(n)
	case *ast.AssignStmt:
		m.assign(n)
	case *ast.IncDecStmt:
		m.count(n)
	case *ast.ExprStmt:
		m.drop(n)
	case *ast.SendStmt:
		m.drop(n)
	case *ast.DeferStmt:
		m.drop(n)
	case *ast.BranchStmt:
		m.branch(n)
	case *ast.ReturnStmt:
		m.leave(n)
	}
}

func (m *mutator) binary(n *ast.BinaryExpr) {
	x, y := m.text(n.X), m.text(n.Y)
	as := func(op string) *mutant { return m.add(n, x+" "+op+" "+y) }
	t := m.info.TypeOf(n.X)
	switch n.Op {
	case token.LSS:
		m.call(n, "muLess", as("<="), as(">="))
	case token.LEQ:
		m.call(n, "muLessEqual", as("<"), as(">"))
	case token.GTR:
		m.call(n, "muMore", as(">="), as("<="))
	case token.GEQ:
		m.call(n, "muMoreEqual", as(">"), as("<"))
	case token.EQL, token.NEQ:
		to := "!="
		if n.Op == token.NEQ {
			to = "=="
		}
		mu := as(to)
		m.wrap(n, fmt.Sprintf("muNot(%d, ", mu.id), ")", mu)
	case token.LAND, token.LOR:
		to := "||"
		if n.Op == token.LOR {
			to = "&&"
		}
		// a || b is !(!a && !b)
		mu := as(to)
		before := fmt.Sprintf("muNot(%d, ", mu.id)
		m.wrap(n, before, ")", mu)
		m.wrap(n.X, before, ")", mu)
		m.wrap(n.Y, before, ")", mu)
	}
	if !basic(t, types.IsNumeric) {
		return
	}
	switch n.Op {
	case token.ADD:
		m.call(n, "muAdd", as("-"), m.add(n, x))
	case token.SUB:
		m.call(n, "muSub", as("+"), m.add(n, x))
	case token.MUL:
		m.call(n, "muMul", as("/"))
	case token.QUO:
		m.call(n, "muDiv", as("*"))
	case token.REM:
		m.call(n, "muRem", as("*"))
	case token.AND:
		m.call(n, "muAnd", as("|"))
	case token.OR:
		m.call(n, "muOr", as("&"))
	}
}

// arguments swaps two neighbours of one type, and min for max.
func (m *mutator) arguments(n *ast.CallExpr) {
	if id, is := n.Fun.(*ast.Ident); is && (id.Name == "min" || id.Name == "max") {
		if _, is := m.info.Uses[id].(*types.Builtin); is {
			to, function := "max", "muMin"
			if id.Name == "max" {
				to, function = "min", "muMax"
			}
			mu := m.add(n, to+m.src[m.offset(n.Lparen):m.offset(n.End())])
			at := m.offset(n.Lparen)
			m.wrap(n, fmt.Sprintf("%s(%d, ", function, mu.id), "", mu)
			m.edits[len(m.edits)-2].end = at + 1
			return
		}
	}
	if slices.Contains(symmetric, m.text(n.Fun)) {
		return
	}
	if m.info.Types[n.Fun].IsBuiltin() || m.info.Types[n.Fun].IsType() {
		return
	}
	for i := 0; i+1 < len(n.Args); i++ {
		a, b := n.Args[i], n.Args[i+1]
		ta, tb := m.info.Types[a], m.info.Types[b]
		if ta.Type == nil || tb.Type == nil || !types.Identical(ta.Type, tb.Type) || ta.IsNil() || !pure(a) || !pure(b) || m.text(a) == m.text(b) {
			continue
		}
		args := make([]string, len(n.Args))
		for j, arg := range n.Args {
			args[j] = m.text(arg)
		}
		args[i], args[i+1] = args[i+1], args[i]
		mu := m.add(n, m.text(n.Fun)+"("+strings.Join(args, ", ")+")")
		m.wrap(a, fmt.Sprintf("muPick(%d, ", mu.id), ", "+m.text(b)+")", mu)
		m.wrap(b, fmt.Sprintf("muPick(%d, ", mu.id), ", "+m.text(a)+")", mu)
		i++ // a third would be wrapped twice
	}
}

// symmetric are functions whose first two arguments say the same in both orders.
var symmetric = []string{"bits.Add64", "bits.Mul64", "math.Hypot", "strings.EqualFold"}

// pure is whether an expression may be evaluated twice.
func pure(e ast.Expr) bool {
	is := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			id, plain := n.Fun.(*ast.Ident)
			is = is && plain && (id.Name == "len" || id.Name == "cap")
		case *ast.FuncLit, *ast.CompositeLit:
			is = false
		case *ast.UnaryExpr:
			is = is && n.Op != token.ARROW && n.Op != token.AND
		}
		return is
	})
	return is
}

// index takes the last for the first, and the first for the last.
func (m *mutator) index(n *ast.IndexExpr) {
	t := m.info.TypeOf(n.X)
	if t == nil || !pure(n.X) {
		return
	}
	if _, is := t.Underlying().(*types.Slice); !is && !basic(t, types.IsString) {
		return
	}
	x, of := m.text(n.X), short(m.text(n.Index))
	to := ""
	switch of {
	case "0":
		to = "len(" + x + ")-1"
	case "len(" + x + ")-1":
		to = "0"
	default:
		return
	}
	mu := m.add(n, x+"["+to+"]")
	m.wrap(n.Index, fmt.Sprintf("muPick(%d, ", mu.id), ", "+to+")", mu)
}

func (m *mutator) assign(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE {
		return
	}
	if (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) && basic(m.info.TypeOf(n.Lhs[0]), types.IsNumeric) {
		to := "-="
		if n.Tok == token.SUB_ASSIGN {
			to = "+="
		}
		mu := m.add(n, m.text(n.Lhs[0])+" "+to+" "+m.text(n.Rhs[0]))
		before := fmt.Sprintf("muMinus(%d, ", mu.id)
		after := ")"
		if m.info.Types[n.Rhs[0]].Value != nil { // of a type that only the left side tells
			spelt := m.typeName(m.info.TypeOf(n.Lhs[0]))
			if spelt == "" {
				mu.bad = true
			}
			before, after = before+spelt+"(", "))"
		}
		m.wrap(n.Rhs[0], before, after, mu)
	}
	m.drop(n)
}

// count turns x++ into x--.
func (m *mutator) count(n *ast.IncDecStmt) {
	spelt := m.typeName(m.info.TypeOf(n.X))
	if spelt != "" {
		op, to := "+=", "--"
		if n.Tok == token.DEC {
			op, to = "-=", "++"
		}
		mu := m.add(n, m.text(n.X)+to)
		at := m.offset(n.TokPos)
		m.edits = append(m.edits, edit{at: at, end: at + 2, text: fmt.Sprintf(" %s muMinus(%d, %s(1))", op, mu.id, spelt), mutants: []*mutant{mu}})
	}
	m.drop(n)
}

// drop leaves a statement out.
func (m *mutator) drop(n ast.Stmt) {
	switch m.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
	default:
		return
	}
	if c, is := m.parent().(*ast.CommClause); is && c.Comm == n {
		return
	}
	if strings.HasPrefix(m.text(n), "panic(") && !m.escapes() {
		return // the end of a function that has a result
	}
	mu := m.add(n, "nothing")
	m.wrap(n, fmt.Sprintf("if !muOn(%d) { ", mu.id), " }", mu)
}

// branch drops continue and break, and takes one for the other.
func (m *mutator) branch(n *ast.BranchStmt) {
	if n.Tok != token.BREAK && n.Tok != token.CONTINUE {
		return
	}
	to := "break"
	if n.Tok == token.BREAK {
		to = "continue"
	}
	if n.Label != nil {
		to += " " + n.Label.Name
	}
	if n.Tok == token.BREAK || !m.endless() {
		mu := m.add(n, to)
		m.wrap(n, fmt.Sprintf("if muOn(%d) { %s }; ", mu.id, to), "", mu)
	}
	if m.escapes() {
		m.drop(n)
	}
}

// endless is whether the innermost loop has no condition: the function may end with it, and
// could not if something broke out.
func (m *mutator) endless() bool {
	for _, n := range slices.Backward(m.path) {
		switch n := n.(type) {
		case *ast.ForStmt:
			return n.Cond == nil
		case *ast.RangeStmt:
			return false
		}
	}
	return false
}

// leave drops a return where the function goes on without it.
func (m *mutator) leave(n *ast.ReturnStmt) {
	if m.escapes() {
		m.drop(n)
	}
}

// escapes is whether the statement is in the body of an if without else, so that what
// follows may follow.
func (m *mutator) escapes() bool {
	if len(m.path) < 3 {
		return false
	}
	body, is := m.path[len(m.path)-1].(*ast.BlockStmt)
	if !is {
		return false
	}
	condition, is := m.path[len(m.path)-2].(*ast.IfStmt)
	if !is || condition.Body != body || condition.Else != nil {
		return false
	}
	outer, is := m.path[len(m.path)-3].(*ast.IfStmt)
	return !is || outer.Else != condition
}
