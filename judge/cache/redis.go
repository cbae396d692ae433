package cache

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// A Redis is a store in a Redis server, for processes on several machines. Its answers
// are as durable as the server's settings make them: with appendonly yes and
// appendfsync always, what was acknowledged survives a crash of the server.
//
// A server that is away is waited for, two minutes at most: everything that is asked of
// it may be asked twice.
type Redis struct {
	url    string
	client *redis.Client
	most   time.Duration // that the server may be away

	mu     sync.RWMutex // held for reading by what is under way
	closed bool
}

const (
	redisAway     = 2 * time.Minute
	redisFirst    = 5 * time.Second // at the start a wrong address is likelier than a restart
	redisPause    = 20 * time.Millisecond
	redisPauseMax = time.Second

	keyEntry    = "ibid:entry:"
	keyLease    = "ibid:lease:"
	keyAttempts = "ibid:attempts:" // of a run
	keyPause    = "ibid:pause:"    // of a service
	keyPace     = "ibid:pace:"
	keyBudget   = "ibid:budget:"
	keyCalls    = "ibid:calls:" // of a budget, by when they are given up
)

// OpenRedis opens the store at a URL such as redis://host:6379/0 or, with TLS,
// rediss://user@host. The password is the environment's REDIS_PASSWORD. A server that
// does not answer, or refuses, is an [*ibid.Error].
func OpenRedis(ctx context.Context, address string) (*Redis, error) {
	options, err := redis.ParseURL(address)
	if err != nil {
		return nil, storeError(address, err, "name it as redis://HOST:PORT/NUMBER")
	}
	if password := os.Getenv("REDIS_PASSWORD"); password != "" {
		options.Password = password
	}
	quiet.Do(func() { redis.SetLogger(silence{}) })
	options.MaxRetries, options.DialerRetries = -1, 1 // do has its own
	options.ContextTimeoutEnabled = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	s := &Redis{url: address, client: redis.NewClient(options), most: redisFirst}
	if err := s.do(ctx, func() error { return s.client.Ping(ctx).Err() }); err != nil {
		return nil, errors.Join(err, s.client.Close())
	}
	s.most = redisAway
	return s, nil
}

// silence is the logger of the client, which would write to standard error; what went
// wrong is in its errors.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

var quiet sync.Once

