// A thread of POSIX for tests: std::thread throws, which a program without exceptions does not link.
#pragma once

#include <gtest/gtest.h>

#include <pthread.h>

namespace h5mote_test {

/// Runs `body` until it returns, at the latest when the object goes. The body is borrowed.
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
