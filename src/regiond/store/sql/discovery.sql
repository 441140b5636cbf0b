-- name: start
INSERT INTO discovery (ticket, chassis)
SELECT %(ticket)s, name FROM chassis WHERE name = %(chassis)s
    ON CONFLICT (chassis) WHERE ended_at IS NULL DO NOTHING
RETURNING ticket

-- name: running
SELECT ticket FROM discovery WHERE chassis = %(chassis)s AND ended_at IS NULL

-- name: show
SELECT ticket, chassis, ended_at IS NOT NULL AS ended, cardinality(slots) AS found, enrolled,
       fault_kind, fault_text
  FROM discovery WHERE ticket = %(ticket)s

-- name: take
UPDATE discovery d SET asked_at = now(), asked_epoch = l.epoch
  FROM lease l, jsonb_to_recordset(%(racks)s::jsonb) AS r (rack text, incarnation text)
 WHERE d.ended_at IS NULL AND l.chassis = d.chassis AND l.expires > now()
   AND l.rack = r.rack COLLATE "C" AND l.incarnation = r.incarnation
   AND (d.asked_at IS NULL OR d.asked_epoch < l.epoch OR d.asked_at < now() - interval '60 seconds')
RETURNING d.ticket, d.chassis, l.epoch, l.rack

-- name: untake
UPDATE discovery SET asked_at = NULL, asked_epoch = NULL
 WHERE ticket = %(ticket)s AND ended_at IS NULL

-- name: open
SELECT chassis FROM discovery WHERE ticket = %(ticket)s AND ended_at IS NULL FOR UPDATE

-- name: note
UPDATE discovery
   SET slots = ARRAY(SELECT DISTINCT unnest(slots || %(slots)s::text[])),
       enrolled = enrolled + %(enrolled)s,
       ended_at = CASE WHEN %(ended)s THEN now() END,
       fault_kind = %(fault_kind)s, fault_text = %(fault_text)s
 WHERE ticket = %(ticket)s

-- name: expire
UPDATE discovery
   SET ended_at = now(), fault_kind = CASE WHEN asked_at IS NULL THEN 'connection' ELSE 'timed-out' END,
       fault_text = CASE WHEN asked_at IS NULL THEN 'no rack speaks to chassis ' || chassis
                         ELSE 'the chassis did not list its slots in time' END
 WHERE ended_at IS NULL AND started_at < now() - make_interval(secs => %(seconds)s)
