"""What griffe needs to be told for the API pages; mkdocs.yml names this file."""

import re
from typing import Any

from griffe import Class, Extension, Function, Module, Object, Parameters

#: A role of Sphinx, such as ``:class:`Gate```; the pages show its name alone.
ROLE = re.compile(r":\w+:(?=`)")


class Pages(Extension):
    """Docstrings without roles, constructors of a stub, and its functions with overloads alone."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Takes the roles out of a docstring."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub("", obj.docstring.value)

    def on_class_members(self, *, cls: Class, **_: Any) -> None:
        """Shows `__new__`, which classes of the binding have, as the constructor."""
        new = cls.members.get("__new__")
        if isinstance(new, Function) and "__init__" not in cls.members:
            init = Function("__init__", parameters=Parameters(*list(new.parameters)[1:]))
            cls.set_member("__init__", init)

    def on_module_members(self, *, mod: Module, **_: Any) -> None:
        """Adds a function for overloads that stand alone; the first one describes them."""
        for name, overloads in mod.overloads.items():
            if name not in mod.members:
                function: Function = overloads[0]
                function.overloads = list(overloads)
                mod.set_member(name, function)
