"""What only installing shows. Not found by trial's discovery: it builds and downloads."""
