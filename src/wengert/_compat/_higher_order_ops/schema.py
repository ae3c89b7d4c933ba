"""Schemas of higher-order operators, which PyTorch's compiler needs and wengert has not."""

from wengert._base.absent import absent_class

__all__ = ["HopSchemaGenerator"]

HopSchemaGenerator = absent_class("HopSchemaGenerator")
