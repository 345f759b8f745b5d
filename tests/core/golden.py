"""Ids that must never change: a store made by any release is read by every later one."""

VECTORS = {
    ((), "alice", "phone", None, False): ("1df7d37442ca922d39df8129c2725809990a93e89560b979e2421e5e1d3d1c7d"),
    (("acme", "user-42"), "alice", "phone", None, False): (
        "edfe57e810a94b16d6e8a85643f63630b50c8f9a2e2cab7e9962f73432773d77"
    ),
    ((), "ab", "c", None, False): ("81d704ee672e70af0a8d9884576a9ad25588bdf6504c4b4c89fae48720c135b4"),
    ((), "a", "bc", None, False): ("c7dd04d387b7a4db6c49bfcb7ea80c467dbf523c5a8d529aca3762fd08dfb62b"),
    ((), "alice", "allergy", b"s:peanuts", False): (
        "6c7a79b303a037908e10ea6733cbbab729770388e55834a685248e15a3ef6915"
    ),
    ((), "alice", "score", b"n:3", False): (
        "7d340e3a825e791285e8285a0d025c0e87bf7c255039efe32c31cbba08805e5b"
    ),
    (("team",), "doc-1", "document", None, True): (
        "2604c3762526f72e431f27579d1e7558215d509adf7c1f270085964acb4e02c3"
    ),
    ((), "strasse 東京", "birth_place", None, False): (
        "04fe240f2e4f06ba4ee8826d6f7f18af43cb2008b406033d6bbcbe222887eb93"
    ),
}
