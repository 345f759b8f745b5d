CREATE TABLE ko_migration (
	number INTEGER NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY (number)
);
CREATE TABLE ko_namespace (
	ref INTEGER NOT NULL,
	path TEXT NOT NULL,
	heads INTEGER NOT NULL,
	PRIMARY KEY (ref)
);
CREATE INDEX ko_namespace_path ON ko_namespace (substr(path, 1, 255));
CREATE TABLE ko_naming (
	"key" TEXT NOT NULL,
	canonical TEXT NOT NULL,
	cardinality TEXT NOT NULL
);
CREATE INDEX ko_naming_key ON ko_naming (substr("key", 1, 255));
CREATE TABLE ko_predicate (
	ref INTEGER NOT NULL,
	spelling TEXT NOT NULL,
	"key" TEXT NOT NULL,
	verbatim SMALLINT NOT NULL,
	PRIMARY KEY (ref)
);
CREATE INDEX ko_predicate_key ON ko_predicate (substr("key", 1, 255));
CREATE INDEX ko_predicate_spelling ON ko_predicate (substr(spelling, 1, 255));
CREATE TABLE ko_state (
	"key" TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY ("key")
);
CREATE TABLE ko_alias (
	namespace INTEGER NOT NULL,
	alias_key TEXT NOT NULL,
	subject_key TEXT NOT NULL,
	FOREIGN KEY(namespace) REFERENCES ko_namespace (ref)
);
CREATE INDEX ko_alias_key ON ko_alias (namespace, substr(alias_key, 1, 255));
CREATE TABLE ko_erasure (
	id BLOB NOT NULL,
	namespace INTEGER NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(namespace) REFERENCES ko_namespace (ref)
);
CREATE TABLE ko_event (
	sequence INTEGER NOT NULL,
	kind TEXT NOT NULL,
	namespace INTEGER,
	recorded_at INTEGER NOT NULL,
	PRIMARY KEY (sequence),
	FOREIGN KEY(namespace) REFERENCES ko_namespace (ref)
);
CREATE TABLE ko_source (
	ref INTEGER NOT NULL,
	namespace INTEGER NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY (ref),
	FOREIGN KEY(namespace) REFERENCES ko_namespace (ref)
);
CREATE INDEX ko_source_name ON ko_source (namespace, substr(name, 1, 255));
CREATE TABLE ko_subject (
	ref INTEGER NOT NULL,
	namespace INTEGER NOT NULL,
	"key" TEXT NOT NULL,
	spelling TEXT,
	verbatim SMALLINT NOT NULL,
	PRIMARY KEY (ref),
	FOREIGN KEY(namespace) REFERENCES ko_namespace (ref)
);
CREATE INDEX ko_subject_key ON ko_subject (namespace, substr("key", 1, 255));
CREATE TABLE ko_slot (
	ref INTEGER NOT NULL,
	prefix INTEGER NOT NULL,
	id BLOB NOT NULL,
	namespace INTEGER NOT NULL,
	subject INTEGER NOT NULL,
	predicate INTEGER NOT NULL,
	member SMALLINT NOT NULL,
	head INTEGER,
	number INTEGER NOT NULL,
	previous INTEGER,
	support INTEGER NOT NULL,
	valid_to INTEGER,
	changes_at INTEGER,
	tip SMALLINT NOT NULL,
	named INTEGER,
	marked INTEGER,
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
	sequence INTEGER NOT NULL,
	slot INTEGER NOT NULL,
	subject INTEGER,
	spelling TEXT,
	predicate INTEGER NOT NULL,
	kind TEXT NOT NULL,
	value TEXT,
	valid_from INTEGER NOT NULL,
	valid_to INTEGER,
	recorded_at INTEGER NOT NULL,
	source INTEGER,
	confidence FLOAT NOT NULL,
	metadata TEXT,
	text TEXT,
	withdrawn INTEGER,
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
	assertion INTEGER NOT NULL,
	event INTEGER NOT NULL,
	slot INTEGER NOT NULL,
	PRIMARY KEY (assertion, event),
	FOREIGN KEY(assertion) REFERENCES ko_assertion (sequence),
	FOREIGN KEY(slot) REFERENCES ko_slot (ref)
);
CREATE INDEX ko_move_event ON ko_move (event);
CREATE INDEX ko_move_slot ON ko_move (slot);
CREATE TABLE ko_vector (
	sequence INTEGER NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (sequence),
	FOREIGN KEY(sequence) REFERENCES ko_assertion (sequence)
);
