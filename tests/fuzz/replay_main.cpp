// Runs the fuzz target once with every file of the given folders, as a regression test without libFuzzer. Prints
// `N inputs`; if there are none, the exit code is 1.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
    unsigned inputs = 0;
    for (int i = 1; i < argc; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            std::ifstream from(entry.path(), std::ios::binary);
            const std::vector<char> bytes(std::istreambuf_iterator<char>(from), {});
            LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
            ++inputs;
        }
    }
    std::printf("%u inputs\n", inputs);
    return inputs == 0 ? 1 : 0;
}
