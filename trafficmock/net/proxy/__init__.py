"""The forward proxy: applications in any language, under the same routes and history."""
