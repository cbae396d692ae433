// Package objects reads objects: files at S3 and servers that speak like it, and files that
// web servers hand out. Its addresses are s3://BUCKET/KEY, http:// and https://.
//
// Keys and regions come from the environment, as other programs for S3 have them:
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE, AWS_REGION, and
// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL for other servers than Amazon's. Without keys
// requests are not signed, which public buckets take.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"

	"ibid"
)

// Is reports whether a name is the address of an object, and no path.
func Is(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && slices.Contains([]string{"s3", "http", "https", "gs", "az"}, scheme)
}

// AddressHint says how an address is written.
const AddressHint = "an address is s3://BUCKET/KEY"

const nameHint = "is the name right? An object is s3://BUCKET/KEY"

// Slip reports whether a name is no address, but was meant to be one.
func Slip(name string) bool {
	return strings.HasPrefix(strings.ToLower(name), "s3:") && !Is(name)
}

// A trouble is an error of the network or of a server: another time the same may do.
type trouble struct{ error }

func (t trouble) Unwrap() error { return t.error }

// Trouble reports whether an error is one of the network or of a server, so that the same
// may do another time.
func Trouble(err error) bool {
	_, ok := errors.AsType[trouble](err)
	return ok
}

// ErrChanged means that an object is no longer the one that was opened.
var ErrChanged = errors.New("the object has changed while it was being read")

// An info is what a store says of an object.
type info struct {
	key      string
	size     int64
	etag     string // without quotes; with W/ if it is weak
	modified time.Time
}

// version is what tells contents of one object apart, "" if the store does not say.
func (i info) version() string {
	if i.etag == "" && !i.modified.IsZero() {
		return i.modified.UTC().Format(time.RFC3339)
	}
	return i.etag
}

// A store holds objects by key. Its methods try once.
type store interface {
	head(ctx context.Context, key string) (info, error)
	// get reads bytes [from, to) of the object that info is of.
	get(ctx context.Context, of info, from, to int64) (io.ReadCloser, error)
	// list lists the objects whose keys begin so, by key.
	list(ctx context.Context, prefix string) ([]info, error)
}

// at finds the store of an address, and the key there.
func at(address string) (store, string, error) {
	scheme, rest, _ := strings.Cut(address, "://")
	switch scheme {
	case "s3":
		bucket, key, _ := strings.Cut(rest, "/")
		if bucket == "" {
			return nil, "", &ibid.Error{File: "s3://", Err: errors.New("names no bucket"), Hint: AddressHint}
		}
		s, err := openBucket(bucket)
		return s, key, err
	case "http", "https":
		return web{}, address, nil
	}
	return nil, "", &ibid.Error{File: address, Err: fmt.Errorf("%s:// is not supported", scheme), Hint: "use s3:// or https://, or mount it as a folder"}
}

// How often the network is tried, and how long a request may take at least. A slower
// network than slowest bytes a second counts as cut.
const (
	tries    = 7
	patience = 30 * time.Second
	slowest  = 64 << 10
)

// again calls try until it succeeds, fails for good or has failed too often. Between two
// calls it waits 0.1 s, and each time twice as long, more or less.
func again(ctx context.Context, address string, size int64, try func(ctx context.Context) error) error {
	wait := 100 * time.Millisecond
	for k := 1; ; k++ {
		limited, cancel := context.WithTimeout(ctx, patience+time.Duration(size/slowest)*time.Second)
		err := try(limited)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e := explain(address, err)
		if !Trouble(e) || k == tries {
			return e
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait/2 + rand.N(wait)):
		}
		wait *= 2
	}
}

// explain says of an error what it means for an address.
func explain(address string, err error) *ibid.Error {
	if e, ok := errors.AsType[*ibid.Error](err); ok {
		return e
	}
	e := &ibid.Error{File: address, Err: err}
	status := statusOf(err)
	reply := strings.TrimSpace(fmt.Sprintf("%d %s", status, codeOf(err)))
	switch {
	case errors.Is(err, ErrChanged):
		e.Hint = "run again when nobody writes it any more"
	case status == 404:
		e.Err, e.Hint = fs.ErrNotExist, nameHint
		if codeOf(err) == "NoSuchBucket" {
			e.Err, e.Hint = errors.New("there is no such bucket"), "is the name right, and AWS_REGION or AWS_ENDPOINT_URL?"
		}
	case status == 401 || status == 403:
		e.Err = fmt.Errorf("access denied (%s)", reply)
		e.Hint = "the keys in the environment do not allow it: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE"
		if !strings.HasPrefix(address, "s3:") {
			e.Hint = "ibid sends no credentials to web servers: use an address that needs none, or download the file"
		} else if !haveKeys() {
			e.Hint = "there are no keys in the environment: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
		}
	case status >= 400 && status < 500 && status != 408 && status != 429:
		e.Err = fmt.Errorf("the server refuses (%s)", reply)
	default:
		if status > 0 {
			err = fmt.Errorf("the server failed (%s)", reply)
		}
		e.Err = trouble{err}
		e.Hint = "the server was asked several times; try again later"
	}
	return e
}

// Find lists the objects that a pattern stands for, in the order of their names: the object
// of that name, the *.parquet objects in a folder of that name, or what the glob matches.
// Names that begin with a dot or an underscore are hidden.
func Find(ctx context.Context, pattern string) ([]string, error) {
	s, key, err := at(pattern)
	if err != nil {
		return nil, err
	}
	if _, ok := s.(web); ok {
		return []string{pattern}, nil
	}
	bucket := strings.TrimSuffix(strings.TrimSuffix(pattern, key), "/") + "/"
	glob := strings.ContainsAny(key, "*?[")
	if !glob && key != "" && !strings.HasSuffix(key, "/") {
		var there bool
		err := again(ctx, pattern, 0, func(ctx context.Context) error {
			_, err := s.head(ctx, key)
			if there = err == nil; statusOf(err) == 404 {
				return nil // it may be a folder
			}
			return err
		})
		if err != nil || there {
			return []string{pattern}, err
		}
		key += "/"
	}
	prefix := key
	if glob {
		prefix = key[:strings.IndexAny(key, "*?[")]
	}
	var found []info
	err = again(ctx, pattern, 0, func(ctx context.Context) (err error) {
		found, err = s.list(ctx, prefix)
		return err
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, i := range found {
		folder, name := path.Split(i.key)
		ok := folder == key && strings.HasSuffix(name, ".parquet")
		if glob {
			if ok, err = path.Match(key, i.key); err != nil {
				return nil, &ibid.Error{File: pattern, Err: err}
			}
		}
		if ok && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_") {
			names = append(names, bucket+i.key)
		}
	}
	switch {
	case len(names) == 0 && glob:
		return nil, &ibid.Error{File: pattern, Err: errors.New("no object matches")}
	case len(names) == 0:
		return nil, &ibid.Error{File: pattern, Err: errors.New("neither an object nor a folder with .parquet objects"), Hint: nameHint}
	}
	return names, nil
}
