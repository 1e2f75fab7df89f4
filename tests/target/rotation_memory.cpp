// Logs rotate in the memory of a board that has no storage.
#include "rotation_part.hpp"

#include <h5mote/vfd/memory.hpp>

#include <optional>

namespace board {
namespace {

using h5mote::Status;

std::byte bytes[128 << 10];
std::optional<h5mote::MemoryDriver> memory;

}  // namespace

Status make_part(std::uint64_t& capacity) noexcept {
    capacity = sizeof bytes;
    memory.emplace(h5mote::Bytes(bytes, sizeof bytes));
    return Status::ok;
}

Status start_part(h5mote::Driver*& driver) noexcept {
    const std::size_t size = memory->contents().size();
    memory.emplace(h5mote::Bytes(bytes, sizeof bytes), size);
    driver = &*memory;
    return Status::ok;
}

}  // namespace board
