"""How far apart two classes are: hierarchies, WordNet, embeddings, given matrices. The face is `kinhash.semantics`."""
