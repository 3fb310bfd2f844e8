"""Helpers that the Go tests use in their Python interpreter."""
import ctypes
import gc
import json
import sys
import threading

_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_names = {False: b"dltensor", True: b"dltensor_versioned"}
_used = {False: b"used_dltensor", True: b"used_dltensor_versioned"}


class Tensor:
    """A tensor exported by Go, in the form that from_dlpack accepts."""

    def __init__(self, address, versioned, device):
        self.address, self.versioned, self.device = address, versioned, device

    def __dlpack__(self, **_):
        return _api.PyCapsule_New(self.address, _names[self.versioned], None)

    def __dlpack_device__(self):
        return self.device


def give(array, versioned, result):
    """Exports an array and stores the address of the tensor at address result."""
    capsule = array.__dlpack__(max_version=(1, 0)) if versioned else array.__dlpack__()
    address = _api.PyCapsule_GetPointer(capsule, _names[versioned])
    _api.PyCapsule_SetName(capsule, _used[versioned])
    ctypes.c_uint64.from_address(result).value = address


class Array:
    """An array whose interface dictionary comes from Go."""

    def __init__(self, text):
        self.__cuda_array_interface__ = interface = json.loads(text)
        interface["shape"] = tuple(interface["shape"])
        interface["data"] = tuple(interface["data"])


def on_thread(function):
    """Runs a function on a new thread and waits for it."""
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def values(array):
    """Returns the elements of an array of any library as a list."""
    return [float(v) for v in array.reshape(-1).tolist()]


def check(have, want):
    if have != want:
        raise AssertionError(f"have {have}, want {want}")
