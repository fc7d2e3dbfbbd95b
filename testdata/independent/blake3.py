"""BLAKE3 in plain Python (hash, keyed and derive-key mode), and the ids that Waybill derives with it.

Small and slow on purpose: ids are made of a few hundred bytes. Run this file to check it against
the published test vectors.
"""
import struct

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
LANES = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
         (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED, CONTEXT, MATERIAL = 1, 2, 4, 8, 16, 32, 64
MASK = 0xFFFFFFFF
ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


def _rotate(x, n):
    return (x >> n) | (x << (32 - n)) & MASK


def _compress(cv, words, counter, length, flags):
    """The compression function; returns all sixteen words."""
    s = list(cv) + [IV[0], IV[1], IV[2], IV[3], counter & MASK, counter >> 32, length, flags]
    m = list(words)
    for _ in range(7):
        for i, (a, b, c, d) in enumerate(LANES):
            for word, left, right in ((m[2 * i], 16, 12), (m[2 * i + 1], 8, 7)):
                s[a] = (s[a] + s[b] + word) & MASK
                s[d] = _rotate(s[d] ^ s[a], left)
                s[c] = (s[c] + s[d]) & MASK
                s[b] = _rotate(s[b] ^ s[c], right)
        m = [m[p] for p in PERMUTATION]
    return [s[i] ^ s[i + 8] for i in range(8)] + [s[i + 8] ^ cv[i] for i in range(8)]


def _words(block):
    return struct.unpack("<16I", block.ljust(64, b"\0"))


def _chunk(key, chunk, counter, flags):
    """The arguments of the last compression of one chunk; it is the root's when there is no other."""
    cv, blocks = key, [chunk[i:i + 64] for i in range(0, len(chunk), 64)] or [b""]
    for i, block in enumerate(blocks):
        f = flags | (CHUNK_START if i == 0 else 0) | (CHUNK_END if i == len(blocks) - 1 else 0)
        if i == len(blocks) - 1:
            return cv, _words(block), counter, len(block), f
        cv = _compress(cv, _words(block), counter, 64, f)[:8]


def _tree(key, data, counter, flags):
    """The arguments of the last compression of a subtree that starts at chunk number `counter`."""
    if len(data) <= 1024:
        return _chunk(key, data, counter, flags)
    left = 1024
    while left * 2 < len(data):
        left *= 2
    words = (_compress(*_tree(key, data[:left], counter, flags))[:8]
             + _compress(*_tree(key, data[left:], counter + left // 1024, flags))[:8])
    return key, words, 0, 64, flags | PARENT


def _digest(key, data, flags):
    cv, words, _, length, f = _tree(key, data, 0, flags)
    return struct.pack("<8I", *_compress(cv, words, 0, length, f | ROOT)[:8])


def blake3(data):
    """32 bytes of the plain hash."""
    return _digest(IV, data, 0)


def derive_key(context, material):
    """32 bytes of the derive-key mode."""
    key = struct.unpack("<8I", _digest(IV, context.encode("utf-8"), CONTEXT))
    return _digest(key, material, MATERIAL)


def keyed(key, data):
    """32 bytes of the keyed mode."""
    return _digest(struct.unpack("<8I", key), data, KEYED)


def base32(data):
    """Base32 in the alphabet of ids, without padding."""
    bits = len(data) * 8
    n = int.from_bytes(data, "big") << (-bits % 5)
    size = (bits + 4) // 5
    return "".join(ALPHABET[(n >> (5 * (size - 1 - i))) & 31] for i in range(size))


def derive_id(prefix, *parts):
    """An id of section 5 of the format: context string, length-prefixed parts, 16 bytes, base32."""
    material = b""
    for part in parts:
        raw = part if isinstance(part, bytes) else str(part).encode("utf-8")
        material += struct.pack("<Q", len(raw)) + raw
    return prefix + "_" + base32(derive_key("waybill 2026 v1 " + prefix + " id", material)[:16])


VECTORS = (  # length of 0, 1, .. 250, 0, 1, ..; hash; derived key
    (0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
     "2cc39783c223154fea8dfb7c1b1660f2ac2dcbd1c1de8277b0b0dd39b7e50d7d"),
    (1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213", None),
    (1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7", None),
    (1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444", None),
)


def selftest():
    """Published vectors, and the examples of the format page; returns what failed."""
    failed = []
    for size, plain, derived in VECTORS:
        data = bytes(i % 251 for i in range(size))
        if blake3(data).hex() != plain:
            failed.append("blake3 of %d bytes" % size)
        if derived and derive_key("BLAKE3 2019-12-27 16:29:52 test vectors context", data).hex() != derived:
            failed.append("derive_key of %d bytes" % size)
    if keyed(b"whats the Elvish word for friend", b"").hex() != (
            "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26"):
        failed.append("keyed")
    if derive_id("sess", "seed", b"\1" + bytes(15)) != "sess_aihge25qelb43nyo2uzheououe":
        failed.append("id from a seed")
    if derive_id("run", "key", "store_jx7idu4ze366nqupopf574ay64", "nightly") != "run_oqdz6txtcmxmhjnacwmlgj4cqq":
        failed.append("id from a start key")
    return failed


if __name__ == "__main__":
    bad = selftest()
    print("blake3: " + ("; ".join(bad) if bad else "all vectors hold"))
    raise SystemExit(1 if bad else 0)
