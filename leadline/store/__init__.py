"""Where documents live: one contract, three stores."""
