"""jetpack.autoscale, as CycleCloud's documentation describes it, on the autoscaler's own interface (../cyclecloud_autoscaler.py)."""
from cyclecloud_autoscaler import AutoscalerError, NoAnswerError, UsageError, outcomes, remove, set, update  # noqa: F401
