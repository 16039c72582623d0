"""Near-duplicate pictures: codes of what a picture looks like, and a second look at pairs of them."""
