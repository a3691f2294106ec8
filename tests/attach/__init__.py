"""Tests of what an application's environment must say."""
