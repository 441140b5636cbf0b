-- name: request
SELECT r.generation || '.' || r.number AS request, r.verb, r.client, r.nodes,
       count(i.node) FILTER (WHERE i.outcome IS NULL) AS running,
       count(i.node) FILTER (WHERE i.outcome = 'succeeded') AS succeeded,
       count(i.node) FILTER (WHERE i.outcome <> 'succeeded' AND NOT i.refused) AS failed,
       count(i.node) FILTER (WHERE i.refused) AS refused
  FROM request r
  LEFT JOIN item i ON i.request = r.number
 WHERE r.number = %(number)s AND r.generation = %(generation)s
 GROUP BY r.number

-- name: items
SELECT i.node, i.outcome, i.refused, i.changed, coalesce(i.status, l.status) AS status,
       coalesce(CASE WHEN i.outcome IS NULL THEN p.seen END, i.power, p.seen, 'unknown') AS power,
       i.fault_kind, i.fault_text, o.generation || '.' || o.number AS operation
  FROM item i
  LEFT JOIN operation o ON o.number = i.operation
  LEFT JOIN life l ON l.node = i.node
  LEFT JOIN power p ON p.node = i.node
 WHERE i.request = %(number)s AND i.node > %(after)s COLLATE "C"
 ORDER BY i.node
 LIMIT %(limit)s

-- name: operation
SELECT o.generation || '.' || o.number AS operation, o.node, o.chassis, o.wish, o.state,
       o.requested_by, extract(epoch FROM clock_timestamp() - o.requested_at)::float8 AS age,
       o.outcome, o.changed, o.power, o.fault_kind, o.fault_text, o.commands, o.place, o.wait
  FROM operation o
 WHERE o.number = %(number)s AND o.generation = %(generation)s

-- name: prune
WITH old AS (
    DELETE FROM request r WHERE r.number IN (
        SELECT o.number FROM request o
         WHERE o.requested_at < now() - make_interval(secs => %(seconds)s)
           AND NOT EXISTS (SELECT FROM item i WHERE i.request = o.number
                              AND i.outcome IS NULL AND NOT i.refused)
         ORDER BY o.number LIMIT %(limit)s)
    RETURNING r.number)
SELECT count(*) AS pruned FROM old

-- name: prune_operations
DELETE FROM operation WHERE number IN (
    SELECT o.number FROM operation o
     WHERE o.state = 'ended' AND o.ended_at < now() - make_interval(secs => %(seconds)s)
       AND NOT EXISTS (SELECT FROM item i WHERE i.operation = o.number)
       AND NOT EXISTS (SELECT FROM life l WHERE l.operation = o.number)
     ORDER BY o.number LIMIT %(limit)s)
