"""Answers made of several questions: the job view, findings."""
