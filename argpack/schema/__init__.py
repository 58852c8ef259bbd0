"""Argument buffers declared once: a table of fields that gives the bytes, construct, numpy and C forms.

It knows nothing of GPUs. Importing it imports neither numpy nor construct: each loads with its form.
"""

from argpack.schema.field import Field, Role, Slot
from argpack.schema.kernarg import KernargSchema, Values
from argpack.schema.scalar import TYPES, ScalarType

__all__ = ["TYPES", "Field", "KernargSchema", "Role", "ScalarType", "Slot", "Values"]
