"""Adds `jetpack.autoscale` to the package jetpack that is installed, if there is one: that one is loaded in place of this file."""
import importlib.machinery
import importlib.util
import os
import sys

_ours = os.path.dirname(os.path.abspath(__file__))


def _find():
    others = [entry for entry in sys.path if os.path.abspath(os.path.join(entry or os.curdir, "jetpack")) != _ours]
    return importlib.machinery.PathFinder.find_spec("jetpack", others)


_spec = _find()
if _spec is not None and os.path.realpath(_spec.origin or "") != os.path.realpath(__file__):
    _folders = [_ours] + list(_spec.submodule_search_locations or [])
    if _spec.loader is None or not _spec.origin or _spec.origin == "namespace":
        __path__ = _folders
    else:
        _module = importlib.util.module_from_spec(_spec)
        # autoscale is found here, and everything else there.
        _module.__path__ = _folders
        sys.modules[__name__] = _module
        _spec.loader.exec_module(_module)
