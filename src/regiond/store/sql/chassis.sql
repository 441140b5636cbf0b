-- name: add
INSERT INTO chassis (name, driver, settings, secrets, secrets_set, lease_seconds)
VALUES (%(name)s, %(driver)s, %(settings)s::jsonb, %(secrets)s, %(secrets_set)s::text[],
        %(lease_seconds)s)
    ON CONFLICT DO NOTHING

-- name: add_lease
INSERT INTO lease (chassis) VALUES (%(name)s)

-- name: for_change
SELECT driver, settings, secrets FROM chassis WHERE name = %(name)s FOR UPDATE

-- name: change
UPDATE chassis
   SET settings = %(settings)s::jsonb, secrets = %(secrets)s,
       secrets_set = %(secrets_set)s::text[], lease_seconds = %(lease_seconds)s,
       credentials = credentials + 1
 WHERE name = %(name)s

-- name: views
SELECT c.name, c.driver, c.settings, c.secrets_set, c.credentials,
       (SELECT count(*) FROM node n WHERE n.chassis = c.name) AS nodes,
       CASE WHEN l.expires > now() THEN l.rack END AS rack,
       h.fault_kind, h.fault_text,
       CASE WHEN h.fault_kind IS NOT NULL
            THEN extract(epoch FROM clock_timestamp() - h.since)::float8 END AS fault_age
  FROM chassis c
  JOIN lease l ON l.chassis = c.name
  LEFT JOIN chassis_health h ON h.chassis = c.name
 WHERE c.name > %(after)s COLLATE "C" AND (%(name)s = '' OR c.name = %(name)s COLLATE "C")
 ORDER BY c.name
 LIMIT %(limit)s
