-- name: now
SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS tx

-- name: after
SELECT tx::text AS tx, id, kind, text, node, chassis, operation,
       to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at
  FROM event
 WHERE (tx, id) > (%(tx)s::text::xid8, %(id)s::bigint)
   AND tx < pg_snapshot_xmin(pg_current_snapshot())
 ORDER BY event.tx, id
 LIMIT %(limit)s

-- name: write
INSERT INTO event (kind, text, node, chassis, operation)
SELECT e.kind, e.text, e.node, e.chassis, e.operation
  FROM jsonb_to_recordset(%(events)s::jsonb)
       AS e (kind text, text text, node text, chassis text, operation text)

-- name: prune
DELETE FROM event WHERE id IN (
    SELECT id FROM event
     WHERE at < now() - make_interval(secs => %(seconds)s)
        OR id <= (SELECT max(id) FROM event) - %(keep)s
     ORDER BY id LIMIT %(limit)s)
