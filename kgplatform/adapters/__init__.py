"""The public names of the adapters; what they do lies in ``kgplatform.doors.adapters``."""
