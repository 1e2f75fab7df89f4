"""Converts between h5py's low-level datatypes and those of expect.py; and calls of libhdf5 that h5py does not offer."""

import ctypes

from h5py import h5t

import expect

PADS = {h5t.STR_NULLTERM: "nullterm", h5t.STR_NULLPAD: "nullpad", h5t.STR_SPACEPAD: "spacepad"}
CSETS = {h5t.CSET_ASCII: "ascii", h5t.CSET_UTF8: "utf8"}
ORDERS = {h5t.ORDER_LE: "le", h5t.ORDER_BE: "be"}


def hdf5_library():
    """The libhdf5 that h5py has loaded."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            path = line.split()[-1]
            name = path.rsplit("/", 1)[-1]
            if name.startswith("libhdf5") and "_hl" not in name and "_cpp" not in name:
                return ctypes.CDLL(path)
    raise RuntimeError("h5py has loaded no libhdf5")


_library = hdf5_library()
_hid = ctypes.c_int64


def hid(object_id):
    return _hid(object_id.id)


def check_call(name, *arguments):
    """Calls a function of libhdf5 that h5py does not wrap."""
    if getattr(_library, name)(*arguments) < 0:
        raise RuntimeError(name)


def get_fill(dcpl, tid):
    """The fill value as bytes of the datatype `tid`."""
    buffer = ctypes.create_string_buffer(tid.get_size())
    check_call("H5Pget_fill_value", hid(dcpl), hid(tid), buffer)
    return buffer.raw


def set_fill(dcpl, tid, data):
    """Sets the fill value; `data` None: the fill value is undefined (H5D_FILL_VALUE_UNDEFINED)."""
    check_call("H5Pset_fill_value", hid(dcpl), hid(tid), data)


CHUNK_INDEXES = ["btree1", "single", "implicit", "fixed_array", "extensible_array", "btree2"]


def chunk_index(dataset):
    index = ctypes.c_int()
    check_call("H5Dget_chunk_index_type", hid(dataset), ctypes.byref(index))
    return CHUNK_INDEXES[index.value]


def describe(tid):
    """The expect.Type for an h5py TypeID."""
    size = tid.get_size()
    if isinstance(tid, h5t.TypeEnumID):
        base = describe(tid.get_super())
        count = tid.get_nmembers()
        members = [(tid.get_member_name(i).decode("utf-8", "surrogateescape"), enum_value(tid, i, base))
                   for i in range(count)]
        return expect.Enum(base, members)
    if isinstance(tid, (h5t.TypeIntegerID, h5t.TypeBitfieldID)):
        kind = "bits" if isinstance(tid, h5t.TypeBitfieldID) else "i" if tid.get_sign() else "u"
        return expect.Number(kind, size, ORDERS[tid.get_order()], *significant_bits(tid))
    if isinstance(tid, h5t.TypeFloatID):
        number = expect.Number("f", size, ORDERS[tid.get_order()], tid.get_precision(), tid.get_offset())
        ieee = FLOATS.get(number.text())
        return number if ieee is not None and ieee == tid else expect.Other("float%d, not IEEE" % size)
    if isinstance(tid, h5t.TypeStringID):
        pad, cset = PADS[tid.get_strpad()], CSETS[tid.get_cset()]
        return expect.Other("vlstr:%s:%s" % (pad, cset)) if tid.is_variable_str() else expect.String(size, pad, cset)
    if isinstance(tid, h5t.TypeOpaqueID):
        return expect.Opaque(size, tid.get_tag().decode("utf-8", "surrogateescape"))
    if isinstance(tid, h5t.TypeArrayID):
        return expect.Array(list(tid.get_array_dims()), describe(tid.get_super()))
    if isinstance(tid, h5t.TypeCompoundID):
        return expect.Compound(size, [(tid.get_member_name(i).decode("utf-8", "surrogateescape"),
                                       tid.get_member_offset(i), describe(tid.get_member_type(i)))
                                      for i in range(tid.get_nmembers())])
    if isinstance(tid, h5t.TypeReferenceID):
        return expect.Other("ref:object" if tid == h5t.STD_REF_OBJ else "ref:region", size)
    if isinstance(tid, h5t.TypeVlenID):
        return expect.Other("vlen(%s)" % describe(tid.get_super()).text(), size)
    return expect.Other("class%d" % tid.get_class(), size)


def significant_bits(tid):
    """The precision and the offset of a number type, in bits."""
    _library.H5Tget_precision.restype = ctypes.c_size_t
    return _library.H5Tget_precision(hid(tid)), _library.H5Tget_offset(hid(tid))


def enum_value(tid, i, base):
    buffer = ctypes.create_string_buffer(base.size)
    check_call("H5Tget_member_value", hid(tid), ctypes.c_uint(i), buffer)
    return base.value(buffer.raw)


FLOATS = {"f4le": h5t.IEEE_F32LE, "f4be": h5t.IEEE_F32BE, "f8le": h5t.IEEE_F64LE, "f8be": h5t.IEEE_F64BE}


def build(type_):
    """The h5py TypeID for an expect.Type."""
    if isinstance(type_, expect.Number):
        suffix = ("LE" if type_.order == "le" else "BE")
        if type_.kind == "f":
            return FLOATS["f%d%s" % (type_.size, type_.order)].copy()
        prefix = {"i": "STD_I", "u": "STD_U", "bits": "STD_B"}[type_.kind]
        tid = getattr(h5t, "%s%d%s" % (prefix, 8 * type_.size, suffix)).copy()
        if type_.precision != 8 * type_.size:
            tid.set_precision(type_.precision)
            tid.set_offset(type_.offset)
        return tid
    if isinstance(type_, expect.String):
        tid = h5t.C_S1.copy()
        tid.set_size(type_.size)
        tid.set_strpad(next(k for k, v in PADS.items() if v == type_.pad))
        tid.set_cset(next(k for k, v in CSETS.items() if v == type_.cset))
        return tid
    if isinstance(type_, expect.Opaque):
        tid = h5t.create(h5t.OPAQUE, type_.size)
        tid.set_tag(type_.tag.encode())
        return tid
    if isinstance(type_, expect.Enum):
        tid = h5t.enum_create(build(type_.base))
        for name, value in type_.members:
            data = value.to_bytes(type_.size, "little" if type_.base.order == "le" else "big", signed=value < 0)
            check_call("H5Tenum_insert", hid(tid), name.encode(), data)
        return tid
    if isinstance(type_, expect.Array):
        return h5t.array_create(build(type_.base), tuple(type_.dims))
    if isinstance(type_, expect.Compound):
        tid = h5t.create(h5t.COMPOUND, type_.size)
        for name, offset, member in type_.members:
            tid.insert(name.encode(), offset, build(member))
        return tid
    raise ValueError("cannot build " + type_.text())
