"""Files and folders of a store: only these are read, and no links (section 2)."""
import os
import stat


class Corrupt(Exception):
    """What ends a verification: STORE_CORRUPT."""


def read_file(path):
    """The bytes of a file, or None where nothing is. What is no file is refused."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(mode):
        raise Corrupt("%s is no file" % path)
    with open(path, "rb") as f:
        return f.read()


def list_folder(path):
    """The sorted names in a folder, none where nothing is. What is no folder is refused."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return []
    if not stat.S_ISDIR(mode):
        raise Corrupt("%s is no folder" % path)
    return sorted(os.listdir(path))
