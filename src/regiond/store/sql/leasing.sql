-- name: generation
SELECT generation FROM installation

-- name: rack
SELECT incarnation, heir FROM rack WHERE name = %(rack)s FOR UPDATE

-- name: rivals
SELECT count(*) AS leases FROM lease
 WHERE rack = %(rack)s AND incarnation <> %(incarnation)s AND expires > now()

-- name: hello
INSERT INTO rack (name, incarnation, heir) VALUES (%(rack)s, %(incarnation)s, %(heir)s)
    ON CONFLICT (name) DO UPDATE
       SET incarnation = excluded.incarnation, heir = excluded.heir, seen_at = now()

-- name: page
SELECT l.chassis FROM lease l
 WHERE l.chassis > %(after)s COLLATE "C"
   AND ((l.rack = %(rack)s AND l.incarnation = %(incarnation)s)
        OR l.expires <= now()
        OR (l.rack = %(rack)s AND %(heir)s))
 ORDER BY l.chassis LIMIT %(limit)s
   FOR UPDATE

-- name: renew
UPDATE lease l
   SET expires = now() + make_interval(secs => c.lease_seconds),
       rack = %(rack)s, incarnation = %(incarnation)s,
       epoch = CASE WHEN l.rack = %(rack)s AND l.incarnation = %(incarnation)s THEN l.epoch
                    ELSE greatest(l.epoch, (i.generation - 1) << 32) + 1 END,
       other_until = CASE WHEN l.rack <> %(rack)s THEN l.expires ELSE l.other_until END
  FROM chassis c, installation i
 WHERE c.name = l.chassis AND l.chassis = ANY (%(chassis)s::text[])
   AND ((l.rack = %(rack)s AND l.incarnation = %(incarnation)s)
        OR l.expires <= now()
        OR (l.rack = %(rack)s AND %(heir)s))
RETURNING l.chassis, l.epoch, c.lease_seconds, c.driver, c.settings, c.secrets, c.credentials
