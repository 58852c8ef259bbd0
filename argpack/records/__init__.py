"""Many argument buffers at once: a capture log as columns, what differs in it, and files that other tools read.

It knows schemas and dumps, not kernels. Importing it imports numpy; Parquet and Arrow files need pyarrow.
"""

from argpack.records.columns import Columns, decode_columns
from argpack.records.export import FILE_TYPES, check_columns_path, write_columns
from argpack.records.groups import FieldSummary, Group, group_by, summarise
from argpack.records.log import LOG_FORMATS, Log, Record, read_log
from argpack.records.logs import Unread, beside, count, joined, keep, read_logs

__all__ = [
    "FILE_TYPES",
    "LOG_FORMATS",
    "Columns",
    "FieldSummary",
    "Group",
    "Log",
    "Record",
    "Unread",
    "beside",
    "check_columns_path",
    "count",
    "decode_columns",
    "group_by",
    "joined",
    "keep",
    "read_log",
    "read_logs",
    "summarise",
    "write_columns",
]
