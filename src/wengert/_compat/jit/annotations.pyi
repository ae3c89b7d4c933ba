# Made by tools/make_stubs.py; do not edit.
from typing import Any as Any, Dict as Dict, List as List, Optional as Optional, Tuple as Tuple, Union as Union
BroadcastingList1: Any
BroadcastingList2: Any
BroadcastingList3: Any
BroadcastingList4: Any
BroadcastingList5: Any
BroadcastingList6: Any
