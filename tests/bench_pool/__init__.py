"""`make bench-pool`: the pool beside Twisted's and the standard library's, and the story it exists for."""
