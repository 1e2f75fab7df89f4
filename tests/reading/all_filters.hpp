// Every filter that the library has.
#pragma once

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/lzf.hpp>
#include <h5mote/filters/nbit.hpp>
#include <h5mote/filters/scaleoffset.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/filters/szip.hpp>

namespace h5mote_test {

inline constexpr const h5mote::Filter* kAllFilters[] = {
    &h5mote::deflate_filter,     &h5mote::shuffle_filter, &h5mote::fletcher32_filter, &h5mote::szip_filter,
    &h5mote::scaleoffset_filter, &h5mote::nbit_filter,    &h5mote::lzf_filter,
};

}  // namespace h5mote_test
