package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"

	"ibid/dataset"
	"ibid/metrics/claims"
	"ibid/metrics/token"
)

// A placedError is what a program finds wrong with a record: at a member of an object or an
// element of a list, or at the value itself if there is neither.
type placedError struct {
	in  any // as it is in the record
	at  any // a name, an index, or nil
	msg string
}

func (e *placedError) Error() string { return e.msg }

// badElement is the member of what a program gives in place of a citation that it could not
// make: the reason.
const badElement = "$bad"

// Value is what catch of a program gets.
func (e *placedError) Value() any { return map[string]any{badElement: e} }

// kindOfTree names the type of a value.
func kindOfTree(v any) string {
	switch v.(type) {
	case map[string]any:
		return anObject
	case []any:
		return aList
	case string:
		return aString
	case bool:
		return aBoolean
	case nil:
		return aNull
	}
	return aNumber
}

// membersHelpers are the functions of programs that return a member, by their names: what
// kind it must be of. Each has a twin with need_ before its name, whose member must be given.
var memberHelpers = map[string]func(v any) (out any, want string){
	"str":  ofKind(aString),
	"num":  ofKind(aNumber),
	"int":  wholeNumber,
	"bool": ofKind(aBoolean),
	"obj":  ofKind(anObject),
	"list": ofKind(aList),
	"id":   label,
}

func ofKind(kind string) func(any) (any, string) {
	return func(v any) (any, string) {
		if kindOfTree(v) != kind {
			return nil, kind
		}
		return v, ""
	}
}

// wholeNumber is an integer of 64 bits.
func wholeNumber(v any) (any, string) {
	switch n := v.(type) {
	case int:
		return n, ""
	case json.Number:
		if whole, ok := dataset.WholeNumber(string(n)); ok {
			return int(whole), ""
		}
		return nil, "an integer of 64 bits"
	case float64:
		if n == math.Trunc(n) && math.Abs(n) <= 1<<53 {
			return int(n), ""
		}
		return nil, "an integer of 64 bits"
	case *big.Int:
		return nil, "an integer of 64 bits"
	}
	return nil, aNumber
}

// label is a string or a number as text: ids are either.
func label(v any) (any, string) {
	switch n := v.(type) {
	case string:
		return n, ""
	case int:
		return strconv.Itoa(n), ""
	case json.Number:
		return numberLabel(string(n)), ""
	}
	return nil, aString
}

// numberLabel is a number as the text of an id: 12.0 is what is left of 12 in a column of doubles.
func numberLabel(literal string) string {
	if whole, ok := dataset.WholeNumber(literal); ok {
		return strconv.FormatInt(whole, 10)
	}
	return literal
}

// wrongKind says what a value should be, and what it is.
func wrongKind(want string, v any) string {
	got := kindOfTree(v)
	if got == aNumber && strings.HasSuffix(want, "bits") {
		got = shorten(fmt.Sprint(v), 40)
	}
	return "want " + want + ", got " + got
}

// snakeCase is aName as a_name: libraries in Python save members so.
func snakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// memberOf is a member of the object that a program looks at, under its name or the same
// with underscores.
func memberOf(in any, arg any, required bool, as func(any) (any, string)) any {
	name, ok := arg.(string)
	o, isObject := in.(map[string]any)
	switch {
	case !ok:
		return errors.New("the name of a member must be a string")
	case !isObject:
		return &placedError{in: in, msg: wrongKind(anObject, in)}
	}
	v, there := o[name]
	if v == nil {
		if alt := snakeCase(name); alt != name && o[alt] != nil {
			name, v = alt, o[alt]
		}
	}
	switch {
	case v == nil && required && there:
		return &placedError{o, name, "null, but it must be given"}
	case v == nil && required:
		return &placedError{o, name, "missing"}
	case v == nil:
		return nil
	}
	out, want := as(v)
	if want != "" {
		return &placedError{o, name, wrongKind(want, v)}
	}
	return out
}

