-- The first schema. Identity, power and life of a node are separate tables, so that no code can write
-- back a stale row of another's. Names sort by bytes (COLLATE "C"), the same on every server.

CREATE TABLE installation (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    generation bigint NOT NULL DEFAULT 1
);
INSERT INTO installation DEFAULT VALUES;

CREATE TABLE rack (
    name text COLLATE "C" PRIMARY KEY,
    incarnation text NOT NULL,
    heir boolean NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE chassis (
    name text COLLATE "C" PRIMARY KEY,
    driver text NOT NULL,
    settings jsonb NOT NULL,
    secrets bytea NOT NULL,               -- sealed, see record/sealing.py
    secrets_set text[] NOT NULL,
    credentials bigint NOT NULL DEFAULT 1,
    lease_seconds double precision NOT NULL
);

CREATE TABLE lease (
    chassis text COLLATE "C" PRIMARY KEY REFERENCES chassis ON DELETE CASCADE,
    epoch bigint NOT NULL DEFAULT 0,
    rack text COLLATE "C",
    incarnation text,
    expires timestamptz NOT NULL DEFAULT '-infinity',
    other_until timestamptz               -- when another rack may last have used the chassis
);

CREATE TABLE chassis_health (
    chassis text COLLATE "C" PRIMARY KEY REFERENCES chassis ON DELETE CASCADE,
    epoch bigint NOT NULL,
    number bigint NOT NULL,
    fault_kind text,
    fault_text text,
    since timestamptz NOT NULL
);

CREATE TABLE node (
    name text COLLATE "C" PRIMARY KEY,
    chassis text COLLATE "C" NOT NULL REFERENCES chassis,
    slot text NOT NULL,
    UNIQUE (chassis, slot)
);

CREATE TABLE power (
    node text COLLATE "C" PRIMARY KEY REFERENCES node ON DELETE CASCADE,
    wanted text CHECK (wanted IN ('on', 'off')),
    seen text NOT NULL DEFAULT 'unknown' CHECK (seen IN ('on', 'off', 'unknown', 'error')),
    seen_at timestamptz,
    seen_epoch bigint NOT NULL DEFAULT 0,
    seen_read bigint NOT NULL DEFAULT 0,
    fault_kind text,
    fault_text text,
    tx xid8 NOT NULL DEFAULT pg_current_xact_id()
) WITH (fillfactor = 70);
CREATE INDEX power_tx ON power (tx);

CREATE TABLE life (
    node text COLLATE "C" PRIMARY KEY REFERENCES node ON DELETE CASCADE,
    status text NOT NULL DEFAULT 'new',
    status_since timestamptz NOT NULL DEFAULT now(),
    status_before text,
    owner text,
    reason text,
    operation bigint,                     -- the one whose end moves the status on
    tx xid8 NOT NULL DEFAULT pg_current_xact_id()
) WITH (fillfactor = 70);
CREATE INDEX life_tx ON life (tx);
CREATE INDEX life_status ON life (status);
CREATE INDEX life_owner ON life (owner) WHERE owner IS NOT NULL;

CREATE TABLE address (
    node text COLLATE "C" NOT NULL REFERENCES node ON DELETE CASCADE,
    ip inet NOT NULL,
    allocated_at timestamptz NOT NULL DEFAULT now(),
    freed_at timestamptz,
    PRIMARY KEY (node, ip)
);
CREATE UNIQUE INDEX address_held_once ON address (ip) WHERE freed_at IS NULL;

CREATE TABLE request (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    generation bigint NOT NULL,
    client text NOT NULL,
    key text NOT NULL,
    verb text NOT NULL,
    expression text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT now(),
    nodes integer NOT NULL DEFAULT 0,
    refused integer NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX request_key ON request (client, key) WHERE key <> '';

CREATE TABLE operation (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    generation bigint NOT NULL,
    node text COLLATE "C" NOT NULL REFERENCES node ON DELETE CASCADE,
    chassis text COLLATE "C" NOT NULL,
    wish text NOT NULL CHECK (wish IN ('on', 'off', 'query')),
    rank text NOT NULL,
    state text NOT NULL DEFAULT 'queued'
        CHECK (state IN ('queued', 'dispatched', 'running', 'ended')),
    outcome text
        CHECK (outcome IN ('succeeded', 'failed', 'timed-out', 'cancelled', 'superseded')),
    changed boolean,
    power text NOT NULL DEFAULT 'unknown',
    fault_kind text,
    fault_text text,
    commands integer NOT NULL DEFAULT 0,
    epoch bigint,                         -- under which it was last received by a rack
    read_mark bigint,                     -- only later reads of that epoch can settle it
    rack text COLLATE "C",                -- to which it may last have been sent
    claim text,
    claim_until timestamptz,
    place integer,
    wait double precision,
    requested_by text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    CHECK ((state = 'ended') = (outcome IS NOT NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX operation_open ON operation (node, wish) WHERE state <> 'ended';
CREATE INDEX operation_to_send ON operation (chassis, number) WHERE state <> 'ended';

CREATE TABLE item (
    request bigint NOT NULL REFERENCES request ON DELETE CASCADE,
    node text COLLATE "C" NOT NULL,
    verb text NOT NULL,
    operation bigint,
    outcome text,
    refused boolean NOT NULL DEFAULT false,
    changed boolean,
    status text,
    power text,
    fault_kind text,
    fault_text text,
    PRIMARY KEY (request, node)
);
CREATE INDEX item_open ON item (node) WHERE outcome IS NULL AND NOT refused;
CREATE INDEX item_operation ON item (operation);

CREATE TABLE discovery (
    ticket text PRIMARY KEY,
    chassis text COLLATE "C" NOT NULL REFERENCES chassis ON DELETE CASCADE,
    started_at timestamptz NOT NULL DEFAULT now(),
    asked_at timestamptz,
    asked_epoch bigint,
    ended_at timestamptz,
    slots text[] NOT NULL DEFAULT '{}',
    enrolled integer NOT NULL DEFAULT 0,
    fault_kind text,
    fault_text text
);
CREATE UNIQUE INDEX discovery_open ON discovery (chassis) WHERE ended_at IS NULL;

CREATE TABLE event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT now(),
    kind text NOT NULL,
    text text NOT NULL,
    node text,
    chassis text,
    operation text
);
CREATE INDEX event_feed ON event (tx, id);
CREATE INDEX event_at ON event (at);

-- Who follows the record by transaction must see every change: no writer can forget the mark.
CREATE FUNCTION mark_tx() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.tx := pg_current_xact_id();
    RETURN NEW;
END $$;
CREATE TRIGGER mark BEFORE UPDATE ON power FOR EACH ROW EXECUTE FUNCTION mark_tx();
CREATE TRIGGER mark BEFORE UPDATE ON life FOR EACH ROW EXECUTE FUNCTION mark_tx();

-- One hint for each transaction that changed something (PostgreSQL folds equal ones into one).
CREATE FUNCTION hint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM rows_of_statement) THEN
        PERFORM pg_notify('switchgear', '');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER hint_insert AFTER INSERT ON operation REFERENCING NEW TABLE AS rows_of_statement
    FOR EACH STATEMENT EXECUTE FUNCTION hint();
CREATE TRIGGER hint_insert AFTER INSERT ON event REFERENCING NEW TABLE AS rows_of_statement
    FOR EACH STATEMENT EXECUTE FUNCTION hint();
CREATE TRIGGER hint_insert AFTER INSERT ON discovery REFERENCING NEW TABLE AS rows_of_statement
    FOR EACH STATEMENT EXECUTE FUNCTION hint();
CREATE TRIGGER hint_update AFTER UPDATE ON power REFERENCING NEW TABLE AS rows_of_statement
    FOR EACH STATEMENT EXECUTE FUNCTION hint();
CREATE TRIGGER hint_update AFTER UPDATE ON life REFERENCING NEW TABLE AS rows_of_statement
    FOR EACH STATEMENT EXECUTE FUNCTION hint();
