#include "dense_changes.hpp"
#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE
namespace h5mote { const DenseChangesFormat formats::dense_changes = {1}; }
#endif
