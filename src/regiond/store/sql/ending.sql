-- name: lives
SELECT o.number, l.status, l.status_before, l.owner, l.reason,
       l.operation IS NOT DISTINCT FROM o.number AS moves,
       EXISTS (SELECT FROM item i WHERE i.operation = o.number AND i.verb = 'accept'
                  AND i.outcome IS NULL AND NOT i.refused) AS accepting
  FROM operation o
  JOIN life l ON l.node = o.node
 WHERE o.number = ANY (%(numbers)s::bigint[])

-- name: items
UPDATE item i
   SET outcome = CASE WHEN i.verb = 'accept' THEN e.accept_outcome ELSE e.outcome END,
       fault_kind = CASE WHEN i.verb = 'accept' THEN e.accept_kind ELSE e.fault_kind END,
       fault_text = CASE WHEN i.verb = 'accept' THEN e.accept_text ELSE e.fault_text END,
       changed = e.changed, power = e.power, status = l.status
  FROM jsonb_to_recordset(%(ends)s::jsonb)
       AS e (number bigint, outcome text, changed boolean, power text, fault_kind text,
             fault_text text, accept_outcome text, accept_kind text, accept_text text),
       life l
 WHERE i.operation = e.number AND i.outcome IS NULL AND NOT i.refused AND l.node = i.node
   AND NOT (i.verb = 'release' AND e.outcome = 'succeeded')

-- name: faults
-- That an operation ended is a change that followers of nodes must be told of in any case.
UPDATE power p
   SET fault_kind = CASE WHEN e.tells THEN e.fault_kind ELSE p.fault_kind END,
       fault_text = CASE WHEN e.tells THEN e.fault_text ELSE p.fault_text END
  FROM jsonb_to_recordset(%(ends)s::jsonb)
       AS e (node text, tells boolean, fault_kind text, fault_text text)
 WHERE p.node = e.node COLLATE "C"

-- name: supersede
UPDATE operation o
   SET state = 'ended', outcome = 'superseded', ended_at = now(),
       fault_kind = 'refused', fault_text = %(text)s
 WHERE o.number = ANY (%(numbers)s::bigint[]) AND o.state = 'queued' AND o.rack IS NULL
RETURNING o.number, o.generation, o.node, o.chassis, o.wish, o.rank, o.outcome, o.changed, o.power,
          o.fault_kind, o.fault_text
