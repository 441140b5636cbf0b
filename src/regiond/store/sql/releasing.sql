-- name: ripe
SELECT l.node FROM life l
  JOIN operation o ON o.number = l.operation
 WHERE l.status = 'releasing' AND o.wish = 'off' AND o.outcome = 'succeeded'
   AND (%(names)s::text[] IS NULL OR l.node = ANY (%(names)s::text[]))
 ORDER BY l.node

-- name: free
UPDATE address SET freed_at = now()
 WHERE node = ANY (%(names)s::text[]) AND freed_at IS NULL
RETURNING node, host(ip) AS ip

-- name: items
UPDATE item i SET outcome = 'succeeded', status = 'ready', power = 'off', changed = o.changed
  FROM operation o
 WHERE o.number = i.operation AND i.node = ANY (%(names)s::text[]) AND i.verb = 'release'
   AND i.outcome IS NULL AND NOT i.refused
