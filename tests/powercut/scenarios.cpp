#include "scenarios.hpp"

namespace h5mote_test {

using namespace h5mote;

Scenario appending(const Appending& options) {
    return [options](Scene& scene) {
        Session session = scene.session();
        session.open();
        session.group("/flight");
        session.imu("/flight/imu", {options.chunk, options.filtered, options.reserve});
        for (unsigned i = 1; i <= options.rows; ++i) {
            session.append("/flight/imu");
            if (i % options.flush_rows == 0) {
                session.flush();
            }
        }
        session.close();
        scene.end(session);
    };
}

Scenario rates(unsigned rows, unsigned flush_rows, bool filtered) {
    return [=](Scene& scene) {
        Session session = scene.session();
        session.open();
        session.group("/flight");
        session.imu("/flight/imu", {8, filtered, 65536});
        session.imu("/flight/slow imu", {3, filtered, 65536});
        session.health("/flight/health", {2, filtered, 256});
        for (unsigned i = 1; i <= rows; ++i) {
            session.append("/flight/imu");
            if (i % 3 == 0) {
                session.append("/flight/slow imu");
            }
            if (i % 16 == 0) {
                session.append("/flight/health");
            }
            if (i % flush_rows == 0) {
                session.flush();
            }
        }
        session.close();
        scene.end(session);
    };
}

Scenario objects(unsigned rows, unsigned flush_rows, bool filtered) {
    return [=](Scene& scene) {
        Session session = scene.session();
        session.open();
        session.group("/flight");
        session.set("/", "session");
        session.imu("/flight/imu", {8, filtered, 65536});
        session.health("/flight/health", {2, filtered, 65536});
        session.set("/flight/imu", "rate");
        for (unsigned i = 1; i <= rows; ++i) {
            session.append("/flight/imu");
            if (i % 5 == 0) {
                session.append("/flight/health");
            }
            if (i % 7 == 0) {
                session.set("/flight", "last");
            }
            if (i % 13 == 0) {
                session.set("/flight/imu", "mark" + std::to_string(i));
            }
            if (i % 20 == 0) {
                const std::string segment = "/segment" + std::to_string(i / 20);
                session.group(segment, i % 40 == 0);
                session.set(segment, "number");
                session.health(segment + "/events", {2, filtered, 65536});
                for (unsigned n = 0; n < 3; ++n) {
                    session.append(segment + "/events");
                }
                session.set(segment + "/events", "kind");
                session.leave(segment + "/events");
            }
            if (i % flush_rows == 0) {
                session.flush();
            }
        }
        session.close();
        scene.end(session);
    };
}

Scenario attributes(unsigned rows, unsigned flush_rows) {
    return [=](Scene& scene) {
        Session session = scene.session();
        session.open();
        session.group("/flight");
        session.imu("/flight/imu");
        for (unsigned i = 1; i <= rows; ++i) {
            session.append("/flight/imu");
            for (const char* path : {"/", "/flight", "/flight/imu"}) {
                const std::string changing = "changing" + std::to_string(i % 6);
                session.set(path, changing);
                if (i % 3 != 0) {
                    session.remove_attribute(path, changing);
                }
                if (i % 4 == 0) {
                    session.set(path, changing);
                }
            }
            if (i % flush_rows == 0) {
                session.flush();
            }
        }
        session.close();
        scene.end(session);
    };
}

Scenario links(unsigned rows, unsigned flush_rows, bool filtered) {
    return [=](Scene& scene) {
        Session session = scene.session();
        session.open();
        session.group("/flight");
        session.imu("/flight/imu", {8, filtered, 256});
        for (unsigned i = 1; i <= rows; ++i) {
            session.append("/flight/imu");
            const std::string run = "/run" + std::to_string(i % 2);
            if (session.exists(run)) {
                session.unlink(run + "/log");
                session.unlink(run);
            } else {
                session.group(run);
                session.health(run + "/log", {2, filtered, 64});
                for (unsigned n = 0; n < 5 + i % 7; ++n) {
                    session.append(run + "/log");
                }
                session.set(run + "/log", "kind");
            }
            if (i % 3 == 0) {
                if (session.exists("/latest")) {
                    session.unlink("/latest");
                } else {
                    session.soft_link("/latest", "/flight/imu");
                }
            }
            if (i % 4 == 0) {
                if (session.exists("/flight/alias")) {
                    session.unlink("/flight/alias");
                } else {
                    session.hard_link("/flight/alias", "/flight/imu");
                }
            }
            if (i % flush_rows == 0) {
                session.flush();
            }
        }
        session.close();
        scene.end(session);
    };
}

Scenario remaking(unsigned rounds, unsigned flush_rounds) {
    return [=](Scene& scene) {
        Session session = scene.session();
        session.open();
        session.group("/flight");
        const auto link = [](unsigned i) { return "/link" + std::to_string(i % 10); };
        const auto attribute = [](unsigned i) { return "attribute" + std::to_string(i % 10); };
        for (unsigned i = 0; i < 10; ++i) {
            session.soft_link(link(i), "/somewhere/far/away");
            session.set("/flight", attribute(i));
        }
        session.flush();
        for (unsigned i = 0; i < rounds; ++i) {
            const std::string log = "/log" + std::to_string(i);
            session.health(log, {4, false, 64, true});
            session.unlink(link(i));
            session.remove_attribute("/flight", attribute(i));
            session.flush();
            session.append(log);
            session.unlink(link(7 * i + 3));
            session.remove_attribute("/flight", attribute(7 * i + 3));
            for (const unsigned again : {7 * i + 3, i}) {
                session.set("/flight", attribute(again));
                if (!session.exists(link(again))) {
                    session.soft_link(link(again), "/somewhere/far/away");
                }
            }
            if (i % flush_rounds == 0) {
                session.flush();
            }
        }
        session.close();
        scene.end(session);
    };
}

Scenario changing(unsigned rounds, unsigned flush_rounds, bool filtered) {
    return [=](Scene& scene) {
        Session session = scene.session();
        session.open();
        session.group("/flight");
        session.group("/other", true);
        session.imu("/flight/imu", {4, filtered, 64});
        session.health("/moving", {2, filtered, 32});
        session.soft_link("/soft", "/flight/imu");
        session.set("/flight", "name");
        session.flush();
        // Names of different lengths, so that messages grow and shrink.
        const auto name = [](const std::string& of, unsigned i) {
            return of + std::to_string(i) + std::string(i * 5 % 17, '.');
        };
        std::string moving = "/moving";
        std::string soft = "/soft";
        std::string attribute = "name";
        std::uint64_t rows = 0;
        constexpr const char* kGroups[] = {"/other/", "/flight/", "/", "/", "/flight/"};
        for (unsigned i = 0; i < rounds; ++i) {
            for (unsigned n = 0; n < 5 + i % 3; ++n, ++rows) {
                session.append("/flight/imu");
            }
            session.append(moving);
            const std::string next = kGroups[i % 5] + name("moving", i);
            session.rename(moving, next);
            moving = next;
            const std::string renamed = name("name", i);
            session.rename_attribute("/flight", attribute, renamed);
            attribute = renamed;
            session.set("/flight", attribute);
            session.replace("/flight", "value");
            const std::string turned = kGroups[i % 3] + name("soft", i);
            session.rename(soft, turned);
            soft = turned;
            if (i % 4 != 2) {
                rows -= i * 3 % 8;
                session.cut("/flight/imu", rows);
            }
            if (i % flush_rounds == 0) {
                session.flush();
            }
            if (i % 4 == 1) {
                session.copy("/flight/imu", "/copy");
            } else if (i % 4 == 3) {
                session.unlink("/copy");
            }
        }
        session.close();
        scene.end(session);
    };
}

Scenario rotating(unsigned count, unsigned rows, unsigned flush_rows, std::uint8_t sizeof_addr) {
    return [=](Scene& scene) {
        FileCreate create;
        create.sizeof_addr = sizeof_addr;
        create.persist_free_space = true;
        for (unsigned number = 0; number < count; ++number) {
            Session session = scene.session();
            session.open(create);
            session.group("/flight");
            const std::string log = "/flight/log" + std::to_string(number % 3);
            if (number % 2 == 0) {
                session.imu("/flight/imu", {8, false, 64});
            }
            if (session.exists(log)) {
                session.unlink(log);
            }
            session.health(log, {4, false, 64});
            for (unsigned i = 1; i <= rows; ++i) {
                session.append(log);
                if (number % 2 == 0) {
                    session.append("/flight/imu");
                }
                if (i % flush_rows == 0) {
                    session.flush();
                }
            }
            session.close();
            scene.end(session);
        }
    };
}

Scenario sessions(unsigned count, unsigned rows, bool filtered, std::uint8_t sizeof_addr) {
    return [=](Scene& scene) {
        FileCreate create;
        create.sizeof_addr = sizeof_addr;
        create.track_link_order = H5MOTE_CREATION_ORDER != 0;
        for (unsigned number = 0; number < count; ++number) {
            Session session = scene.session();
            session.open(create);
            session.group("/flight", true);
            session.set("/", "session");
            session.imu("/flight/imu", {8, filtered, 65536});
            session.health("/flight/health", {2, filtered, 65536});
            for (unsigned i = 1; i <= rows; ++i) {
                session.append("/flight/imu");
                if (i % 5 == 0) {
                    session.append("/flight/health");
                }
                if (i % 15 == 0) {
                    session.group("/segment" + std::to_string(number) + std::to_string(i));
                }
                if (i % 6 == 0) {
                    session.flush();
                }
            }
            if (number % 2 == 1) {
                // In every second session, the dataset handles are closed before the file.
                session.leave("/flight/imu");
                session.leave("/flight/health");
            }
            session.close();
            scene.end(session);
        }
    };
}

static void churn(Session& session, unsigned n) {
    const std::string log = "/log" + std::to_string(n % 5);
    if (!session.exists(log)) {
        session.health(log, {1 + n % 3, false, n % 2 == 0 ? 0U : 16U});
        session.set(log, "kind");
    } else {
        session.health(log);
    }
    for (unsigned i = 0; i <= n * 7 % 6; ++i) {
        session.append(log);
    }
    session.append("/flight/imu");
    const std::string old = "/log" + std::to_string((3 * n + 1) % 5);
    if (n % 3 != 0 && old != log && session.exists(old)) {
        session.unlink(old);
    }
    const std::string group = "/group" + std::to_string(n % 3);
    if (session.exists(group)) {
        session.unlink(group);
    } else {
        session.group(group);
        session.set(group, "number" + std::to_string(n % 2));
    }
    if (n % 2 == 0) {
        session.flush();
    }
}

Scenario churning(const Churning& options) {
    return [options](Scene& scene) {
        for (unsigned number = 0; number < options.sessions; ++number) {
            Session session = scene.session();
            session.open(options.create, number % 4 == 2);
            session.group("/flight");
            session.imu("/flight/imu", {4, false, 48});
            for (unsigned i = 0; i < options.rounds; ++i) {
                churn(session, number * options.rounds + i);
            }
            if (number % 2 == 1) {
                session.flush();
                session.kill();
            } else {
                session.close();
            }
            scene.end(session);
        }
    };
}

// Appends and flushes until a call reports no_space. True when that happened and, unless `late`, a flush still fits.
static bool fill(Scene& scene, Session& session, bool late) {
    for (unsigned i = 1; !session.failed(); ++i) {
        session.append("/flight/imu");
        if (i % 5 == 0) {
            session.append("/flight/health");
        }
        if (i % 4 == 0) {
            session.flush();
        }
        if (i > 100000) {
            scene.failure = "never full";
        }
    }
    if (session.take_failure() != Status::no_space) {
        scene.failure = session.what();
        return false;
    }
    // An append that reports no_space does not lose the rows before it: they can still be flushed. Only in a `late`
    // scenario may this flush report no_space as well.
    session.flush();
    if (session.failed() && !(late && session.take_failure() == Status::no_space)) {
        scene.end(session);
        return false;
    }
    return true;
}

Scenario filling(bool filtered, bool late) {
    return [=](Scene& scene) {
        Session session = scene.session();
        session.open();
        session.group("/flight");
        session.imu("/flight/imu", {8, filtered, 256});
        session.health("/flight/health", {2, filtered, 256});
        session.imu("/flight/ballast", {8, filtered, 256});
        for (unsigned i = 0; i < 120; ++i) {
            session.append("/flight/ballast");
            if (i % 20 == 19) {
                session.flush();
            }
        }
        if (session.failed() || !fill(scene, session, late)) {
            scene.end(session);
            return;
        }
        if (!late) {
            session.unlink("/flight/ballast");
            session.flush();
            for (unsigned i = 0; i < 20; ++i) {
                session.append("/flight/imu");
            }
            session.close();
            scene.end(session);
            return;
        }
        session.close();
        (void)session.take_failure();
        Session second = scene.session();
        second.open();
        second.imu("/flight/imu");
        second.health("/flight/health");
        second.unlink("/flight/ballast");
        second.flush();
        for (unsigned i = 0; i < 20; ++i) {
            second.append("/flight/imu");
        }
        second.close();
        scene.end(second);
    };
}

}  // namespace h5mote_test
