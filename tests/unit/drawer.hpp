// Files in memory that a file under test names: they can be read, written and made, and their calls can fail.
#pragma once

#include "failing_driver.hpp"
#include "world.hpp"

#include <h5mote/opener.hpp>

#include <map>
#include <memory>
#include <string>

namespace h5mote_test {

class Drawer final : public h5mote::DriverOpener {
public:
    struct File {
        explicit File(h5mote::Allocator& memory) : storage(memory) {}
        h5mote::GrowingMemoryDriver storage;
        FailingDriver driver{storage};
        int uses = 0;
    };

    h5mote::Status open(const h5mote::Driver& /*parent*/, std::string_view name, h5mote::OpenPurpose /*purpose*/,
                        h5mote::Driver*& driver) noexcept override {
        const auto found = files_.find(name);
        return found == files_.end() ? h5mote::Status::not_found : give(*found->second, driver);
    }
    h5mote::Status open_to_write(const h5mote::Driver& parent, std::string_view name, h5mote::OpenPurpose purpose,
                                 h5mote::Driver*& driver) noexcept override {
        if (!writable) {
            return h5mote::Status::read_only;
        }
        return purpose == h5mote::OpenPurpose::external_data ? give(file(name), driver)
                                                             : open(parent, name, purpose, driver);
    }
    void close(h5mote::Driver& driver) noexcept override {
        for (auto& [name, file] : files_) {
            file->uses -= &file->driver == &driver ? 1 : 0;
        }
    }

    /// The file of that name, which is made if it is not there.
    File& file(std::string_view name) {
        auto& entry = files_[std::string(name)];
        if (entry == nullptr) {
            entry = std::make_unique<File>(memory_);
        }
        return *entry;
    }
    bool exists(std::string_view name) const { return files_.find(name) != files_.end(); }
    Image image(std::string_view name) {
        const h5mote::ConstBytes bytes = file(name).storage.contents();
        return Image(bytes.begin(), bytes.end());
    }
    /// Files that are open.
    int open_files() const {
        int uses = 0;
        for (const auto& [name, file] : files_) {
            uses += file->uses;
        }
        return uses;
    }

    bool writable = true;

private:
    static h5mote::Status give(File& file, h5mote::Driver*& driver) noexcept {
        ++file.uses;
        driver = &file.driver;
        return h5mote::Status::ok;
    }

    h5mote::MallocAllocator memory_;
    std::map<std::string, std::unique_ptr<File>, std::less<>> files_;
};

}  // namespace h5mote_test
