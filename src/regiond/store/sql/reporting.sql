-- name: rack_seen
UPDATE rack SET seen_at = now() WHERE name = %(rack)s AND incarnation = %(incarnation)s

-- name: lock
SELECT l.node FROM life l
 WHERE l.node IN (
    SELECT n.name FROM node n
      JOIN jsonb_to_recordset(%(sightings)s::jsonb) AS s (chassis text, slot text)
        ON n.chassis = s.chassis COLLATE "C" AND n.slot = s.slot
     UNION ALL
    SELECT o.node FROM operation o WHERE o.number = ANY (%(numbers)s::bigint[]))
 ORDER BY l.node FOR NO KEY UPDATE

-- name: sight
WITH news AS (
    SELECT n.name, n.chassis, s.epoch, s.read, s.power, s.age, p.seen AS before
      FROM jsonb_to_recordset(%(sightings)s::jsonb)
           AS s (chassis text, epoch bigint, read bigint, slot text, power text, age float8)
      JOIN node n ON n.chassis = s.chassis COLLATE "C" AND n.slot = s.slot
      JOIN lease l ON l.chassis = n.chassis AND s.epoch <= l.epoch
      JOIN power p ON p.node = n.name
     WHERE (s.epoch, s.read) > (p.seen_epoch, p.seen_read))
UPDATE power p
   SET seen = news.power, seen_at = now() - make_interval(secs => news.age),
       seen_epoch = news.epoch, seen_read = news.read,
       fault_kind = CASE WHEN news.power IN ('on', 'off') THEN NULL ELSE p.fault_kind END,
       fault_text = CASE WHEN news.power IN ('on', 'off') THEN NULL ELSE p.fault_text END
  FROM news
 WHERE p.node = news.name
RETURNING p.node, news.chassis, news.before, p.seen

-- name: progress
UPDATE operation o
   SET place = s.place, wait = s.wait,
       state = CASE WHEN s.stage = 'waiting' THEN o.state ELSE 'running' END
  FROM jsonb_to_recordset(%(progress)s::jsonb)
       AS s (number bigint, generation bigint, stage text, place int, wait float8)
 WHERE o.number = s.number AND o.generation = s.generation AND o.state <> 'ended'
   AND o.rack = %(rack)s

-- name: end
WITH due AS (
    SELECT o.number AS due, r.outcome, r.changed, r.power, r.fault_kind, r.fault_text, r.commands
      FROM jsonb_to_recordset(%(results)s::jsonb)
           AS r (number bigint, generation bigint, chassis text, epoch bigint, outcome text,
                 changed boolean, power text, fault_kind text, fault_text text, commands int)
      JOIN operation o ON o.number = r.number AND o.generation = r.generation
                      AND o.chassis = r.chassis COLLATE "C"
     WHERE o.state <> 'ended' AND r.epoch >= coalesce(o.epoch, 0)
     ORDER BY o.number FOR UPDATE OF o)
UPDATE operation o
   SET state = 'ended', outcome = due.outcome, changed = due.changed, power = due.power,
       fault_kind = due.fault_kind, fault_text = due.fault_text, commands = due.commands,
       ended_at = now(), place = NULL, wait = NULL, claim = NULL, claim_until = NULL
  FROM due
 WHERE o.number = due.due
RETURNING o.number, o.generation, o.node, o.chassis, o.wish, o.rank, o.outcome, o.changed, o.power,
          o.fault_kind, o.fault_text

-- name: end_by_sight
UPDATE operation o
   SET state = 'ended', outcome = 'succeeded', power = p.seen, ended_at = now(),
       place = NULL, wait = NULL, claim = NULL, claim_until = NULL
  FROM power p
 WHERE p.node = o.node AND o.node = ANY (%(names)s::text[]) AND o.state <> 'ended'
   AND o.wish = p.seen AND (p.seen_epoch, p.seen_read) > (o.epoch, o.read_mark)
   -- What an opposite command, sent shortly before, does may still be to come: then the rack decides.
   AND NOT EXISTS (SELECT FROM operation x
                    WHERE x.node = o.node AND x.wish IN ('on', 'off') AND x.wish <> o.wish
                      AND x.rack IS NOT NULL
                      AND (x.state <> 'ended' OR x.ended_at > now() - interval '10 minutes'))
RETURNING o.number, o.generation, o.node, o.chassis, o.wish, o.rank, o.outcome, o.changed, o.power,
          o.fault_kind, o.fault_text

-- name: complete
WITH late AS (
    UPDATE operation o SET changed = r.changed, commands = r.commands
      FROM jsonb_to_recordset(%(results)s::jsonb)
           AS r (number bigint, generation bigint, epoch bigint, outcome text, changed boolean,
                 commands int)
     WHERE o.number = r.number AND o.generation = r.generation AND o.state = 'ended'
       AND o.outcome = 'succeeded' AND o.changed IS NULL AND r.outcome = 'succeeded'
    RETURNING o.number, o.changed)
UPDATE item i SET changed = late.changed FROM late WHERE i.operation = late.number

-- name: health_before
SELECT c.name, h.fault_kind FROM chassis c
  LEFT JOIN chassis_health h ON h.chassis = c.name
 WHERE c.name = ANY (%(chassis)s::text[])
 ORDER BY c.name FOR NO KEY UPDATE OF c

-- name: health
INSERT INTO chassis_health AS h (chassis, epoch, number, fault_kind, fault_text, since)
SELECT s.chassis, s.epoch, s.number, s.fault_kind, s.fault_text, now()
  FROM jsonb_to_recordset(%(health)s::jsonb)
       AS s (chassis text, epoch bigint, number bigint, fault_kind text, fault_text text)
  JOIN chassis c ON c.name = s.chassis COLLATE "C"
 ORDER BY s.chassis
    ON CONFLICT (chassis) DO UPDATE
       SET epoch = excluded.epoch, number = excluded.number, fault_kind = excluded.fault_kind,
           fault_text = excluded.fault_text,
           since = CASE WHEN excluded.fault_kind IS NOT DISTINCT FROM h.fault_kind
                        THEN h.since ELSE excluded.since END
     WHERE (excluded.epoch, excluded.number) > (h.epoch, h.number)
RETURNING h.chassis, h.fault_kind, h.fault_text
