"""PostgreSQL: bounded connections, transactions in the pool's threads, migrations, named SQL, LISTEN."""
