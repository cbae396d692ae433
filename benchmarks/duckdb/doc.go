// Package duckdb reads every file that ibid writes with DuckDB, checks names,
// types and values by SQL of its own, and has DuckDB write the datasets that ibid
// reads. It knows the program from outside only: it imports no package of ibid.
//
// It is a module of its own because DuckDB needs cgo, which ibid does not:
//
//	cd benchmarks/duckdb && CGO_ENABLED=1 go test -tags duckdb_arrow ./... -args -ibid PATH
//
// The tag has DuckDB read Arrow streams, too. Without -ibid the program is built
// from the tree around it; go test then needs -count=1 to notice that the tree
// has changed.
package duckdb
