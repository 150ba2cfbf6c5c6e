"""What happened: episodes kept, scored, validated and exported."""
