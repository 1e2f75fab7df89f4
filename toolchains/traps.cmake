# H5MOTE_TRAPS: flags with which a program ends at what is undefined in C++, such as a shift by all bits of a 32-bit size
# or an access that is not aligned. Some of it happens on machines of another word size or byte order only, and the
# sanitizers of this machine's builds do not see it. Traps need no library.
set(H5MOTE_TRAPS "-fsanitize=undefined -fno-sanitize=vptr -fsanitize-undefined-trap-on-error")
