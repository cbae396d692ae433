package objects

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"ibid"
)

// A bucket is a store at S3.
type bucket struct {
	client *minio.Client
	name   string
}

// client is made once: the environment does not change.
var client = sync.OnceValues(func() (*minio.Client, error) {
	endpoint, secure := "s3.amazonaws.com", true
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.Trim(u.Path, "/") != "" {
			return nil, errors.New(name + " is no address of a server, such as https://s3.example.com")
		}
		endpoint, secure = u.Host, u.Scheme == "https"
	}
	region := os.Getenv("AWS_REGION")
	if region == "" {
		region = os.Getenv("AWS_DEFAULT_REGION")
	}
	if region == "" && endpoint != "s3.amazonaws.com" {
		region = "us-east-1" // what servers at home call theirs
	}
	return minio.New(endpoint, &minio.Options{Creds: keys(), Secure: secure, Region: region, MaxRetries: 1})
})

// keys are looked for in the environment, in the files of AWS_PROFILE, and then at the
// machine's own service, which is where programs in the cloud have them from.
var keys = sync.OnceValue(func() *credentials.Credentials {
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if os.Getenv("AWS_EC2_METADATA_DISABLED") != "true" {
		providers = append(providers, &credentials.IAM{Client: &http.Client{Timeout: 2 * time.Second}})
	}
	return credentials.NewChainCredentials(providers)
})

// haveKeys reports whether requests are signed.
func haveKeys() bool {
	v, err := keys().GetWithContext(nil)
	return err == nil && v.AccessKeyID != ""
}

func openBucket(name string) (*bucket, error) {
	c, err := client()
	if err != nil {
		return nil, &ibid.Error{File: "s3://" + name, Err: err}
	}
	return &bucket{c, name}, nil
}

func infoOf(o *minio.ObjectInfo) info {
	return info{key: o.Key, size: o.Size, etag: strings.Trim(o.ETag, `"`), modified: o.LastModified}
}

func (b *bucket) head(ctx context.Context, key string) (info, error) {
	o, err := b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	if err != nil {
		if statusOf(err) == http.StatusNotFound { // without a body nothing says what is missing
			if ok, e := b.client.BucketExists(ctx, b.name); e == nil && !ok {
				return info{}, minio.ErrorResponse{Code: "NoSuchBucket", StatusCode: http.StatusNotFound}
			}
		}
		return info{}, err
	}
	i := infoOf(&o)
	i.key = key
	return i, nil
}

func (b *bucket) get(ctx context.Context, of info, from, to int64) (io.ReadCloser, error) {
	var o minio.GetObjectOptions
	if err := errors.Join(o.SetRange(from, to-1), o.SetMatchETag(of.etag)); err != nil {
		return nil, err
	}
	body, got, _, err := minio.Core{Client: b.client}.GetObject(ctx, b.name, of.key, o)
	if s := statusOf(err); s == http.StatusPreconditionFailed || s == http.StatusNotFound || s == http.StatusRequestedRangeNotSatisfiable {
		return nil, ErrChanged
	}
	if err == nil && (strings.Trim(got.ETag, `"`) != of.etag || got.Size != to-from) {
		body.Close() // nothing of it is used
		return nil, ErrChanged
	}
	return body, err
}

func (b *bucket) list(ctx context.Context, prefix string) (found []info, err error) {
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, o.Err
		}
		found = append(found, infoOf(&o))
	}
	return found, ctx.Err()
}

// statusOf is the status of the reply that an error is about, 0 if there was none.
func statusOf(err error) int {
	if r, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return r.StatusCode
	}
	if r, ok := errors.AsType[statusError](err); ok {
		return int(r)
	}
	return 0
}

// codeOf is the word that S3 has for an error, "" if there is none.
func codeOf(err error) string {
	r, _ := errors.AsType[minio.ErrorResponse](err)
	return r.Code
}
