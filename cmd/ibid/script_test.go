package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/testscript"

	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/judge/cache"
	"ibid/judge/judgetest"
)

// scriptCommands are our own commands in scripts.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":     scriptExits,
	"schema":    scriptSchema,
	"files":     scriptFiles,
	"same":      scriptSame,
	"flip":      scriptFlip,
	"cut":       scriptCut,
	"encode":    scriptEncode,
	"parquet":   scriptParquet,
	"answers":   scriptAnswers,
	"cached":    scriptCached,
	"service":   scriptService,
	"site":      scriptSite,
	"asked":     scriptAsked,
	"arrow":     scriptArrow,
	"interrupt": scriptInterrupt,
	"resume":    scriptResume,
	"wrong":     scriptWrong,
	"wrongs":    scriptWrongs,
}

// usage stops a script that uses a command wrongly.
func usage(ts *testscript.TestScript, ok bool, text string) {
	if !ok {
		ts.Fatalf("usage: %s", text)
	}
}

// scriptExits runs a command and wants exactly the exit code N.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 2, "exits N command...")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	if got := exitCode(err); got != want {
		ts.Fatalf("exit code %d (%v), want %d", got, err, want)
	}
}

// exitCode is that of a process that ended by itself; -1 stands for every other
// end, a signal included.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// scriptSchema wants JSON with the schema NAME on standard output.
func scriptSchema(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "schema NAME")
	var out struct{ Schema string }
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	ts.Check(d.Decode(&out))
	if out.Schema != args[0] {
		ts.Fatalf("schema is %q, want %q", out.Schema, args[0])
	}
	if _, err := d.Token(); err != io.EOF {
		ts.Fatalf("something follows the JSON: %v", err)
	}
}

// scriptFiles wants a directory to hold exactly the given names, hidden ones
// included. A directory that is not there holds nothing.
func scriptFiles(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 1, "files DIR [NAME...]")
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Fatalf("%v", err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := slices.Sorted(slices.Values(args[1:]))
	if !slices.Equal(got, want) {
		ts.Fatalf("%s holds %q, want %q", args[0], got, want)
	}
}

// scriptSame compares two files byte for byte, or the result files of two run
// directories.
func scriptSame(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2, "[!] same A B")
	a, b := ts.MkAbs(args[0]), ts.MkAbs(args[1])
	info, err := os.Stat(a)
	ts.Check(err)
	pairs := [][2]string{{a, b}}
	if info.IsDir() {
		pairs = nil
		for _, name := range resultFiles {
			if ofTwoAnnotators(name) && missing(filepath.Join(a, name)) && missing(filepath.Join(b, name)) {
				continue
			}
			pairs = append(pairs, [2]string{filepath.Join(a, name), filepath.Join(b, name)})
		}
	}
	for _, p := range pairs {
		x, err := os.ReadFile(p[0])
		ts.Check(err)
		y, err := os.ReadFile(p[1])
		ts.Check(err)
		if bytes.Equal(x, y) == neg {
			ts.Fatalf("%s and %s: same is %t", p[0], p[1], !neg)
		}
	}
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// scriptFlip inverts N bytes of a file from OFFSET on; a negative offset counts
// from the end.
func scriptFlip(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "flip FILE OFFSET N")
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	offset, err := strconv.Atoi(args[1])
	ts.Check(err)
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	if offset < 0 {
		offset += len(data)
	}
	for i := range n {
		data[offset+i] ^= 0xff
	}
	ts.Check(os.WriteFile(path, data, 0o666))
}

// scriptCut keeps only the first N bytes of a file.
func scriptCut(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "cut FILE N")
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// scriptEncode writes a text as UTF-16 with a byte order mark, or lines of EVENT and JSON as the
// messages of a binary event stream, after RFC 2781 and the documentation of the AWS SDKs.
func scriptEncode(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "encode utf16le|utf16be|events FILE TO")
	text := ts.ReadFile(args[1])
	var out []byte
	switch args[0] {
	case "events":
		for line := range strings.Lines(text) {
			kind, payload, _ := strings.Cut(strings.TrimSpace(line), " ")
			out = append(out, eventMessage(kind, payload)...)
		}
	default:
		order := map[string]binary.AppendByteOrder{"utf16le": binary.LittleEndian, "utf16be": binary.BigEndian}[args[0]]
		for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
			out = order.AppendUint16(out, unit)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out, 0o600))
}

