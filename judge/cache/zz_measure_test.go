package cache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestMeasureStore(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	path := filepath.Join(os.Getenv("D"), "s.sqlite")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	key := func(i int) (k Key) { var b [8]byte; binary.LittleEndian.PutUint64(b[:], uint64(i)); return sha256.Sum256(b[:]) }
	verdict := []byte(`{"claims":[` + strings.Repeat(`{"claim":0,"joint":{"support":1,"why":"the cited words say so"},"checks":[{"evidence":0,"support":1,"quote":"opened in 1931 after two years of work"}]},`, 2) + `{}]}`)
	raw := []byte(strings.Repeat("x", 700))
	t0, c0 := time.Now(), cpu()
	conn := s.writer.conn
	for i := 0; i < n; {
		if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil { t.Fatal(err) }
		st, err := conn.PrepareContext(ctx, "INSERT INTO entry (key, created,status,model_requested,model_resolved,provider,generation_id,template,schema,finish_reason,prompt_tokens,completion_tokens,reasoning_tokens,cached_tokens,cost_nano_usd,latency_ms,attempts,run,crc32c,verdict,raw,sent) VALUES (?,1,'ok','m','m','p','gen-12345678','t','s','stop',900,120,0,0,12345,800,1,'run-1',?,?,?,'')")
		if err != nil { t.Fatal(err) }
		for end := min(n, i+100000); i < end; i++ {
			k := key(i)
			if _, err := st.ExecContext(ctx, k[:], 0, verdict, raw); err != nil { t.Fatal(err) }
		}
		st.Close()
		if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil { t.Fatal(err) }
		if i%1000000 == 0 { fmt.Println(i, time.Since(t0), cpu()-c0) }
	}
	rs, err := s.reader.PrepareContext(ctx, "SELECT verdict, status FROM entry WHERE key = ?")
	if err != nil { t.Fatal(err) }
	for _, m := range []int{200000} {
		t0, c0 = time.Now(), cpu()
		for j := range m {
			k := key(j * (n/m))
			var v []byte; var status string
			if err := rs.QueryRowContext(ctx, k[:]).Scan(&v, &status); err != nil { t.Fatal(err) }
		}
		fmt.Println("two columns, per answer", time.Since(t0)/time.Duration(m), (cpu()-c0)/time.Duration(m))
		t0, c0 = time.Now(), cpu()
		for j := range m {
			k := key(j*(n/m) + 1)
			if _, err := s.Get(ctx, k); err != nil && !strings.Contains(err.Error(), "crc") && !strings.Contains(err.Error(), "damaged") { fmt.Println(err); break }
		}
		fmt.Println("Get, per answer", time.Since(t0)/time.Duration(m), (cpu()-c0)/time.Duration(m))
	}
	s.Close()
}
