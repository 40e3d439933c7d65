"""jetpack.autoscale, as CycleCloud's documentation describes it, on the autoscaler's own interface (../cyclecloud_autoscaler.py)."""
from cyclecloud_autoscaler import (  # noqa: F401
    AutoscalerError,
    NoAnswerError,
    UsageError,
    outcomes,
    remove,
    scale_by_jobs,
    set,
    update,
)
