package convert

import "strconv"

// number consumes a number and returns its text, a part of j's.
func (j *jsonReader) number() []byte {
	if !j.want("a number") {
		return nil
	}
	start := j.pos
	if j.data[j.pos] == '-' {
		j.pos++
	}
	if j.pos < len(j.data) && j.data[j.pos] == '0' {
		j.pos++
	} else if !j.digits() {
		return nil
	}
	if j.pos < len(j.data) && j.data[j.pos] == '.' {
		j.pos++
		if !j.digits() {
			return nil
		}
	}
	if j.pos < len(j.data) && (j.data[j.pos] == 'e' || j.data[j.pos] == 'E') {
		j.pos++
		if j.pos < len(j.data) && (j.data[j.pos] == '+' || j.data[j.pos] == '-') {
			j.pos++
		}
		if !j.digits() {
			return nil
		}
	}
	return j.data[start:j.pos]
}

// digits consumes one or more.
func (j *jsonReader) digits() bool {
	start := j.pos
	for j.pos < len(j.data) && '0' <= j.data[j.pos] && j.data[j.pos] <= '9' {
		j.pos++
	}
	if j.pos == start {
		j.unexpected("a digit")
	}
	return j.pos > start
}

// integer consumes a number without fraction or exponent of at most bits bits.
func (j *jsonReader) integer(bits int) int64 {
	if j.err == nil && j.kind() != "a number" {
		j.want("an integer")
		return 0
	}
	start := j.pos
	text := j.number()
	if j.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(string(text), 10, bits)
	if err != nil {
		j.fail(start, "want an integer of %d bits, got %s", bits, shorten(string(text), 40))
	}
	return n
}

// float consumes a number that a double can hold.
func (j *jsonReader) float() float64 {
	start := j.pos
	text := j.number()
	if j.err != nil {
		return 0
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		j.fail(start, "%s is out of range", shorten(string(text), 40))
		return 0
	}
	return f
}
