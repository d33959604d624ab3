"""What rows run: the programs of `wild`, plain functions of an array namespace, and training."""
