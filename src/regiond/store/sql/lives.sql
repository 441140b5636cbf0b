-- name: lock
SELECT node FROM life WHERE node = ANY (%(names)s::text[]) ORDER BY node FOR NO KEY UPDATE

-- name: move
UPDATE life l
   SET status = m.status, status_since = now(), status_before = m.before, owner = m.owner,
       reason = m.reason, operation = m.operation
  FROM jsonb_to_recordset(%(moves)s::jsonb)
       AS m (node text, was text, status text, before text, owner text, reason text,
             operation bigint)
 WHERE l.node = m.node COLLATE "C" AND l.status = m.was
RETURNING l.node, l.status, m.was, l.reason
