"""What the tests share: data, texts, oracles, the rules of skipping. Benchmarks use the parts without pytest."""
