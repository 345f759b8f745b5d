CREATE TABLE ko_migration (
	number BIGINT NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (number)
);
CREATE TABLE ko_namespace (
	ref BIGINT NOT NULL,
	path TEXT COLLATE "C" NOT NULL,
	heads BIGINT NOT NULL,
	PRIMARY KEY (ref)
);
CREATE INDEX ko_namespace_path ON ko_namespace (substr(path, 1, 255));
CREATE TABLE ko_naming (
	key TEXT COLLATE "C" NOT NULL,
	canonical TEXT COLLATE "C" NOT NULL,
	cardinality TEXT COLLATE "C" NOT NULL
);
CREATE INDEX ko_naming_key ON ko_naming (substr(key, 1, 255));
CREATE TABLE ko_predicate (
	ref BIGINT NOT NULL,
	spelling TEXT COLLATE "C" NOT NULL,
	key TEXT COLLATE "C" NOT NULL,
	verbatim SMALLINT NOT NULL,
	PRIMARY KEY (ref)
);
CREATE INDEX ko_predicate_key ON ko_predicate (substr(key, 1, 255));
CREATE INDEX ko_predicate_spelling ON ko_predicate (substr(spelling, 1, 255));
CREATE TABLE ko_state (
	key TEXT COLLATE "C" NOT NULL,
	value TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (key)
);
CREATE TABLE ko_alias (
	namespace BIGINT NOT NULL,
	alias_key TEXT COLLATE "C" NOT NULL,
	subject_key TEXT COLLATE "C" NOT NULL,
	FOREIGN KEY(namespace) REFERENCES ko_namespace (ref)
);
CREATE INDEX ko_alias_key ON ko_alias (namespace, substr(alias_key, 1, 255));
CREATE TABLE ko_erasure (
	id BYTEA NOT NULL,
	namespace BIGINT NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(namespace) REFERENCES ko_namespace (ref)
);
CREATE TABLE ko_event (
	sequence BIGINT NOT NULL,
	kind TEXT COLLATE "C" NOT NULL,
	namespace BIGINT,
	recorded_at BIGINT NOT NULL,
	PRIMARY KEY (sequence),
	FOREIGN KEY(namespace) REFERENCES ko_namespace (ref)
);
CREATE TABLE ko_source (
	ref BIGINT NOT NULL,
	namespace BIGINT NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (ref),
	FOREIGN KEY(namespace) REFERENCES ko_namespace (ref)
);
CREATE INDEX ko_source_name ON ko_source (namespace, substr(name, 1, 255));
CREATE TABLE ko_subject (
	ref BIGINT NOT NULL,
	namespace BIGINT NOT NULL,
	key TEXT COLLATE "C" NOT NULL,
	spelling TEXT COLLATE "C",
	verbatim SMALLINT NOT NULL,
	PRIMARY KEY (ref),
	FOREIGN KEY(namespace) REFERENCES ko_namespace (ref)
);
CREATE INDEX ko_subject_key ON ko_subject (namespace, substr(key, 1, 255));
CREATE TABLE ko_slot (
	ref BIGINT NOT NULL,
	prefix BIGINT NOT NULL,
	id BYTEA NOT NULL,
	namespace BIGINT NOT NULL,
	subject BIGINT NOT NULL,
	predicate BIGINT NOT NULL,
	member SMALLINT NOT NULL,
	head BIGINT,
	number BIGINT NOT NULL,
	previous BIGINT,
	support BIGINT NOT NULL,
	valid_to BIGINT,
	changes_at BIGINT,
	tip SMALLINT NOT NULL,
	named BIGINT,
	marked BIGINT,
	PRIMARY KEY (ref),
	FOREIGN KEY(namespace) REFERENCES ko_namespace (ref),
	FOREIGN KEY(subject) REFERENCES ko_subject (ref),
	FOREIGN KEY(predicate) REFERENCES ko_predicate (ref)
);
CREATE INDEX ko_slot_due ON ko_slot (namespace, changes_at) WHERE changes_at IS NOT NULL;
CREATE INDEX ko_slot_marked ON ko_slot (namespace, marked) WHERE marked IS NOT NULL;
CREATE INDEX ko_slot_named ON ko_slot (named) WHERE named IS NOT NULL;
CREATE INDEX ko_slot_page ON ko_slot (namespace, prefix);
CREATE INDEX ko_slot_prefix ON ko_slot (prefix);
CREATE INDEX ko_slot_subject ON ko_slot (subject, predicate);
CREATE TABLE ko_assertion (
	sequence BIGINT NOT NULL,
	slot BIGINT NOT NULL,
	subject BIGINT,
	spelling TEXT COLLATE "C",
	predicate BIGINT NOT NULL,
	kind TEXT COLLATE "C" NOT NULL,
	value TEXT COLLATE "C",
	valid_from BIGINT NOT NULL,
	valid_to BIGINT,
	recorded_at BIGINT NOT NULL,
	source BIGINT,
	confidence FLOAT NOT NULL,
	metadata TEXT COLLATE "C",
	text TEXT COLLATE "C",
	withdrawn BIGINT,
	PRIMARY KEY (sequence),
	FOREIGN KEY(slot) REFERENCES ko_slot (ref),
	FOREIGN KEY(subject) REFERENCES ko_subject (ref),
	FOREIGN KEY(predicate) REFERENCES ko_predicate (ref),
	FOREIGN KEY(source) REFERENCES ko_source (ref)
);
CREATE INDEX ko_assertion_slot ON ko_assertion (slot);
CREATE INDEX ko_assertion_source ON ko_assertion (source) WHERE source IS NOT NULL;
CREATE INDEX ko_assertion_subject ON ko_assertion (subject) WHERE subject IS NOT NULL;
CREATE INDEX ko_assertion_withdrawn ON ko_assertion (withdrawn) WHERE withdrawn IS NOT NULL;
CREATE TABLE ko_move (
	assertion BIGINT NOT NULL,
	event BIGINT NOT NULL,
	slot BIGINT NOT NULL,
	PRIMARY KEY (assertion, event),
	FOREIGN KEY(assertion) REFERENCES ko_assertion (sequence),
	FOREIGN KEY(slot) REFERENCES ko_slot (ref)
);
CREATE INDEX ko_move_event ON ko_move (event);
CREATE INDEX ko_move_slot ON ko_move (slot);
CREATE TABLE ko_vector (
	sequence BIGINT NOT NULL,
	data BYTEA NOT NULL,
	PRIMARY KEY (sequence),
	FOREIGN KEY(sequence) REFERENCES ko_assertion (sequence)
);
