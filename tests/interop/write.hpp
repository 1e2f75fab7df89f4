// The functions of interop_write, one for each subject. Each writes one or more files with sidecars to a folder.
#pragma once

#include "session.hpp"

namespace h5mote_interop {

/// One datatype of each kind, in both byte orders.
std::vector<h5mote::DatatypeView> all_types();

/// A variant in which every file is written: bytes of an address, and version of the superblock.
struct Variant {
    std::uint8_t sizeof_addr;
    std::uint8_t superblock;
    std::string suffix() const {
        return "_a" + std::to_string(unsigned{sizeof_addr}) + "_s" + std::to_string(unsigned{superblock}) + ".h5";
    }
    Options options() const {
        Options options;
        options.create.sizeof_addr = sizeof_addr;
        options.create.superblock_version = superblock;
        return options;
    }
};

void write_empty(const std::string& folder, const Variant& variant);
void write_groups(const std::string& folder, const Variant& variant);
void write_links(const std::string& folder, const Variant& variant);
void write_unlinked(const std::string& folder, const Variant& variant);
void write_attributes(const std::string& folder, const Variant& variant);
void write_types(const std::string& folder, const Variant& variant);
void write_conversions(const std::string& folder, const Variant& variant);
void write_ranks(const std::string& folder, const Variant& variant);
void write_fills(const std::string& folder, const Variant& variant);
void write_chunks(const std::string& folder, const Variant& variant);
void write_partial(const std::string& folder, const Variant& variant);
void write_filters(const std::string& folder, const Variant& variant);
void write_logs(const std::string& folder, const Variant& variant);
void write_long_log(const std::string& folder, const Variant& variant);
void write_sessions(const std::string& folder, const Variant& variant);
void write_unclosed(const std::string& folder, const Variant& variant);
/// Files of blueprints, new and with rows.
void write_recorder(const std::string& folder);

}  // namespace h5mote_interop
