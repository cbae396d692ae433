package report

import (
	"fmt"
	"strings"
)

// A HeatMap is a square of values between names that come in pairs. Cells have
// their value as text, so colour only helps.
type HeatMap struct {
	Title, Desc   string
	Width, Height int
	Rows          []HeatName
	Columns       []HeatName
	Cells         []HeatCell
}

// A HeatName is a name at the side of the map.
type HeatName struct {
	Name string
	X, Y int
}

// A HeatCell is the value of two names. Step goes from 0 to 9 with the value.
type HeatCell struct {
	First, Second  string
	X, Y           int
	TextX, TextY   int
	Value, Details string
	Step           int
}

// A pairValue is the value of a pair of names; Value is nil if it is not defined.
type pairValue struct {
	first, second string
	value         *float64
	details       string
}

const (
	heatLeft, heatTop   = 120, 28
	heatWide, heatTall  = 104, 36
	heatName, heatSteps = 15, 10 // characters of a name; steps of colour
)

// heatMap lays out the values of pairs, which are between 0 and 1 or below.
func heatMap(title string, names []string, pairs []pairValue) *HeatMap {
	n := len(names)
	m := &HeatMap{Title: title, Width: heatLeft + n*heatWide, Height: heatTop + n*heatTall}
	place := make(map[string]int, n)
	for k, name := range names {
		place[name] = k
		short := clip(line(name, 80), heatName)
		m.Rows = append(m.Rows, HeatName{short, heatLeft - 8, heatTop + k*heatTall + heatTall/2 + 5})
		m.Columns = append(m.Columns, HeatName{short, heatLeft + k*heatWide + heatWide/2, heatTop - 9})
	}
	var words []string
	for _, p := range pairs {
		i, okFirst := place[p.first]
		j, okSecond := place[p.second]
		if !okFirst || !okSecond {
			continue
		}
		words = append(words, fmt.Sprintf("%s and %s %s", line(p.first, 80), line(p.second, 80), Number(p.value)))
		for _, at := range [][2]int{{i, j}, {j, i}} {
			m.Cells = append(m.Cells, heatCell(p, at[0], at[1]))
		}
	}
	m.Desc = strings.Join(words, "; ") + "."
	return m
}

func heatCell(p pairValue, row, column int) HeatCell {
	c := HeatCell{
		First: line(p.first, 80), Second: line(p.second, 80), X: heatLeft + column*heatWide, Y: heatTop + row*heatTall, Value: Number(p.value), Details: p.details,
	}
	c.TextX, c.TextY = c.X+heatWide/2, c.Y+heatTall/2+5
	if p.value != nil {
		c.Step = min(max(int(*p.value*heatSteps), 0), heatSteps-1)
	}
	return c
}
