// h5mote - looks into HDF5 files of any kind within a fixed amount of memory.
#include "commands.hpp"

int main(int count, char** arguments) {
    std::vector<std::string> words(arguments + 1, arguments + count);
    if (!words.empty() && words[0] == "dump") {
        words = h5mote::cli::normalize_dump_arguments(words);
    }
    return h5mote::cli::run(words);
}
