// H5O - object header messages, decoded in place: views hold pointers into the header's bytes and no copies.
// Specification IV.A.2; the byte layout of each message is in the comment of its type.
#pragma once

#include "attribute_message.hpp"
#include "dataspace_message.hpp"
#include "external_files_message.hpp"
#include "fill_value_message.hpp"
#include "layout_message.hpp"
#include "link_message.hpp"
#include "pipeline_message.hpp"
