"""Programs that rows start in new processes: each measures itself and prints one number."""
