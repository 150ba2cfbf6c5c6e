"""Briefs in English and Chinese: what their words mean, or which of them mean nothing here."""

from embodiedsmith.forge.language.errors import CannotBe, NotUnderstood
from embodiedsmith.forge.language.meaning import Command, Meaning, NounPhrase, Place, Statement
from embodiedsmith.forge.language.reading import read

__all__ = ["CannotBe", "Command", "Meaning", "NotUnderstood", "NounPhrase", "Place", "Statement", "read"]
