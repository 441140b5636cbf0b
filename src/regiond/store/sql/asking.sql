-- name: begin
INSERT INTO request (generation, client, key, verb, expression)
SELECT generation, %(client)s, %(key)s, %(verb)s, %(expression)s FROM installation
    ON CONFLICT (client, key) WHERE key <> '' DO NOTHING
RETURNING number, generation

-- name: earlier
SELECT number, generation, verb, expression, nodes, refused FROM request
 WHERE client = %(client)s AND key = %(key)s

-- name: facts
SELECT n.name, n.chassis, l.status, l.status_before, l.owner, l.reason, l.operation, p.seen
  FROM node n
  JOIN life l ON l.node = n.name
  JOIN power p ON p.node = n.name
 WHERE n.name = ANY (%(names)s::text[])
 ORDER BY n.name

-- name: open_operations
SELECT node, number, wish, rack IS NOT NULL AS sent FROM operation
 WHERE node = ANY (%(names)s::text[]) AND state <> 'ended'

-- name: operations
INSERT INTO operation (generation, node, chassis, wish, rank, requested_by)
SELECT i.generation, n.name, n.chassis, o.wish, 'person', %(client)s
  FROM jsonb_to_recordset(%(operations)s::jsonb) AS o (node text, wish text)
  JOIN node n ON n.name = o.node COLLATE "C"
 CROSS JOIN installation i
 ORDER BY n.name
RETURNING node, number

-- name: supersede_items
UPDATE item i
   SET outcome = 'superseded', fault_kind = 'refused', fault_text = %(text)s, status = l.status
  FROM life l
 WHERE l.node = i.node AND i.node = ANY (%(names)s::text[]) AND i.outcome IS NULL AND NOT i.refused
   AND i.verb IN ('accept', 'deploy', 'release')

-- name: wanted
-- A check wants nothing, but its begin is a change that followers of nodes must be told of.
UPDATE power p SET wanted = CASE WHEN w.wish = 'query' THEN p.wanted ELSE w.wish END
  FROM jsonb_to_recordset(%(wishes)s::jsonb) AS w (node text, wish text)
 WHERE p.node = w.node COLLATE "C"

-- name: hold_addresses
UPDATE address a SET freed_at = NULL, allocated_at = now()
 WHERE a.node = ANY (%(names)s::text[]) AND a.freed_at IS NOT NULL
   AND NOT EXISTS (SELECT FROM address b WHERE b.ip = a.ip AND b.freed_at IS NULL)
RETURNING a.node, host(a.ip) AS ip

-- name: items
INSERT INTO item (request, node, verb, operation, outcome, refused, changed, status, power,
                  fault_kind, fault_text)
SELECT %(request)s, i.node, %(verb)s, i.operation, i.outcome, i.refused, i.changed, i.status,
       p.seen, i.fault_kind, i.fault_text
  FROM jsonb_to_recordset(%(items)s::jsonb)
       AS i (node text, operation bigint, outcome text, refused boolean, changed boolean,
             status text, fault_kind text, fault_text text)
  JOIN power p ON p.node = i.node COLLATE "C"

-- name: count
UPDATE request SET nodes = %(nodes)s, refused = %(refused)s WHERE number = %(request)s
