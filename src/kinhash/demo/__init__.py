"""`kinhash demo`: the whole way from bundled pictures to hits, on a laptop, in minutes."""
