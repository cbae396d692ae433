// Package objects runs ibid against a real server for S3, in a process of its own: ranges
// that are counted, connections that are cut, servers that are killed, keys that are wrong,
// objects that change. It knows the program from outside only.
//
// It is a module of its own because of what the server needs:
//
//	cd benchmarks/objects && go test ./... -args -ibid PATH
//
// With -files 32 the dataset of TestLarge has 2 GB.
package objects
