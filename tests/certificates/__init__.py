"""Tests of the certificate authority."""
