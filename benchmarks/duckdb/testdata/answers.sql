-- Tables documents and answers: every kind of value that a dataset may hold,
-- picked by the hash of the row number. Nothing here is meant to score well.

CREATE MACRO pick(i, salt, n) AS (hash(i * 1000 + salt) % n)::BIGINT;

CREATE MACRO words(i) AS list_reduce(
	list_transform(range(250), lambda k: ['harbour', 'größer', 'bee', '茶', 'tea-house', 'a', '4.2', 'naïve', '🐝 swarm', 'colony.'][pick(i, k, 10) + 1]),
	lambda text, word: text || ' ' || word);

-- d3 says its text and its pages, d4 only pages, d5 only blocks, d6 nothing.
CREATE TABLE documents AS
SELECT
	'd' || i AS doc,
	CASE WHEN i % 2 = 0 THEN 'Title ' || i END AS title,
	CASE WHEN i < 4 THEN words(i) END AS text,
	CASE WHEN i IN (3, 4) THEN list_transform(range(6), lambda p: substring(words(i), 1 + p * 300, CASE p WHEN 5 THEN 100000 ELSE 300 END)) END AS pages,
	CASE WHEN i = 5 THEN [words(7), '', words(8)] END AS blocks
FROM range(7) t(i) ORDER BY i;

CREATE TABLE texts AS
SELECT doc, coalesce(text, array_to_string(coalesce(pages, blocks), '')) AS text FROM documents;

CREATE MACRO begin_of(i, salt) AS pick(i, salt, 1400) - CASE pick(i, salt + 1, 40) WHEN 0 THEN 1400 ELSE 0 END;

-- A span is 2 to 90 long, now and then empty, inverted or half null.
CREATE MACRO end_of(i, salt) AS CASE pick(i, salt + 2, 60)
	WHEN 0 THEN begin_of(i, salt)
	WHEN 1 THEN begin_of(i, salt) - 7
	ELSE begin_of(i, salt) + 2 + pick(i, salt + 3, 88) END;

CREATE MACRO truth_of(i, annotator, n) AS list_transform(range(n), lambda k: {
	annotator: annotator::VARCHAR,
	doc: 'd' || pick(i, 600 + k, 3),
	page: CASE WHEN i % 3 = 0 THEN 1::INTEGER END,
	start: begin_of(i, 610 + 5 * k),
	"end": end_of(i, 610 + 5 * k),
	unit: NULL::VARCHAR,
	claim_id: NULL::VARCHAR});

CREATE MACRO nothing_marked(annotator) AS [{annotator: annotator::VARCHAR, doc: NULL::VARCHAR, page: NULL::INTEGER,
	start: NULL::BIGINT, "end": NULL::BIGINT, unit: NULL::VARCHAR, claim_id: NULL::VARCHAR}];

CREATE TABLE answers AS
WITH spans AS (
	SELECT i, k,
		CASE WHEN pick(i, 10 + k, 12) = 0 THEN 'unheard of' ELSE 'd' || pick(i, 20 + k, 7) END AS doc,
		CASE WHEN i % 29 = 5 THEN 'page' END AS unit,
		-- Half of the citations lie near a truth span, so that they overlap it.
		CASE WHEN i % 29 = 5 THEN 1 + pick(i, 30 + k, 6) WHEN i % 2 = 0 THEN begin_of(i, 610 + 5 * k) + pick(i, 40 + k, 9) - 4 ELSE begin_of(i, 100 + 5 * k) END AS s,
		CASE WHEN i % 29 = 5 THEN 3 + pick(i, 30 + k, 6) WHEN i % 2 = 0 THEN end_of(i, 610 + 5 * k) + pick(i, 50 + k, 9) - 4 ELSE end_of(i, 100 + 5 * k) END AS e,
		i % 2 = 0 AND i % 29 <> 5 AS close
	FROM range(4200) r(i), range(4) c(k)
), quoted AS (
	SELECT spans.*, CASE WHEN close THEN 'd' || pick(i, 600 + k, 3) ELSE spans.doc END AS cited, text
	FROM spans LEFT JOIN texts ON texts.doc = CASE WHEN close THEN 'd' || pick(i, 600 + k, 3) ELSE spans.doc END
), cited AS (
	SELECT i, list({
		doc: cited,
		page: CASE WHEN i % 5 = 0 THEN 2::INTEGER END,
		start: CASE WHEN i % 997 = 3 THEN NULL ELSE s END,
		"end": e,
		unit: unit,
		cited_text: CASE pick(i, 60 + k, 4) WHEN 0 THEN nullif(substring(text, s + 1, greatest(e - s, 0)), '') WHEN 1 THEN nullif(substring(text, s + 3, greatest(e - s, 0)), '') END,
		title: CASE WHEN k = 1 THEN 'a title' END,
		answer_start: CASE WHEN k < 2 THEN k * 5 END::BIGINT,
		answer_end: CASE WHEN k < 2 THEN k * 5 + 4 END::BIGINT,
		citation_id: 'c' || k,
		claim_id: CASE WHEN k = 0 THEN 'first' END,
		source_type: CASE pick(i, 70, 3) WHEN 0 THEN 'web' END,
		method: NULL::VARCHAR,
		confidence: CASE WHEN k = 2 THEN pick(i, 80, 101) / 100 END::DOUBLE,
		relevance: NULL::DOUBLE,
		token_contribution: CASE WHEN k = 0 THEN pick(i, 81, 5000) END::BIGINT,
		source_reference: NULL::VARCHAR} ORDER BY k) AS citations
	FROM quoted GROUP BY i
)
SELECT
	'q-' || (i // 2) AS id,
	'What says part ' || i || '?' AS query,
	'It says größer, 茶, 🐝 or ' || pick(i, 1, 1000) || '.' AS answer,
	CASE i % 2 WHEN 0 THEN 'near' ELSE 'far' END AS system,
	CASE WHEN i % 4 < 2 THEN 'provider ' || (i % 3) END AS provider,
	CASE WHEN i % 6 = 0 THEN 'model' END AS model,
	CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN [] ELSE citations[1:1 + pick(i, 2, 4)] END AS citations,
	CASE i % 11
		WHEN 0 THEN NULL
		WHEN 1 THEN []
		WHEN 2 THEN nothing_marked('ada')
		WHEN 3 THEN list_concat(nothing_marked('ada'), truth_of(i, 'ben', 2))
		WHEN 4 THEN list_concat(truth_of(i, 'ben', 2), truth_of(i, 'ada', 3))
		WHEN 5 THEN list_concat(truth_of(i, 'ada', 1), truth_of(i, NULL, 2))
		ELSE truth_of(i, NULL, 1 + pick(i, 3, 4)) END AS truth,
	CASE i % 3 WHEN 1 THEN [] WHEN 2 THEN [{claim_id: 'first', text: 'It says', start: 0::BIGINT, "end": 7::BIGINT}] END AS claims,
	CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN MAP {} ELSE MAP {'lang': ['de', 'zh', 'en'][i % 3 + 1], 'topic': 't' || (i % 4)} END AS tags,
	CASE i % 7 WHEN 0 THEN 0 END::BIGINT AS unread_marks -- no list of citations: the text has no mark
FROM cited ORDER BY i;
