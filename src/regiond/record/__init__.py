"""What happens to the record: each function is one step inside of a transaction, given its cursor."""
