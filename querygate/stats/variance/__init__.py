"""Variance, standard deviation and coefficient of variation."""
