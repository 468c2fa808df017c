"""What the page shows, as plain values: computed here, laid out by the templates."""