// do runs a command until the server has answered it. Commands may run twice: an answer
// can be lost on its way.
func (s *Redis) do(ctx context.Context, command func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	began := time.Now()
	for pause := redisPause; ; pause = min(2*pause, redisPauseMax) {
		if s.closed {
			return ErrClosed
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := command()
		switch {
		case err == nil || errors.Is(err, redis.Nil):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case refusal(err):
			return storeError(s.url, err, hintOf(err))
		case time.Since(began) > s.most:
			return storeError(s.url, fmt.Errorf("%w: %w", ErrAway, err), "start it, or name another store with --cache; answers so far are kept")
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// refusal reports whether the server has answered that it will not do a command, now or
// later.
func refusal(err error) bool {
	var said redis.Error
	if !errors.As(err, &said) {
		return false
	}
	for _, passing := range []string{"LOADING", "READONLY", "MASTERDOWN", "TRYAGAIN", "BUSY", "ERR max number of clients"} {
		if strings.HasPrefix(said.Error(), passing) {
			return false
		}
	}
	return true
}

func hintOf(err error) string {
	for _, word := range []string{"NOAUTH", "WRONGPASS", "AUTH"} {
		if strings.Contains(err.Error(), word) {
			return "put its password into REDIS_PASSWORD"
		}
	}
	return ""
}

// Doubts says what of the server's settings may lose answers, as far as it tells; ""
// for nothing.
func (s *Redis) Doubts(ctx context.Context) string {
	want := []struct{ name, value string }{{"appendonly", "yes"}, {"appendfsync", "always"}, {"maxmemory-policy", "noeviction"}}
	var bad []string
	for _, w := range want {
		got, err := s.client.ConfigGet(ctx, w.name).Result()
		if err == nil && got[w.name] != "" && got[w.name] != w.value {
			bad = append(bad, fmt.Sprintf("%s is %s", w.name, got[w.name]))
		}
	}
	if bad == nil {
		return ""
	}
	return "the Redis server may lose answers that are paid for: " + strings.Join(bad, ", ") + "; set appendonly yes, appendfsync always, maxmemory-policy noeviction"
}

// redisEntry is an entry as it stands in the server.
type redisEntry struct {
	Entry
	Key    string // in place of the entry's, whose bytes JSON would list as numbers
	CRC32C uint32
}

// Get returns the entry of a key, nil if there is none.
func (s *Redis) Get(ctx context.Context, key Key) (*Entry, error) {
	var data []byte
	err := s.do(ctx, func() (err error) {
		data, err = s.client.Get(ctx, keyEntry+key.String()).Bytes()
		return err
	})
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var kept redisEntry
	if err := json.Unmarshal(data, &kept); err != nil {
		return nil, storeError(s.url, fmt.Errorf("%w: entry %s: %w", ErrCorrupt, key, err), hintCorrupt)
	}
	kept.Entry.Key, kept.Created = key, stored(kept.Created)
	if err := kept.verify(kept.CRC32C); err != nil {
		return nil, fault(s.url, err)
	}
	return &kept.Entry, nil
}

// Put keeps an entry unless one stands.
func (s *Redis) Put(ctx context.Context, e *Entry) error {
	if err := e.check(); err != nil {
		return err
	}
	data, err := json.Marshal(redisEntry{Entry: *e, Key: e.Key.String(), CRC32C: e.checksum()})
	if err != nil {
		return err
	}
	err = s.do(ctx, func() error {
		return s.client.SetArgs(ctx, keyEntry+e.Key.String(), data, redis.SetArgs{Mode: "NX"}).Err()
	})
	if !errors.Is(err, redis.Nil) {
		return err
	}
	// One stands already; after an answer that was lost on its way, it is this one.
	first, err := s.Get(ctx, e.Key)
	if first != nil {
		*e = *first
	}
	return err
}

// Record adds a call to the audit.
func (s *Redis) Record(ctx context.Context, a Attempt) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	id := rand.Text() // so that a call that is sent twice counts once
	return s.do(ctx, func() error { return s.client.HSet(ctx, keyAttempts+a.Run, id, data).Err() })
}

// Spent is what the calls of a run cost since a time.
func (s *Redis) Spent(ctx context.Context, run string, since time.Time) (nanoUSD int64, err error) {
	var all []string
	if err := s.do(ctx, func() (err error) { all, err = s.client.HVals(ctx, keyAttempts+run).Result(); return err }); err != nil {
		return 0, err
	}
	for _, data := range all {
		var a Attempt
		if err := json.Unmarshal([]byte(data), &a); err != nil {
			return 0, storeError(s.url, fmt.Errorf("%w: calls of run %s: %w", ErrCorrupt, run, err), hintCorrupt)
		}
		if !stored(a.At).Before(stored(since)) {
			nanoUSD += a.CostNanoUSD
		}
	}
	return nanoUSD, nil
}

var (
	acquireLease = redis.NewScript(`
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`)
	releaseLease = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`)
	// takeTurn answers {1, microseconds until the call} or {0, microseconds of the pause}.
	takeTurn = redis.NewScript(`
local pause = redis.call('PTTL', KEYS[1])
if pause > 0 then return {0, pause * 1000} end
local gap = tonumber(ARGV[1])
if gap == 0 then return {1, 0} end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local at = math.max(now, tonumber(redis.call('GET', KEYS[2]) or '0'))
redis.call('SET', KEYS[2], string.format('%.0f', at + gap), 'PX', math.ceil((at + gap - now) / 1000) + 1000)
return {1, at - now}`)
	// setAside answers {1, what was set aside}, {0, 0} where calls under way stand in the
	// way, and {0, -1} where the budget is used up. What is set aside is part of used.
	setAside = redis.NewScript(`
local held = redis.call('HGET', KEYS[1], ARGV[1])
if held then return {1, tonumber(held)} end
local most, least, limit = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local left = limit - tonumber(redis.call('HGET', KEYS[1], 'used') or '0')
local take = most
if most < 0 or most > left then
	if redis.call('ZCARD', KEYS[2]) > 0 then return {0, 0} end
	if left <= 0 or left < least then return {0, -1} end
	take = left
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', take))
redis.call('HINCRBY', KEYS[1], 'used', string.format('%.0f', take))
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[5]), ARGV[1])
return {1, take}`)
	settleCost = redis.NewScript(`
local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held then return 0 end
redis.call('HINCRBY', KEYS[1], 'used', string.format('%.0f', tonumber(ARGV[2]) - tonumber(held)))
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return 1`)
)

// Acquire takes the right to ask for a key.
func (s *Redis) Acquire(ctx context.Context, key Key, owner string, ttl time.Duration) (held bool, err error) {
	if err := checkTTL(ttl); err != nil {
		return false, err
	}
	err = s.do(ctx, func() error {
		n, err := acquireLease.Run(ctx, s.client, []string{keyLease + key.String()}, owner, max(1, ttl.Milliseconds())).Int()
		held = n == 1
		return err
	})
	return held, err
}

// Release gives the right back.
func (s *Redis) Release(ctx context.Context, key Key, owner string) error {
	return s.do(ctx, func() error {
		return releaseLease.Run(ctx, s.client, []string{keyLease + key.String()}, owner).Err()
	})
}

// Turn gives the time of the next call to a service.
func (s *Redis) Turn(ctx context.Context, service string, gap time.Duration) (wait time.Duration, granted bool, err error) {
	err = s.do(ctx, func() error {
		got, err := takeTurn.Run(ctx, s.client, []string{keyPause + service, keyPace + service}, gap.Microseconds()).Int64Slice()
		if err == nil {
			granted, wait = got[0] == 1, time.Duration(got[1])*time.Microsecond
		}
		return err
	})
	return wait, granted, err
}

// Pause lets nobody call a service for d.
func (s *Redis) Pause(ctx context.Context, service string, d time.Duration) error {
	return s.do(ctx, func() error { return s.client.Set(ctx, keyPause+service, "1", max(time.Millisecond, d)).Err() })
}

// Reserve sets aside what a call can cost.
func (s *Redis) Reserve(ctx context.Context, r Reservation) (held int64, err error) {
	err = s.do(ctx, func() error {
		got, err := setAside.Run(ctx, s.client, []string{keyBudget + r.Budget, keyCalls + r.Budget},
			r.Call, r.Most, r.Least, r.Limit, r.Lapse.Milliseconds()).Int64Slice()
		switch {
		case err != nil:
			return err
		case got[0] == 1:
			held = got[1]
		case got[1] < 0:
			held = UsedUp
		default:
			held = UnderWay
		}
		return nil
	})
	return held, err
}

// Settle replaces what was set aside for a call by what it cost.
func (s *Redis) Settle(ctx context.Context, budget, call string, nanoUSD int64) error {
	return s.do(ctx, func() error {
		return settleCost.Run(ctx, s.client, []string{keyBudget + budget, keyCalls + budget}, call, nanoUSD).Err()
	})
}

// Close ends the use of the store.
func (s *Redis) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.client.Close()
}
