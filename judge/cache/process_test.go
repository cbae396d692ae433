package cache_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ibid/judge/cache"
)

// childVar names what a process of its own does with the store in os.Args[1].
const childVar = "IBID_TEST_CACHE_CHILD"

var children = map[string]func(s *cache.SQLite, first int) error{
	"put": putForever, "share": shareKeys, "hold": holdOne,
}

func TestMain(m *testing.M) {
	if child := children[os.Getenv(childVar)]; child != nil {
		if err := runChild(child); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func runChild(child func(*cache.SQLite, int) error) error {
	first, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	s, err := cache.Open(os.Args[1])
	if err != nil {
		return err
	}
	if err := child(s, first); err != nil {
		return err
	}
	return s.Close()
}

// putForever puts entries from number first on and says which are acknowledged.
func putForever(s *cache.SQLite, first int) error {
	const goroutines = 8
	errs := make(chan error)
	for g := range goroutines {
		go func() {
			for n := first + g; ; n += goroutines {
				if err := s.Put(context.Background(), testEntry(n)); err != nil {
					errs <- err
					return
				}
				if _, err := fmt.Printf("%d\n", n); err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	return <-errs
}

// sharedKeys is how many keys processes share.
const sharedKeys = 150

// shareKeys asks for all keys, in an order of its own, as a judge does.
func shareKeys(s *cache.SQLite, first int) error {
	rng := rand.New(rand.NewPCG(1, uint64(first)))
	owner := fmt.Sprint("process ", os.Getpid())
	keys := make(chan int)
	errs := make(chan error)
	const goroutines = 8
	for range goroutines {
		go func() {
			for n := range keys {
				if err := askOnce(s, n, owner); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	go func() {
		defer close(keys)
		for _, n := range rng.Perm(sharedKeys) {
			keys <- n
		}
	}()
	for range goroutines {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// askOnce takes the answer to request n from the store or pays for it.
func askOnce(s *cache.SQLite, n int, owner string) error {
	ctx := context.Background()
	for {
		if e, err := s.Get(ctx, testKey(n)); err != nil || e != nil {
			return err
		}
		held, err := s.Acquire(ctx, testKey(n), owner, time.Minute)
		if err != nil {
			return err
		}
		if held {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if e, err := s.Get(ctx, testKey(n)); err != nil || e != nil {
		return err // it came between the first look and the lease
	}
	if err := s.Record(ctx, cache.Attempt{Key: testKey(n), N: 1, Class: "ok", At: time.Now()}); err != nil {
		return err
	}
	time.Sleep(2 * time.Millisecond) // the model thinks
	if err := s.Put(ctx, testEntry(n)); err != nil {
		return err
	}
	return s.Release(ctx, testKey(n), owner)
}

// holdOne takes the lease of a key for a second and never gives it back.
func holdOne(s *cache.SQLite, n int) error {
	held, err := s.Acquire(context.Background(), testKey(n), "child", time.Second)
	if err != nil {
		return err
	}
	fmt.Println(held)
	select {}
}

// start runs a child on a store.
func start(t *testing.T, what, path string, first int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], path, strconv.Itoa(first))
	cmd.Env = append(os.Environ(), childVar+"="+what)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// TestKilledProcesses: three processes put into one store and are killed without
// notice, again and again; not one acknowledged answer is lost or changed.
func TestKilledProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judge.sqlite")
	rounds, processes := 5, 3
	if testing.Short() {
		rounds = 2
	}
	var mu sync.Mutex
	var acknowledged []int
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		var all sync.WaitGroup
		for p := range processes {
			cmd, out := start(t, "put", path, (round*processes+p)*1_000_000)
			after := 20 + rng.IntN(400) // acknowledgements
			all.Go(func() {
				var mine []int
				for out.Scan() {
					n, err := strconv.Atoi(out.Text())
					if err != nil {
						break // the line that the kill cut
					}
					if mine = append(mine, n); len(mine) == after {
						cmd.Process.Kill()
					}
				}
				if err := cmd.Wait(); !strings.Contains(fmt.Sprint(err), "killed") || len(mine) < after {
					t.Errorf("child ended by itself after %d puts: %v", len(mine), err)
				}
				mu.Lock()
				acknowledged = append(acknowledged, mine...)
				mu.Unlock()
			})
		}
		all.Wait()
	}

	s := open(t, path)
	for _, n := range acknowledged {
		got, err := s.Get(t.Context(), testKey(n))
		if err != nil || !reflect.DeepEqual(got, testEntry(n)) {
			t.Fatalf("entry %d was acknowledged and is now %+v, %v", n, got, err)
		}
	}
	s.Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity_check = %q, %v, want ok", verdict, err)
	}
}

// TestProcessesShareLeases: three processes want the same answers; each is paid
// for once.
func TestProcessesShareLeases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judge.sqlite")
	var all []*exec.Cmd
	for p := range 3 {
		cmd, _ := start(t, "share", path, p)
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := open(t, path)
	paid := make(map[cache.Key]int)
	for a, err := range s.Attempts(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		paid[a.Key]++
	}
	for n := range sharedKeys {
		if paid[testKey(n)] != 1 {
			t.Errorf("answer %d was paid for %d times, want once", n, paid[testKey(n)])
		}
		if e, err := s.Get(t.Context(), testKey(n)); err != nil || e == nil {
			t.Errorf("answer %d = %v, %v", n, e, err)
		}
	}
}

// TestLeaseOfKilledProcess: what a killed process held is free when its time is
// up, and not before.
func TestLeaseOfKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judge.sqlite")
	s := open(t, path)
	began := time.Now()
	cmd, out := start(t, "hold", path, 1)
	if !out.Scan() || out.Text() != "true" {
		t.Fatalf("child got the lease: %q", out.Text())
	}
	cmd.Process.Kill()
	cmd.Wait()
	for time.Since(began) < time.Minute {
		held, err := s.Acquire(t.Context(), testKey(1), "parent", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if held {
			if waited := time.Since(began); waited < 999*time.Millisecond {
				t.Errorf("taken over after %v, the lease was for a second", waited)
			}
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the lease of a killed process is never free")
}
