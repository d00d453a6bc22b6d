"""Tests of data and unit tests of models."""
