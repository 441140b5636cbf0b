-- name: members
SELECT g.kind, g.name AS of, n.name
  FROM jsonb_to_recordset(%(groups)s::jsonb) AS g (kind text, name text)
  JOIN node n ON true
  JOIN life l ON l.node = n.name
 WHERE CASE g.kind
           WHEN 'all' THEN true
           WHEN 'chassis' THEN n.chassis = g.name
           WHEN 'status' THEN l.status = g.name
           WHEN 'owner' THEN l.owner = g.name
           ELSE false
       END
 ORDER BY n.name

-- name: unknown
SELECT name FROM unnest(%(names)s::text[]) WITH ORDINALITY AS asked (name, place)
 WHERE NOT EXISTS (SELECT FROM node WHERE node.name = asked.name COLLATE "C")
 ORDER BY place

-- name: unknown_chassis
SELECT name FROM unnest(%(names)s::text[]) AS asked (name)
 WHERE NOT EXISTS (SELECT FROM chassis WHERE chassis.name = asked.name COLLATE "C")
 ORDER BY name

-- name: views
SELECT n.name, n.chassis, n.slot, l.status, l.owner, l.reason, p.seen AS power, p.wanted,
       extract(epoch FROM clock_timestamp() - l.status_since)::float8 AS status_age,
       extract(epoch FROM clock_timestamp() - p.seen_at)::float8 AS seen_age,
       p.fault_kind, p.fault_text,
       (SELECT o.generation || '.' || o.number FROM operation o
         WHERE o.node = n.name AND o.state <> 'ended' ORDER BY o.number DESC LIMIT 1) AS operation,
       ARRAY(SELECT host(a.ip) FROM address a
              WHERE a.node = n.name AND a.freed_at IS NULL ORDER BY a.ip) AS addresses
  FROM node n
  JOIN life l ON l.node = n.name
  JOIN power p ON p.node = n.name
 WHERE n.name > %(after)s COLLATE "C"
   AND (%(names)s::text[] IS NULL OR n.name = ANY (%(names)s::text[]))
 ORDER BY n.name
 LIMIT %(limit)s

-- name: changed
SELECT node FROM power WHERE tx >= %(tx)s::text::xid8
 UNION
SELECT node FROM life WHERE tx >= %(tx)s::text::xid8

-- name: add
INSERT INTO node (name, chassis, slot)
SELECT n.name, n.chassis, n.slot
  FROM jsonb_to_recordset(%(nodes)s::jsonb) AS n (name text, chassis text, slot text)
 ORDER BY n.name
    ON CONFLICT DO NOTHING
RETURNING name

-- name: add_power
INSERT INTO power (node) SELECT unnest(%(names)s::text[])

-- name: add_life
INSERT INTO life (node) SELECT unnest(%(names)s::text[])

-- name: add_addresses
INSERT INTO address (node, ip) SELECT %(name)s, unnest(%(addresses)s::text[])::inet
    ON CONFLICT DO NOTHING
RETURNING host(ip) AS ip
