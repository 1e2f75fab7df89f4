#include "object_messages.hpp"

namespace h5mote {
namespace {

// Seconds since 1970-01-01 of a date of the Gregorian calendar.
std::uint64_t seconds_of(unsigned year, unsigned month, unsigned day, unsigned seconds) noexcept {
    // Years begin in March here, so that the leap day is the last day of a year.
    const unsigned y = month <= 2 ? year - 1 : year;
    const unsigned m = month <= 2 ? month + 9 : month - 3;
    const unsigned days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1;
    constexpr unsigned kEpoch = 719468;  // days from 0000-03-01 to 1970-01-01
    return days < kEpoch ? 0 : std::uint64_t{days - kEpoch} * 86400 + seconds;
}

}  // namespace

std::uint32_t OldModificationTimeMessage::decode(ConstBytes body) noexcept {
    unsigned fields[6] = {};
    static constexpr std::uint8_t kWidths[6] = {4, 2, 2, 2, 2, 2};
    if (body.size() < kDigits) {
        return 0;
    }
    std::size_t at = 0;
    for (unsigned i = 0; i < 6; ++i) {
        for (unsigned digit = 0; digit < kWidths[i]; ++digit, ++at) {
            const unsigned value = static_cast<unsigned>(body[at]) - '0';
            if (value > 9) {
                return 0;
            }
            fields[i] = fields[i] * 10 + value;
        }
    }
    return fields[0] < 1970 || fields[1] == 0 || fields[1] > 12
               ? 0
               : static_cast<std::uint32_t>(
                     seconds_of(fields[0], fields[1], fields[2], fields[3] * 3600 + fields[4] * 60 + fields[5]));
}

}  // namespace h5mote
