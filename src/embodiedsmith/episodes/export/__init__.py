"""Episodes in the formats other people's tools read."""
