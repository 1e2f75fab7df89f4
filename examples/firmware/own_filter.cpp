#include <h5mote/filters/deflate.hpp>
#include <h5mote/h5mote.hpp>

// Stores each byte as its difference from the byte before. Slow signals become small numbers, which deflate packs well.
class DeltaFilter final : public h5mote::Filter {
public:
    static constexpr h5mote::FilterId kId{300};  // 256 to 511 are for filters that stay in one's own house

    constexpr DeltaFilter() = default;
    h5mote::FilterId id() const noexcept override { return kId; }
    const char* name() const noexcept override { return "delta"; }
    bool in_place() const noexcept override { return true; }
    h5mote::Status encode(const h5mote::FilterSpec& /*spec*/, h5mote::ConstBytes in, h5mote::Bytes out,
                          std::size_t& size, h5mote::Bytes /*scratch*/) const noexcept override {
        return run(in, out, size, true);
    }
    h5mote::Status decode(const h5mote::FilterSpec& /*spec*/, h5mote::ConstBytes in, h5mote::Bytes out,
                          std::size_t& size, h5mote::Bytes /*scratch*/) const noexcept override {
        return run(in, out, size, false);
    }

private:
    static h5mote::Status run(h5mote::ConstBytes in, h5mote::Bytes out, std::size_t& size, bool encode) noexcept {
        if (out.size() < in.size()) {
            return encode ? h5mote::Status::no_space : h5mote::Status::corrupt_file;
        }
        unsigned before = 0;
        for (std::size_t i = 0; i < in.size(); ++i) {
            const auto byte = std::to_integer<unsigned>(in[i]);
            out[i] = static_cast<std::byte>(encode ? byte - before : byte + before);
            before = encode ? byte : std::to_integer<unsigned>(out[i]);
        }
        size = in.size();
        return h5mote::Status::ok;
    }
};

static constexpr DeltaFilter delta_filter;
static constexpr const h5mote::Filter* kFilters[] = {&delta_filter, &h5mote::deflate_filter};

h5mote::Status log_with_filter(h5mote::Driver& storage) {
    alignas(8) static std::byte memory[16 * 1024];
    h5mote::Arena arena{memory};
    h5mote::NullPort port;
    h5mote::Library library{arena, port, kFilters};  // only these filters are linked
    h5mote::DatasetCreate layout;
    layout.chunk = {256};
    layout.filters = {h5mote::FilterSpec{DeltaFilter::kId}, h5mote::filters::deflate};
    auto file = h5mote::File::open_or_create(library, storage);
    H5MOTE_TRY(file.status());
    auto log = file->root().open_or_create_dataset<std::uint8_t>("level", layout);
    H5MOTE_TRY(log.status());
    for (unsigned i = 0; i < 1000; ++i) {
        H5MOTE_TRY(log->append(static_cast<std::uint8_t>(i / 10)));
    }
    return file->close();
}
