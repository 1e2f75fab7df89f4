#pragma once
#include <h5mote/formats.hpp>
namespace h5mote {
struct DenseChangesFormat {
    int x;
};
}  // namespace h5mote
