"""``torch.compile``: one call of a function becomes a tape of operators, and the tape a program.

``tape``      the list: values, operators, results
``traced``    the payload that knows its number on a tape, and the tracer that writes the list
``plan``      the list made smaller, and memory for its values
``source``    the list as Python source: NumPy calls on planned memory
``guards``    the facts that a program depends on, checked before each call
``record``    one call recorded: its arguments lifted, its effects found
``returned``  what it returns: values, inputs, and what shows the memory of either
``refused``   the error of an operator that refuses its operands without their elements
``dispatch``  a compiled function: its programs, its breaks, its limits
``node``      the one node of a compiled forward pass
``public``    the names of ``torch.compiler`` and ``torch._dynamo``

Nothing here is imported before ``torch.compile`` is called.
"""

import wengert._dynamo  # first: it has names of these modules, which import its errors