// eventMessage is one message of a binary event stream. Its second header has a value that is not
// a string.
func eventMessage(kind, payload string) []byte {
	name := ":event-type"
	if strings.HasSuffix(kind, "Exception") {
		name = ":exception-type"
	}
	headers := fmt.Appendf(nil, "%c%s\x07\x00%c%s\x02no\x04\x00\x00\x00\x07", len(name), name, len(kind), kind)
	message := binary.BigEndian.AppendUint32(nil, uint32(12+len(headers)+len(payload)+4))
	message = binary.BigEndian.AppendUint32(message, uint32(len(headers)))
	message = binary.BigEndian.AppendUint32(message, crc32.ChecksumIEEE(message))
	message = append(append(message, headers...), payload...)
	return binary.BigEndian.AppendUint32(message, crc32.ChecksumIEEE(message))
}

// scriptParquet writes a Parquet file with the columns NAME:KIND. Its rows are
// given as words of comma-separated values, one per column; "-" is null.
func scriptParquet(ts *testscript.TestScript, neg bool, args []string) {
	const form = "parquet FILE NAME:string|int64|double... -- [VALUE,VALUE...]..."
	split := slices.Index(args, "--")
	usage(ts, !neg && split >= 2, form)
	kinds := map[string]parquet.ColumnKind{"string": parquet.String, "int64": parquet.Int64, "double": parquet.Double}
	var fields []parquet.Field
	for _, arg := range args[1:split] {
		name, word, _ := strings.Cut(arg, ":")
		kind, ok := kinds[word]
		usage(ts, ok, form)
		fields = append(fields, parquet.Field{Name: name, Kind: kind})
	}
	table := parquet.NewTable(fields)
	for _, arg := range args[split+1:] {
		values := strings.Split(arg, ",")
		usage(ts, len(values) == len(fields), form)
		for c, v := range values {
			appendValue(ts, table, c, fields[c].Kind, v)
		}
		table.EndRow()
	}
	var encoder parquet.Encoder
	ts.Check(dataset.WriteFile(ts.MkAbs(args[0]), func(w io.Writer) error { return encoder.EncodePart(w, table) }))
}

func appendValue(ts *testscript.TestScript, t *parquet.Table, c int, kind parquet.ColumnKind, text string) {
	switch {
	case text == "-":
	case kind == parquet.Int64:
		v, err := strconv.ParseInt(text, 10, 64)
		ts.Check(err)
		t.At(c).AppendInt(v)
	case kind == parquet.Double:
		v, err := strconv.ParseFloat(text, 64)
		ts.Check(err)
		t.At(c).AppendDouble(v)
	default:
		t.At(c).AppendString(text)
	}
}

// scriptCached puts N answers into the judge cache FILE: answer n came n days
// ago, after one call that had to wait and one that was billed.
func scriptCached(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "cached N FILE")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	store, err := cache.Open(ts.MkAbs(args[1]))
	ts.Check(err)
	ctx := context.Background()
	for i := range n {
		e := cachedAnswer(i)
		e.Created = time.Now().AddDate(0, 0, -i).Add(-time.Hour)
		ts.Check(store.Put(ctx, e))
		ts.Check(store.Record(ctx, cache.Attempt{Key: e.Key, N: 1, HTTPStatus: 429, Class: "flow", Millis: 5, Error: "slow down", At: e.Created, Run: e.Run}))
		ts.Check(store.Record(ctx, cache.Attempt{Key: e.Key, N: 2, HTTPStatus: 200, Class: "ok", Millis: 300, CostNanoUSD: e.CostNanoUSD, At: e.Created, Run: e.Run}))
	}
	ts.Check(store.Close())
}

// cachedAnswer is the answer to request n, as a store has it.
func cachedAnswer(n int) *cache.Entry {
	i := int64(n)
	return &cache.Entry{
		Key: sha256.Sum256(fmt.Append(nil, n)), Status: cache.StatusOK, Verdict: []byte(`{"claims":[]}`), Raw: fmt.Appendf(nil, `{"id":"gen-%d"}`, n),
		ModelRequested: "vendor/asked", ModelResolved: fmt.Sprint("vendor/answered-", n%3), Provider: "Provider",
		PromptTokens: 2100 + i, CompletionTokens: 1500 + i, CostNanoUSD: 1_200_000 + i, LatencyMillis: 300, Attempts: 2, Run: "run-1",
	}
}

// scriptService starts a service that judges; the environment says where it is
// and has its key. It takes batches if it is told to.
func scriptService(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && (len(args) == 0 || args[0] == "batches"), "service [batches]")
	config := judgetest.ServerConfig{}
	if len(args) > 0 {
		config.Batches = &judgetest.BatchConfig{}
	}
	server := judgetest.NewServer(config)
	ts.Defer(server.Close)
	ts.Setenv("IBID_JUDGE__BASE_URL", server.URL())
	ts.Setenv("OPENROUTER_API_KEY", judgetest.DefaultKey)
}

// scriptAnswers writes a dataset of N rows, of which a run makes several parts.
func scriptAnswers(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "answers N FILE")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(writeAnswers(ts.MkAbs(args[1]), n))
}
