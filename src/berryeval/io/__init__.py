"""Reading and writing: one small module per format, all of them giving and taking `QueryTable`s."""
