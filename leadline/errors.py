"""
Every error leadline raises on purpose: one line that says what, where and the way out.

The command line prints it and ends with `exit_code`; anything else that escapes is a bug.
"""


class LeadlineError(Exception):
    exit_code = 1


class FormatError(LeadlineError):
    """
    A document or record that cannot be taken as it is. The only thing a parser may raise.
    """


class SettingsError(LeadlineError):
    """
    A setting that cannot be used: names file, line and the nearest right thing.
    """

    exit_code = 2


class SpoolError(LeadlineError):
    """
    A spool that cannot be read or written.
    """


class StoreError(LeadlineError):
    """
    A store that cannot answer or cannot be opened.
    """


class NotAllowedError(StoreError):
    """
    What may not be told to who asks, whoever it is about.
    """


class QuestionError(LeadlineError):
    """
    A question nobody can answer: an unknown measure, dimension or period.
    """

    exit_code = 2


class NothingKnownError(QuestionError):
    """
    A question that is understood, about something that nobody ever told of.
    """

    exit_code = 1
