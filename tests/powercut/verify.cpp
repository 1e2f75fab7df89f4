#include "verify.hpp"

#include "session.hpp"
#include "workload_allocator.hpp"

namespace h5mote_test {

using namespace h5mote;

std::string resume(Driver& driver, History& history, const std::function<std::size_t()>& operations, bool may_be_full,
                   bool reclaim) {
    WorkloadAllocator allocator;
    NullPort port;
    Library library{allocator, port, all_filters()};
    allocator.prepare(library);
    Session session(library, driver, history, operations);
    const auto full = [&] { return may_be_full && session.take_failure() == Status::no_space; };
    session.open({}, reclaim);
    session.flush();  // acknowledges what is there, although nothing was written
    session.group("/flight");
    session.set("/flight", "resumed");
    session.imu("/flight/imu", {4, false, 64});
    for (int i = 0; i < 9; ++i) {
        session.append("/flight/imu");
    }
    const bool is_full = session.failed();
    if (is_full && !full()) {
        return "resume: " + session.what() + "; ";
    }
    session.flush();
    const bool cannot_flush = session.failed();
    if (cannot_flush && !full()) {
        return "resume: " + session.what() + "; ";
    }
    const std::string after = "/after" + std::to_string(history.given("/flight@resumed"));
    if (!is_full && !cannot_flush) {
        session.group(after);
        session.health(after + "/health", {2, false, 64});
        session.append(after + "/health");
        session.append("/flight/imu");
        if (session.failed() && !full()) {
            return "resume: " + session.what() + "; ";
        }
        session.flush();
    }
    session.close();
    return session.failed() && !full() ? "resume: " + session.what() + "; " : "";
}

Items only(const Items& items, const Found& found) {
    Items result = items;
    for (auto& [key, item] : result) {
        const auto state = found.find(key);
        item.states = {state == found.end() ? State{} : state->second};
    }
    return result;
}

}  // namespace h5mote_test
