"""Benchmarks: numbers anyone can measure again."""
