"""Written by `make generate` from imports.PLACES; change that, not this."""

from tessella.accelerators import (
    device_count as device_count,
    empty_cache as empty_cache,
    is_available as is_available,
    manual_seed as manual_seed,
    manual_seed_all as manual_seed_all,
)
