package dataset

import (
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// The layouts that writers have used for lists, as parquet-go structs: a slice
// without a tag is a repeated field.

type layoutCitation struct {
	Doc   *string `parquet:"doc,optional"`
	Start *int64  `parquet:"start,optional"`
	Page  *int32  `parquet:"page,optional"`
}

type layoutKeys struct {
	ID     string `parquet:"id"`
	Query  string `parquet:"query"`
	Answer string `parquet:"answer"`
}

type standardLayout struct {
	layoutKeys
	Citations []*layoutCitation `parquet:"citations,optional,list"`
}

type requiredListLayout struct {
	layoutKeys
	Citations []layoutCitation `parquet:"citations,list"`
}

type itemLayout struct {
	layoutKeys
	Citations *struct {
		List []struct {
			Item *layoutCitation `parquet:"item,optional"`
		} `parquet:"list"`
	} `parquet:"citations,optional"`
}

type bagLayout struct {
	layoutKeys
	Citations *struct {
		Bag []struct {
			Element *layoutCitation `parquet:"array_element,optional"`
		} `parquet:"bag"`
	} `parquet:"citations,optional"`
}

type arrayLayout struct {
	layoutKeys
	Citations *struct {
		Array []layoutCitation `parquet:"array"`
	} `parquet:"citations,optional"`
}

type tupleLayout struct {
	layoutKeys
	Citations *struct {
		Tuple []layoutCitation `parquet:"citations_tuple"`
	} `parquet:"citations,optional"`
}

type repeatedLayout struct {
	layoutKeys
	Citations []layoutCitation `parquet:"citations"`
}

// singleLayout is a struct of one member in two levels: not a wrapper.
type singleLayout struct {
	layoutKeys
	Citations *struct {
		Element []struct {
			Doc *string `parquet:"doc,optional"`
		} `parquet:"element"`
	} `parquet:"citations,optional"`
}

type requiredMembersLayout struct {
	layoutKeys
	Citations []struct {
		Doc   string `parquet:"doc"`
		Start int32  `parquet:"start"`
		Page  int64  `parquet:"page"`
	} `parquet:"citations,optional,list"`
}

type foreignMembersLayout struct {
	layoutKeys
	Citations []struct {
		Nested []struct {
			Deep []int32 `parquet:"deep,list"`
		} `parquet:"nested,list"`
		Other string `parquet:"other"`
	} `parquet:"citations,optional,list"`
}

func writeFile[T any](t testing.TB, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquet.WriteFile(path, rows, options...); err != nil {
		t.Fatal(err)
	}
	return path
}

func ptr[T any](v T) *T { return &v }

// keys are the plain columns of row i.
func keys(i int) layoutKeys {
	return layoutKeys{ID: string(rune('a' + i)), Query: "q", Answer: "x"}
}

func TestListLayouts(t *testing.T) {
	full := layoutCitation{Doc: ptr("d"), Start: ptr(int64(0)), Page: ptr(int32(3))}
	none := layoutCitation{}
	const null, empty, two, hole = "null", "[]", `[{d 0 3} {null}]`, `[{null} {d 0 3}]: citations: element 0: null instead of an element`
	type (
		item = struct {
			Item *layoutCitation `parquet:"item,optional"`
		}
		bag = struct {
			Element *layoutCitation `parquet:"array_element,optional"`
		}
		itemList = struct {
			List []item `parquet:"list"`
		}
		bagList = struct {
			Bag []bag `parquet:"bag"`
		}
		array = struct {
			Array []layoutCitation `parquet:"array"`
		}
		tuple = struct {
			Tuple []layoutCitation `parquet:"citations_tuple"`
		}
		docOnly = struct {
			Doc *string `parquet:"doc,optional"`
		}
		single = struct {
			Element []docOnly `parquet:"element"`
		}
	)
	tests := []struct {
		name string
		path string
		want []string
	}{
		{"list.element", writeFile(t, []standardLayout{
			{keys(0), nil}, {keys(1), []*layoutCitation{}}, {keys(2), []*layoutCitation{&full, &none}},
		}), []string{null, empty, two}},
		{"required list", writeFile(t, []requiredListLayout{
			{keys(0), nil}, {keys(1), []layoutCitation{full, none}},
		}), []string{empty, two}},
		{"list.item", writeFile(t, []itemLayout{
			{keys(0), nil}, {keys(1), &itemList{}}, {keys(2), &itemList{[]item{{&full}, {&none}}}}, {keys(3), &itemList{[]item{{nil}, {&full}}}},
		}), []string{null, empty, two, hole}},
		{"bag.array_element", writeFile(t, []bagLayout{
			{keys(0), nil}, {keys(1), &bagList{}}, {keys(2), &bagList{[]bag{{&full}, {&none}}}}, {keys(3), &bagList{[]bag{{nil}, {&full}}}},
		}), []string{null, empty, two, hole}},
		{"two levels, array", writeFile(t, []arrayLayout{
			{keys(0), nil}, {keys(1), &array{}}, {keys(2), &array{[]layoutCitation{full, none}}},
		}), []string{null, empty, two}},
		{"two levels, tuple", writeFile(t, []tupleLayout{
			{keys(0), nil}, {keys(1), &tuple{}}, {keys(2), &tuple{[]layoutCitation{full, none}}},
		}), []string{null, empty, two}},
		{"repeated field", writeFile(t, []repeatedLayout{
			{keys(0), nil}, {keys(1), []layoutCitation{full, none}},
		}), []string{empty, two}},
		{"two levels, one member", writeFile(t, []singleLayout{
			{keys(0), nil}, {keys(1), &single{}}, {keys(2), &single{[]docOnly{{ptr("d")}, {nil}}}},
		}), []string{null, empty, "[{d} {null}]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := readRows(t, open(t, tt.path, ReadOptions{}), 2)
			if len(rows) != len(tt.want) {
				t.Fatalf("%d rows, want %d", len(rows), len(tt.want))
			}
			for i := range rows {
				if got := citationText(&rows[i]); got != tt.want[i] {
					t.Errorf("row %d: %s, want %s", i, got, tt.want[i])
				}
			}
		})
	}
}

func TestMembers(t *testing.T) {
	t.Run("required, other widths", func(t *testing.T) {
		row := requiredMembersLayout{layoutKeys: keys(0)}
		row.Citations = append(row.Citations, struct {
			Doc   string `parquet:"doc"`
			Start int32  `parquet:"start"`
			Page  int64  `parquet:"page"`
		}{"d", 4, 1 << 40})
		rows := readRows(t, open(t, writeFile(t, []requiredMembersLayout{row}), ReadOptions{}), 9)
		if got, want := citationText(&rows[0]), "[{d 4}]: citations.page: element 0: page number out of range"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
	t.Run("none that is known", func(t *testing.T) {
		rows := []foreignMembersLayout{{layoutKeys: keys(0)}, {layoutKeys: keys(1)}}
		rows[1].Citations = make([]struct {
			Nested []struct {
				Deep []int32 `parquet:"deep,list"`
			} `parquet:"nested,list"`
			Other string `parquet:"other"`
		}, 2)
		got := readRows(t, open(t, writeFile(t, rows), ReadOptions{}), 9)
		if a, b := citationText(&got[0]), citationText(&got[1]); a != "null" || b != "[{null} {null}]" {
			t.Errorf("%s and %s, want null and [{null} {null}]", a, b)
		}
	})
}
