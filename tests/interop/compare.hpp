// Compares a file, as h5mote reads it, with a sidecar: names, links, attributes, datatypes and every value.
#pragma once

#include "session.hpp"

namespace h5mote_interop {

class Comparison {
public:
    /// `file` is the open file that `sidecar` describes; `name` names it in messages. Everything is borrowed.
    Comparison(h5mote::Library& library, h5mote::File& file, Sidecar& sidecar, std::string name);

    /// Compares everything and prints each difference. Returns false if there was one.
    bool run();
    std::uint64_t checks() const { return checks_; }

private:
    bool check(bool right, const std::string& what);
    bool ok(h5mote::Status status, const std::string& what);

    void group(const Entry& entry);
    void order(const Entry& entry, std::vector<std::pair<std::uint64_t, std::string>>& found);
    void link(const Entry& group, const std::string& name, const std::string& target, const h5mote::LinkInfo& info);
    void attributes(const Entry& entry, h5mote::Object& object);
    void attribute(const Entry& entry, h5mote::Object& object);
    void dataset(const Entry& entry);
    void whole(const Entry& entry, h5mote::Dataset& dataset, h5mote::DatatypeView type);
    void parts(const Entry& entry, h5mote::Dataset& dataset, h5mote::DatatypeView type, Blob& whole);
    void converted(const Entry& entry, h5mote::Dataset& dataset, h5mote::DatatypeView type, const Blob& whole);
    void values(const Entry& entry, h5mote::DatatypeView type, Blob& data);
    bool address_of(const std::string& path, h5mote::Address& address);

    h5mote::Library& library_;
    h5mote::File& file_;
    Sidecar& sidecar_;
    std::string name_;
    std::uint64_t checks_ = 0;
    std::uint64_t differences_ = 0;
};

}  // namespace h5mote_interop
