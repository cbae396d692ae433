-- The rows of duckdb-CODEC-vVERSION.parquet, written by DuckDB 1.5 with
-- COPY (...) TO 'FILE' (FORMAT parquet, CODEC 'CODEC', PARQUET_VERSION 'VVERSION').
SELECT
  i::INTEGER AS n,
  printf('row %06d', i) AS text,
  CASE WHEN i % 3 > 0 THEN 'Zoë ' || (i * 7 % 5) END AS few,
  i * 123456789012345 - 7 AS wide,
  (i / 7)::DOUBLE AS double,
  CASE WHEN i % 4 > 0 THEN (i / 8)::FLOAT END AS float,
  i % 5 = 0 AS flag,
  NULL::BIGINT AS nothing,
  CASE WHEN i % 6 > 0 THEN list_transform(range(i % 4), x -> {doc: 'doc ' || x, start: x * 100 + i, texts: ['a' || x, 'b']}) END AS list,
  MAP {i % 9: 'v' || i} AS map
FROM range(60) AS t(i)
