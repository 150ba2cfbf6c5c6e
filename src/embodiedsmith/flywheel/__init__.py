"""The outer loop: explore, score, filter, train, schedule difficulty, again and again."""
