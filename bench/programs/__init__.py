"""The programs of the row `wild`: each a plain function of an array namespace, giving a float."""
