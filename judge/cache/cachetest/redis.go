package cachetest

import (
	"net"
	"os/exec"
	"testing"
	"time"
)

// A RedisServer is a Redis server of a test, which keeps what it has acknowledged.
type RedisServer struct {
	URL  string
	t    testing.TB
	dir  string
	port string
	cmd  *exec.Cmd
}

// NewRedisServer starts an empty server, which ends with the test. The test is skipped
// where there is no redis-server.
func NewRedisServer(t testing.TB) *RedisServer {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("no redis-server here")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	s := &RedisServer{URL: "redis://127.0.0.1:" + port + "/0", t: t, dir: t.TempDir(), port: port}
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// Start starts the server, again with what it has kept, and waits until it answers.
func (s *RedisServer) Start() {
	s.t.Helper()
	s.cmd = exec.Command("redis-server", "--port", s.port, "--bind", "127.0.0.1", "--dir", s.dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always")
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", "127.0.0.1:"+s.port); err == nil {
			c.Close()
			return
		}
		if time.Since(began) > time.Minute {
			s.t.Fatal("redis-server does not answer")
		}
	}
}

// Command sends one command, as redis-cli does.
func (s *RedisServer) Command(line string) {
	s.t.Helper()
	c, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	reply := make([]byte, 100)
	if _, err := c.Write([]byte(line + "\r\n")); err != nil {
		s.t.Fatal(err)
	}
	if n, err := c.Read(reply); err != nil || string(reply[:n]) != "+OK\r\n" {
		s.t.Fatalf("%s: %q, %v", line, reply[:n], err)
	}
}

// Kill ends the server without notice.
func (s *RedisServer) Kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}
