// A program of another project for a board, compiled with the compiler's defaults: with exceptions and run-time type
// information.
#include <h5mote/h5mote.hpp>
#include <h5mote/vfd/memory.hpp>

namespace {

class OwnDriver final : public h5mote::Driver {
public:
    explicit OwnDriver(h5mote::Bytes bytes) noexcept : file_(bytes) {}
    h5mote::Capabilities capabilities() const noexcept override { return file_.capabilities(); }
    h5mote::Status read(h5mote::Usage usage, std::uint64_t address, h5mote::Bytes to) noexcept override {
        return file_.read(usage, address, to);
    }
    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override {
        return file_.write(usage, address, from);
    }
    h5mote::Status sync() noexcept override { return file_.sync(); }
    h5mote::Status end_of_file(std::uint64_t& size) noexcept override { return file_.end_of_file(size); }
    h5mote::Status truncate(std::uint64_t size) noexcept override { return file_.truncate(size); }

private:
    h5mote::MemoryDriver file_;
};
struct OwnPort : h5mote::Port {
    std::uint32_t time() noexcept override { return 7; }
};

alignas(8) std::byte memory[16384];
std::byte storage[2][8192];
OwnPort port;

// After an error, H5MOTE_TRY returns without closing anything: the destructors clean up, as they would after an
// exception.
h5mote::Status work(h5mote::Library& library, h5mote::Driver& driver) {
    auto file = h5mote::File::create(library, driver);
    H5MOTE_TRY(file.status());
    h5mote::DatasetCreate create;
    create.chunk = {16};
    auto log = file->root().create_dataset<std::uint32_t>("log", create);
    H5MOTE_TRY(log.status());
    for (std::uint32_t i = 0; i < 100; ++i) {
        H5MOTE_TRY(log->append(i));
    }
    H5MOTE_TRY(log->close());
    return file->close();
}

}  // namespace

int main() {
    h5mote::Arena arena{memory};
    h5mote::Library library{arena, port};
    OwnDriver own{storage[0]};
    h5mote::MemoryDriver memory_driver{storage[1]};
    const h5mote::Status status = work(library, own);
    return static_cast<int>(status == h5mote::Status::ok ? work(library, memory_driver) : status);
}
