// scales_libhdf5 FILE...: reads the scales of recorded files with libhdf5's own functions for them, and changes them.
#include <hdf5.h>
#include <hdf5_hl.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

int failures = 0;

void expect(bool fact, const char* what, const char* path) {
    if (!fact) {
        std::fprintf(stderr, "%s: not so: %s\n", path, what);
        ++failures;
    }
}
#define EXPECT(fact) expect((fact), #fact, path)

herr_t list(hid_t /*dataset*/, unsigned /*dimension*/, hid_t scale, void* names) {
    char name[64] = {};
    H5DSget_scale_name(scale, name, sizeof name);
    static_cast<std::vector<std::string>*>(names)->push_back(name);
    return 0;
}

std::vector<std::string> scales_of(hid_t dataset, unsigned dimension) {
    std::vector<std::string> names;
    H5DSiterate_scales(dataset, dimension, nullptr, list, &names);
    return names;
}

std::string label_of(hid_t dataset, unsigned dimension) {
    char text[64] = {};
    H5DSget_label(dataset, dimension, text, sizeof text);
    return text;
}

void check(const char* path) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    EXPECT(file >= 0);
    const hid_t time = H5Dopen2(file, "/flight/t_us", H5P_DEFAULT);
    const hid_t imu = H5Dopen2(file, "/flight/imu", H5P_DEFAULT);
    const hid_t pressure = H5Dopen2(file, "/flight/pressure", H5P_DEFAULT);
    const hid_t index = H5Dopen2(file, "/flight/index", H5P_DEFAULT);
    const hid_t axis = H5Dopen2(file, "/axis", H5P_DEFAULT);
    const hid_t gains = H5Dopen2(file, "/gains", H5P_DEFAULT);
    using Names = std::vector<std::string>;
    EXPECT(H5DSis_scale(time) > 0 && H5DSis_scale(index) > 0 && H5DSis_scale(axis) > 0);
    EXPECT(H5DSis_scale(imu) == 0 && H5DSis_scale(gains) == 0);
    EXPECT(H5DSis_attached(imu, time, 0) > 0);
    EXPECT(H5DSis_attached(pressure, time, 0) > 0 && H5DSis_attached(pressure, index, 0) > 0);
    EXPECT(H5DSis_attached(gains, axis, 0) == 0 && H5DSis_attached(gains, axis, 1) > 0);
    EXPECT(H5DSget_num_scales(gains, 0) == 0);
    EXPECT(scales_of(imu, 0) == Names{"t_us"});
    EXPECT((scales_of(pressure, 0) == Names{"t_us", "index"}));
    EXPECT(scales_of(gains, 1) == Names{"axes of the chip"});
    EXPECT(label_of(imu, 0) == "time" && label_of(gains, 0).empty() && label_of(gains, 1) == "axis");
    // libhdf5 goes on with the lists and with the heap.
    EXPECT(H5DSdetach_scale(pressure, time, 0) >= 0);
    EXPECT(scales_of(pressure, 0) == Names{"index"});
    EXPECT(H5DSis_attached(imu, time, 0) > 0);
    EXPECT(H5DSset_label(pressure, 0, "row") >= 0 && H5DSset_label(gains, 0, "sensor") >= 0);
    EXPECT(H5DSattach_scale(pressure, time, 0) >= 0);
    EXPECT((scales_of(pressure, 0) == Names{"index", "t_us"}));
    EXPECT(label_of(gains, 0) == "sensor" && label_of(gains, 1) == "axis");
    for (const hid_t dataset : {time, imu, pressure, index, axis, gains}) {
        EXPECT(H5Dclose(dataset) >= 0);
    }
    EXPECT(H5Fclose(file) >= 0);
}

}  // namespace

int main(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
        check(arguments[i]);
    }
    return failures == 0 && count > 1 ? 0 : 1;
}
