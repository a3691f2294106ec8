"""A test side in Ruby, which shows how little one has to do, and its tests in minitest."""
