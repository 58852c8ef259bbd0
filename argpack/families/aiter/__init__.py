"""Declarations of AITER's kernel families, written by tools/declare_families."""
