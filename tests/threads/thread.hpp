// A POSIX thread for tests. std::thread is not used, because it throws, and programs without exceptions cannot link it.
#pragma once

#include <gtest/gtest.h>

#include <pthread.h>

namespace h5mote_test {

/// Runs `body` in a thread of its own; the destructor waits until it has returned. The body is borrowed.
class Thread {
public:
    template <typename Body>
    explicit Thread(Body& body) {
        EXPECT_EQ(::pthread_create(
                      &thread_, nullptr,
                      [](void* what) -> void* {
                          (*static_cast<Body*>(what))();
                          return nullptr;
                      },
                      &body),
                  0);
    }
    ~Thread() { (void)::pthread_join(thread_, nullptr); }
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

private:
    pthread_t thread_{};
};

}  // namespace h5mote_test
