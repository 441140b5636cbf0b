"""Node sets: what a person may write, and what is refused before anything is expanded."""

import pytest

from switchgear.errors import BadRequest
from switchgear.nodeset import LENGTH_LIMIT, LIMIT, Group, expand, fold, groups

MEMBERS: dict[Group, list[str]] = {
    ("all", "*"): ["n001", "n002", "n007", "m1"],
    ("chassis", "sm-1"): ["n001", "n002", "n007"],
    ("owner", "juju"): ["n002"],
    ("status", "broken"): [],
}


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("n1", "n1"),
        ("n[001-003]", "n001 n002 n003"),
        ("n[0-10/5]", "n0 n5 n10"),
        ("n[1,4,9-11]", "n1 n4 n9 n10 n11"),
        ("a[1-2]b[3-4]", "a1b3 a1b4 a2b3 a2b4"),
        ("n[1-3],n[2-5]", "n1 n2 n3 n4 n5"),
        ("n[1-5]!n[2-4]", "n1 n5"),
        ("n[1-3]&n[2-5]", "n2 n3"),
        ("n[1-3]^n[2-5]", "n1 n4 n5"),
        (" n[1, 2] , m1 ", "m1 n1 n2"),
        ("sm-1-7", "sm-1-7"),
        ("n1-3", "n1-3"),
        ("@chassis:sm-1!n007", "n001 n002"),
        ("@chassis:sm-1&@owner:juju", "n002"),
        ("owner=juju,m1", "m1 n002"),
        ("m1,owner=juju", "m1 n002"),
        ("@all!@chassis:sm-1", "m1"),
        ("@status:broken,n1", "n1"),
    ],
)
def test_a_set_names_its_nodes(expression: str, names: str) -> None:
    """Ranges, operators, groups and spaces mean what ClusterShell's users expect."""
    assert expand(expression, MEMBERS) == names.split()


def test_padding_is_part_of_a_name() -> None:
    """`n1` and `n01` are two nodes."""
    assert set(expand("n1,n01", {})) == {"n1", "n01"}


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "   ",
        ",",
        "n1,,n2",
        "!n1",
        "n1!",
        "n[",
        "n]",
        "n[1-2",
        "n[[1]]",
        "n[]",
        "n[3-1]",
        "n[1-x]",
        "n[1-5/0]",
        "n[01-100]",
        "n[1-3]!n[1-3]",
        "@status:broken",
        "n1 n2",
        "n;reboot",
        "$(id)",
        "n%d",
        "n{1}",
        "n*",
        "né",
        "n\x00",
        "n1\nn2",
        "owner=",
    ],
)
def test_a_malformed_or_empty_set_is_refused(expression: str) -> None:
    """Nothing is guessed: what can't be read, or names no node, stops the request."""
    with pytest.raises(BadRequest):
        expand(expression, MEMBERS)


@pytest.mark.parametrize(
    "expression", ["@", "@@", "@*", "@chassis", "@chassis:", "@rack:r1", "@all:all", "@sm-1", "a:b"]
)
def test_only_the_regions_own_facts_are_groups(expression: str) -> None:
    """A group of another kind, and ClusterShell's short forms, are refused."""
    with pytest.raises(BadRequest):
        groups(expression)
    with pytest.raises(BadRequest):
        expand(expression, MEMBERS)


def test_the_kinds_of_groups_are_named_in_the_error() -> None:
    """A person who mistyped one sees which there are."""
    with pytest.raises(BadRequest, match="chassis, status, owner"):
        groups("@chasis:sm-1")


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("n[1-3]", set()),
        ("@all", {("all", "*")}),
        (
            "@chassis:sm-1,@status:failed-releasing",
            {("chassis", "sm-1"), ("status", "failed-releasing")},
        ),
        ("owner=juju!@owner:juju", {("owner", "juju")}),
        ("n1,owner=a.b_c-d", {("owner", "a.b_c-d")}),
    ],
)
def test_groups_are_listed_before_they_are_needed(expression: str, found: set[Group]) -> None:
    """The caller fetches exactly these, each once."""
    assert groups(expression) == found


def test_configured_groups_of_the_host_are_never_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A host that runs ClusterShell for other ends may have a group of the same name."""
    folder = tmp_path_factory.mktemp("clustershell")
    (folder / "groups.conf").write_text("[Main]\ndefault: chassis\n[chassis]\nmap: echo evil1\n")
    monkeypatch.setenv("CLUSTERSHELL_CFGDIR", str(folder))
    assert expand("@chassis:sm-1", MEMBERS) == ["n001", "n002", "n007"]
    with pytest.raises(BadRequest):
        expand("@chassis:sm-2", {("chassis", "sm-2"): []})


@pytest.mark.parametrize(
    "expression",
    [
        f"n[1-{LIMIT + 1}]",
        "n[1-999999999]",
        "n[1-999999999]&n1",
        "n[1-200]m[1-200]",
        "n[1-999999999][1-999999999][1-999999999]",
        f"n[1-{LIMIT}],m1,m2[1]",
        "n[0-999999999/2]",
    ],
)
def test_a_huge_set_is_refused_before_it_is_expanded(expression: str) -> None:
    """A thousand million names would take the daemon's memory; the check needs none of it."""
    with pytest.raises(BadRequest, match=str(LIMIT)):
        expand(expression, {})


def test_the_members_of_groups_count() -> None:
    """A group can't carry more nodes through than a range could."""
    many = {("chassis", "c"): [f"n{number}" for number in range(LIMIT + 1)]}
    with pytest.raises(BadRequest, match=str(LIMIT)):
        expand("@chassis:c", many)


def test_the_largest_set_is_allowed() -> None:
    """The limit itself is within the limit."""
    assert len(expand(f"n[1-{LIMIT}]", {})) == LIMIT


def test_a_long_expression_is_refused_unread() -> None:
    """Its length is checked first, and the error does not repeat it."""
    with pytest.raises(BadRequest, match=str(LENGTH_LIMIT)) as caught:
        groups("n1," * LENGTH_LIMIT)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "expression",
    [
        "@all!@chassis:sm-1@owner:juju",
        "@chassis:sm-1@owner:juju,m1",
        "owner=juju@chassis:sm-1,m1",
        "@chassis:sm-[1-2],m1",
    ],
)
def test_nothing_may_be_glued_to_a_group(expression: str) -> None:
    """A slip in one term must not be left out silently: `@all!` with it would mean all."""
    with pytest.raises(BadRequest):
        groups(expression)
    with pytest.raises(BadRequest):
        expand(expression, MEMBERS)


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["n001", "n002", "n003"], "n[001-003]"),
        (["n1", "n7"], "n[1,7]"),
        (["sm-1-7", "sm-1-8"], "sm-1-[7-8]"),
        (["m1"], "m1"),
        ([], ""),
    ],
)
def test_names_fold_as_a_person_would_type_them(names: list[str], folded: str) -> None:
    """The failed nodes of a request can be pasted into the next one."""
    assert fold(names) == folded
