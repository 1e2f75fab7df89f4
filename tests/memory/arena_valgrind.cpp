// Makes one kind of access to the memory of an arena, right or wrong; valgrind must report the wrong ones.
#include <h5mote/arena.hpp>

#include <cstdio>
#include <cstring>

int main(int count, char** arguments) {
    alignas(8) static std::byte memory[1024];
    h5mote::Arena arena{memory};
    const char* const kind = count > 1 ? arguments[1] : "";
    auto* const block = static_cast<volatile unsigned char*>(arena.allocate(13));
    void* const other = arena.allocate(40);
    if (block == nullptr || other == nullptr) {
        return 2;
    }
    std::memset(const_cast<unsigned char*>(block), 7, 13);
    unsigned seen = block[12];
    if (std::strcmp(kind, "behind") == 0) {
        seen += block[13];
    } else if (std::strcmp(kind, "released") == 0) {
        arena.release(const_cast<unsigned char*>(block), 13);
        seen += block[0];
    } else if (std::strcmp(kind, "uninitialised") == 0) {
        seen += static_cast<volatile unsigned char*>(other)[0] == 3 ? 1U : 0U;
    } else if (std::strcmp(kind, "right") == 0) {
        auto* const grown = static_cast<unsigned char*>(arena.resize(other, 40, 60));
        arena.release(const_cast<unsigned char*>(block), 13);
        arena.release(grown, 60);
        seen += arena.check() && arena.largest_free() == sizeof memory ? 0U : 1U;
    } else {
        return 2;
    }
    std::printf("%u\n", seen);
    return 0;
}
