// What a recorder's file holds, as h5mote's object model reads it.
#include "recording.hpp"

#include "sound.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>

namespace h5mote_test {

using namespace h5mote;

namespace {

std::string said(const std::string& path, Status status) { return path + ": " + to_string(status) + "; "; }

std::string read_rows(File& file, const Described::Dataset& what, Blob& rows) {
    auto dataset = file.root().open_dataset(what.path);
    Dataspace space;
    if (!dataset || dataset->dataspace(space) != Status::ok || dataset->element_size() != what.row) {
        return what.path + " cannot be opened; ";
    }
    rows.resize(static_cast<std::size_t>(space.dims()[0]) * what.row);
    const Status status =
        rows.empty() ? Status::ok : dataset->read_stored(Selection::all(), {rows.data(), rows.size()});
    return status == Status::ok ? "" : said(what.path, status);
}

template <typename Owner>
std::string read_setting(Result<Owner>&& object, const Described::Setting& what, Blob& value) {
    if (!object) {
        return said(what.path, object.status());
    }
    auto attribute = object->open_attribute(what.name);
    if (!attribute) {
        return said(what.path + "@" + what.name, attribute.status());
    }
    value.resize(what.value.size());
    const Status status = attribute->read_stored(0, {value.data(), value.size()});
    return status == Status::ok ? "" : said(what.path + "@" + what.name, status);
}

}  // namespace

std::string compare_by_h5mote(Driver& driver, const Described& described, const Contents& contents, Seen& seen) {
    seen.rows.assign(described.datasets.size(), 0);
    seen.settings.assign(described.settings.size(), 0);
    MallocAllocator allocator;
    NullPort port;
    const Filter* const filters[] = {&deflate_filter, &shuffle_filter, &fletcher32_filter};
    Library library{allocator, port, filters};
    FileAccess access;
    access.read_only = true;
    auto file = File::open(library, driver, access);
    if (!file) {
        return contents.created ? said("h5mote", file.status()) : "";
    }
    std::string bad;
    Blob bytes;
    for (std::size_t i = 0; i < described.datasets.size(); ++i) {
        const std::string why = read_rows(*file, described.datasets[i], bytes);
        bad += why.empty() ? judge_rows(described, contents, i, bytes) : why;
        seen.rows[i] = why.empty() ? bytes.size() / described.datasets[i].row : 0;
    }
    for (std::size_t i = 0; i < described.settings.size(); ++i) {
        const Described::Setting& what = described.settings[i];
        std::string why = "is no object; ";
        if (auto group = file->root().open_group(what.path)) {
            why = read_setting(std::move(group), what, bytes);
        } else {
            why = read_setting(file->root().open_dataset(what.path), what, bytes);
        }
        bad += why.empty() ? judge_setting(described, contents, i, bytes, seen) : why;
    }
    const Findings findings = findings_in(*file);
    if (!findings.none()) {
        bad += "check_file(): problem " + std::to_string(findings.last_kind) + " at " +
               std::to_string(findings.last_address) + "; ";
    }
    return bad.empty() ? bad : "h5mote: " + bad;
}

}  // namespace h5mote_test
