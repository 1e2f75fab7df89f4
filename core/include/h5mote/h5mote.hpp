// h5mote: HDF5 for machines that have kilobytes. Includes everything that an application needs, except the driver of
// its storage.
#pragma once

#include <h5mote/arena.hpp>
#include <h5mote/attribute.hpp>
#include <h5mote/compound.hpp>
#include <h5mote/dataset.hpp>
#include <h5mote/file.hpp>
#include <h5mote/group.hpp>
#include <h5mote/library.hpp>
#include <h5mote/limits.hpp>
#include <h5mote/named_datatype.hpp>
