"""Adapters for engines that bring the rows: Ray Data and Spark.

A module of an engine imports it; nothing else of this package does.
"""
