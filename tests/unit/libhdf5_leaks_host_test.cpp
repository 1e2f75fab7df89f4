// libhdf5 1.10.8 loses some memory when it meets damaged bytes. Tests that let it open such files would fail for that
// when LeakSanitizer looks for what the program has not released. What h5mote itself does not release is still found:
// none of its memory is allocated by a function of libhdf5.
#if H5MOTE_TEST_HDF5

// LeakSanitizer calls this function of the program, whose name it prescribes.
extern "C" const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() { return "leak:libhdf5\n"; }

#endif
