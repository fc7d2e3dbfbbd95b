"""Files and folders of a store: only these are read, and no links (section 2)."""
import os
import stat


class Ended(Exception):
    """What ends a verification: the code of the error, and why."""


def mode_of(path):
    """The mode of the file at a path, of a link itself; None where none exists."""
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_file(path):
    return stat.S_ISREG(mode_of(path) or 0)


def is_folder(path):
    return stat.S_ISDIR(mode_of(path) or 0)


def read_file(path):
    """The bytes of a file, or None where nothing is. What is no file ends the verification."""
    if mode_of(path) is None:
        return None
    if not is_file(path):
        raise Ended("STORE_CORRUPT", "%s is no file" % path)
    with open(path, "rb") as f:
        return f.read()


def list_folder(path):
    """The sorted names in a folder, none where nothing is. What is no folder ends the verification."""
    if mode_of(path) is None:
        return []
    if not is_folder(path):
        raise Ended("STORE_CORRUPT", "%s is no folder" % path)
    return sorted(os.listdir(path))