// programFunctions are the functions in Go that programs have.
func programFunctions() []gojq.CompilerOption {
	anything := func(v any) (any, string) { return v, "" }
	all := []gojq.CompilerOption{
		gojq.WithVariables([]string{"$__record", "$__number", "$__stem", "$__surveyed"}),
		gojq.WithFunction("need", 1, 1, func(in any, args []any) any { return memberOf(in, args[0], true, anything) }),
		gojq.WithFunction("_elements", 3, 3, elementsOf),
		gojq.WithFunction("bad", 2, 2, func(in any, args []any) any { return &placedError{in, args[0], fmt.Sprint(args[1])} }),
		gojq.WithFunction("bad", 1, 1, func(in any, args []any) any { return &placedError{in: in, msg: fmt.Sprint(args[0])} }),
		gojq.WithFunction("_raw", 1, 1, func(in any, args []any) any { return args[0].(*programRecord).raw(in) }),
		gojq.WithFunction("_record", 1, 1, func(_ any, args []any) any {
			return args[0].(*programRecord).pieces[0].tree
		}),
		gojq.WithFunction("_entries", 1, 1, entriesInOrder),
		gojq.WithFunction("stands", 3, 3, func(in any, args []any) any { return stands(in, args[0], args[1], args[2]) }),
		gojq.WithFunction("once", 1, 1, func(in any, args []any) any {
			text, _ := in.(string)
			part, _ := args[0].(string)
			if at := claims.Once(text, part); at.Known() {
				return map[string]any{"start": int(at.Start.Value), "end": int(at.End.Value)}
			}
			return nil
		}),
		gojq.WithFunction("one_of", 2, 2, func(in any, args []any) any {
			v := memberOf(in, args[0], false, memberHelpers["str"])
			if s, ok := v.(string); ok && !slices.Contains(args[1].([]any), v) {
				var values []string
				for _, value := range args[1].([]any) {
					values = append(values, value.(string))
				}
				return &placedError{in, args[0], unknownValue(s, values)}
			}
			return v
		}),
		gojq.WithFunction("is_row", 0, 0, func(in any, _ []any) any {
			if kindOfTree(in) != anObject {
				return false
			}
			o := new(jsonText).open([]byte(programJSON(in)))
			return o != nil && (isOurs(o) || fitsLoosely(o))
		}),
		gojq.WithFunction("quoted", 0, 0, func(in any, _ []any) any {
			if s, ok := in.(string); ok {
				return quoted(s)
			}
			return quoted(programJSON(in))
		}),
	}
	for name, as := range memberHelpers {
		all = append(all,
			gojq.WithFunction(name, 1, 1, func(in any, args []any) any { return memberOf(in, args[0], false, as) }),
			gojq.WithFunction("need_"+name, 1, 1, func(in any, args []any) any { return memberOf(in, args[0], true, as) }))
	}
	return all
}

// elementsOf are the elements of a list, none if it is null or absent, all of which must be
// of a kind: the function of the record, the name of the list and the kind.
func elementsOf(in any, args []any) any {
	name, kind := args[1], args[2].(string)
	v := memberOf(in, name, false, memberHelpers["list"])
	list, ok := v.([]any)
	if !ok {
		if v == nil {
			return []any{}
		}
		return v // an error
	}
	if most := mostElements * max(args[0].(*programRecord).limits, 1); len(list) > most {
		return &placedError{in, name, fmt.Sprintf("limits: more than %d elements", most)}
	}
	for i, e := range list {
		if kindOfTree(e) != kind {
			return &placedError{list, i, wrongKind(kind, e)}
		}
	}
	return list
}

// entriesInOrder is to_entries in the order of the record: objects of jq have none.
func entriesInOrder(in any, args []any) any {
	o, ok := in.(map[string]any)
	if !ok {
		return &placedError{in: in, msg: wrongKind(anObject, in)}
	}
	p, found := args[0].(*programRecord).find(o)
	if !found {
		return errors.New("entries: the object is none of the record")
	}
	list := []any{}
	eachChild(p.piece.data, p.start, func(_ int, literal []byte, at int) int {
		name := unquoted(literal)
		list = append(list, map[string]any{"key": name, "value": o[name]})
		return valueEnd(p.piece.data, at)
	})
	return list
}

// stands reports whether a quote stands in a text at offsets in code points or UTF-16 units.
func stands(in, quoted, start, end any) bool {
	text, _ := in.(string)
	q := quote{}
	q.text, _ = quoted.(string)
	from, _ := start.(int)
	to, _ := end.(int)
	q.start, q.end = int64(from), int64(to)
	if !isQuote(q.text) {
		return false
	}
	counted := token.NewText(text)
	for _, unit := range []token.Unit{token.CodePoint, token.UTF16} {
		lo, hi, ok := q.span(counted, Reading{Unit: unit})
		if ok && (q.is(counted.Slice(lo, hi)) || unit == token.CodePoint && q.isLike(counted.Slice(lo, hi))) {
			return true
		}
	}
	return false
}

// programJSON is a value as compact JSON.
func programJSON(v any) string {
	b, err := gojq.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
