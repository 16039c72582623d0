"""Pages for people: one HTML file each, that needs no network, no script and no other file."""
