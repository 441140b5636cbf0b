-- name: claim
WITH ripe AS (
    SELECT o.number, o.rack AS sent_to, l.epoch, l.rack, l.incarnation, l.other_until,
           c.credentials
      FROM jsonb_to_recordset(%(racks)s::jsonb) AS r (rack text, incarnation text)
      JOIN lease l ON l.rack = r.rack COLLATE "C" AND l.incarnation = r.incarnation
                  AND l.expires > now()
      JOIN chassis c ON c.name = l.chassis
      JOIN operation o ON o.chassis = l.chassis
     WHERE o.state <> 'ended' AND (o.epoch IS NULL OR o.epoch < l.epoch)
       AND (o.claim_until IS NULL OR o.claim_until < now())
     ORDER BY o.number
     LIMIT %(limit)s
       FOR UPDATE OF o SKIP LOCKED)
UPDATE operation o
   SET claim = %(run)s, claim_until = now() + interval '10 seconds', rack = ripe.rack
  FROM ripe, node n
 WHERE o.number = ripe.number AND n.name = o.node
RETURNING o.number, o.generation, o.node, o.chassis, n.slot, o.wish, o.rank, ripe.epoch, ripe.rack,
          ripe.incarnation, ripe.credentials,
          CASE WHEN ripe.sent_to <> ripe.rack
               THEN greatest(extract(epoch FROM now() - coalesce(ripe.other_until, now())), 0)::float8
          END AS unsure_for

-- name: sent
UPDATE operation
   SET state = CASE WHEN epoch IS NOT DISTINCT FROM %(epoch)s THEN state ELSE 'dispatched' END,
       epoch = %(epoch)s, read_mark = %(read_mark)s, claim = NULL, claim_until = NULL
 WHERE number IN (SELECT number FROM operation WHERE number = ANY (%(numbers)s::bigint[])
                   ORDER BY number FOR UPDATE)
   AND state <> 'ended' AND claim = %(run)s AND coalesce(epoch, 0) <= %(epoch)s

-- name: unsent
UPDATE operation SET claim = NULL, claim_until = NULL
 WHERE number IN (SELECT number FROM operation WHERE number = ANY (%(numbers)s::bigint[])
                   ORDER BY number FOR UPDATE)
   AND claim = %(run)s

-- name: clear
UPDATE operation SET claim = NULL, claim_until = NULL WHERE claim = %(run)s AND state <> 'ended'

-- name: orphans
SELECT o.node FROM operation o
  LEFT JOIN lease l ON l.chassis = o.chassis
 WHERE o.state <> 'ended'
   AND greatest(o.requested_at, l.expires) < now() - make_interval(secs => %(seconds)s)

-- name: expire
UPDATE operation o
   SET state = 'ended', outcome = 'failed', ended_at = now(), place = NULL, wait = NULL,
       claim = NULL, claim_until = NULL, fault_kind = 'connection',
       fault_text = 'no rack speaks to chassis ' || o.chassis
           || coalesce('; ' || l.rack || ' was the last one', '')
  FROM lease l
 WHERE l.chassis = o.chassis AND o.state <> 'ended' AND o.node = ANY (%(names)s::text[])
   AND greatest(o.requested_at, l.expires) < now() - make_interval(secs => %(seconds)s)
RETURNING o.number, o.generation, o.node, o.chassis, o.wish, o.rank, o.outcome, o.changed, o.power,
          o.fault_kind, o.fault_text
