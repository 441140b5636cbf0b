-- name: room
SELECT current_setting('max_connections')::int AS most,
       current_setting('superuser_reserved_connections')::int
           + coalesce(current_setting('reserved_connections', true)::int, 0) AS reserved,
       (SELECT count(*)::int FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND application_name NOT LIKE 'switchgear%%') AS others
