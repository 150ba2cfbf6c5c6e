"""What a policy or a dataset is worth: quality scores, held-out suites, intervals, pages."""
