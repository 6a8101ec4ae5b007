"""Questions and answers: measures, dimensions, periods, search."""
