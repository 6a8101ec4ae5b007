"""
Questions and their answers.

    question = parse_question("core_hours_used by program during last 30 days top 10")
    answer = ask(question, store, scope, now, zone=cluster_zone(clusters, None))

`ask` is the one way to figures: pages, commands and reports all go through it. `answer.rows` are
dictionaries keyed by dimension (raw value; None where absent), time bucket and measure name;
`answer.label(key, value)` is what people read. `answer.total` and `answer.others` hold each measure
once; with a time bucket `total_by_time` and `others_by_time` hold them per bucket. A value of None
is "not measured", never 0. `answer.coverage.share` (0 to 1), `.newest`, `.silent` and
`answer.provisional` say how sure it is, `answer.notes` what else must be said. `answer.period` has
`before()` and `after()` for the arrows, `with_period` makes the question for them.
`DIMENSIONS`, `MEASURES` and `BUCKETS` are the tables forms are built from.
"""

from leadline.query.answer import Answer, ask, with_period
from leadline.query.coverage import Coverage
from leadline.query.dimensions import DIMENSIONS, Dimension, dimension
from leadline.query.measure import Measure
from leadline.query.measures import MEASURES, measure
from leadline.query.periods import Period, parse_period
from leadline.query.question import (
    BUCKETS,
    DEFAULT_PERIOD,
    Filter,
    Prefix,
    Question,
    parse_filters,
    parse_question,
    question,
)

__all__ = [
    "BUCKETS",
    "DEFAULT_PERIOD",
    "DIMENSIONS",
    "MEASURES",
    "Answer",
    "Coverage",
    "Dimension",
    "Filter",
    "Measure",
    "Period",
    "Prefix",
    "Question",
    "ask",
    "dimension",
    "measure",
    "parse_filters",
    "parse_period",
    "parse_question",
    "question",
    "with_period",
]
