"""A writer is killed at random moments and at every fault point; nothing acknowledged is lost (DESIGN 4.13, 4.14)."""

import pytest

from ko_integrations.bench import crash
from ko_integrations.testing import faults


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_fifty_kills_lose_nothing(tmp_path):
    damage = crash.torture(crash.Place(str(tmp_path / "store")), rounds=50, seed=20)
    assert_none(damage)
    assert damage.at_points == 25
    assert damage.acknowledged > 50


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.timeout(240)
def test_kills_at_every_boundary_lose_nothing_on_postgres(tmp_path, postgres_url):
    rounds = 2 * len(faults.POINTS)
    damage = crash.torture(crash.Place(postgres_url, str(tmp_path / "chroma")), rounds=rounds, seed=3)
    assert_none(damage)
    assert damage.at_points == len(faults.POINTS)
    assert damage.acknowledged > rounds / 2


def assert_none(damage):
    assert damage.lost == []
    assert damage.stale == []
    assert damage.index == []
    assert damage.unreached == []


def test_the_comparison_sees_a_lost_write_a_stale_hit_and_a_half_done_operation():
    slot, other = crash.SLOTS[:2]
    state = crash.State().after(crash.Operation("update", {slot: "a"}))
    flying = crash.Operation("many", {slot: "b", other: "b"})

    def compare(seen, found):
        damage = crash.Damage()
        crash._compare(crash.Sighting(seen, frozenset(found), ()), state, flying, damage, "here")
        return damage

    whole = state.after(flying)
    assert compare(state, [(slot, "a")]).lost == []
    assert compare(whole, [(slot, "b"), (other, "b")]).lost == []
    assert compare(crash.State(), []).lost
    assert compare(state.after(crash.Operation("update", {slot: "b"})), [(slot, "b")]).lost
    assert compare(whole, [(slot, "a"), (other, "b")]).stale


def test_fault_points_are_free_until_armed_and_count():
    reached = []
    faults.reach("log:committed")
    with faults.armed("log:committed", lambda: reached.append(1), after=1):
        faults.reach("log:committed")
        faults.reach("drain:claimed")
        assert reached == []
        faults.reach("log:committed")
    faults.reach("log:committed")
    assert reached == [1]
    with pytest.raises(ValueError, match="no fault point"):
        faults.arm("nowhere", reached.clear)
