"""Runs of the warehouse as runs of an experiment tracker."""
