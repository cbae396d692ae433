-- Form 5 of a store. Times are milliseconds since 1970 in UTC. Small columns come before the
-- long ones, so that adding up costs does not read answers. A rowid table with a unique key
-- loads twice as fast as one without a rowid.
CREATE TABLE entry (
	id                INTEGER PRIMARY KEY,
	key               BLOB    NOT NULL UNIQUE,
	created           INTEGER NOT NULL,
	status            TEXT    NOT NULL,
	model_requested   TEXT    NOT NULL,
	model_resolved    TEXT    NOT NULL,
	provider          TEXT    NOT NULL,
	generation_id     TEXT    NOT NULL,
	template          TEXT    NOT NULL,
	prompt_tokens     INTEGER NOT NULL,
	completion_tokens INTEGER NOT NULL,
	reasoning_tokens  INTEGER NOT NULL,
	cached_tokens     INTEGER NOT NULL,
	cost_nano_usd     INTEGER NOT NULL,
	latency_ms        INTEGER NOT NULL,
	attempts          INTEGER NOT NULL,
	run               TEXT    NOT NULL,
	sum               INTEGER, -- CRC-32C of all of it; null of an entry of form 3
	verdict           BLOB    NOT NULL,
	raw               BLOB    NOT NULL,
	sent              TEXT    NOT NULL
);
CREATE INDEX entry_created ON entry (created);
CREATE TABLE attempt (
	id            INTEGER PRIMARY KEY,
	key           BLOB    NOT NULL,
	n             INTEGER NOT NULL,
	http_status   INTEGER NOT NULL,
	class         TEXT    NOT NULL,
	ms            INTEGER NOT NULL,
	cost_nano_usd INTEGER NOT NULL,
	generation_id TEXT    NOT NULL,
	error         TEXT    NOT NULL,
	at            INTEGER NOT NULL,
	run           TEXT    NOT NULL
);
CREATE INDEX attempt_at ON attempt (at);
CREATE TABLE lease (
	key   BLOB    PRIMARY KEY,
	owner TEXT    NOT NULL,
	until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE batch (
	id                INTEGER PRIMARY KEY,
	token             BLOB    NOT NULL UNIQUE,
	endpoint          TEXT    NOT NULL,
	model             TEXT    NOT NULL,
	questions         INTEGER NOT NULL,
	state             TEXT    NOT NULL,
	service_id        TEXT    NOT NULL,
	created           INTEGER NOT NULL,
	reserved_nano_usd INTEGER NOT NULL,
	run               TEXT    NOT NULL
);
CREATE TABLE batch_line (
	id            INTEGER PRIMARY KEY,
	key           BLOB    NOT NULL,
	batch         INTEGER NOT NULL,
	state         TEXT    NOT NULL,
	max_tokens    INTEGER NOT NULL,
	form          INTEGER NOT NULL,
	cost_nano_usd INTEGER NOT NULL,
	error         TEXT    NOT NULL,
	raw           BLOB    NOT NULL,
	UNIQUE (key, batch)
);
CREATE INDEX batch_line_batch ON batch_line (batch);
CREATE TABLE learnt (
	endpoint TEXT    NOT NULL,
	model    TEXT    NOT NULL,
	name     TEXT    NOT NULL,
	value    REAL    NOT NULL,
	at       INTEGER NOT NULL,
	PRIMARY KEY (endpoint, model, name)
) WITHOUT ROWID;
