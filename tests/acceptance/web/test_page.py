"""The page in a real browser, against a real regiond; the test does what a rack would do."""

import signal
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from switchgear.life import Status, Verb
from switchgear.power import ErrorClass, Fault, Power
from tests.acceptance.web.page import Page
from tests.acceptance.web.region import RunningRegion


def test_check_now_ends_though_nothing_changed(page: Page, region: RunningRegion) -> None:
    """A check shows that it runs until it ended, and then that it was done, though nothing changed."""
    world = region.world
    first, second = world.enrol(2, status=Status.READY)
    world.rack()
    world.report(world.sighting(first, Power.OFF), world.sighting(second, Power.OFF))
    world.sql("UPDATE power SET seen_at = now() - interval '10 minutes'")
    page.open()
    page.until(lambda: page.cell(first, "age") == "10 min ago", "the age of what is known")
    page.press(f"#node-{first} .check")
    page.until(lambda: page.spins(first) and page.cell(first, "age") == "checking …", "spinner")
    orders: list[Any] = []
    page.until(lambda: orders.extend(world.dispatch()) or orders, "the order")
    assert page.spins(first)
    assert not page.spins(second)
    world.obey(orders)
    page.until(lambda: page.cell(first, "age") == "checked just now", "the end")
    assert not page.spins(first)
    assert page.cell(first, "power") == "off"
    assert page.cell(second, "age") == "10 min ago"
    page.until(lambda: "ago" in page.cell(first, "age"), "its new age")
    page.until(lambda: page.text("#said") == f"{first}: checked just now", "it is said")


def test_a_check_that_fails(page: Page, region: RunningRegion) -> None:
    """A check that can't be done ends, too, and shows why."""
    (node,) = region.world.enrol(1, status=Status.READY)
    region.world.rack()
    page.open()
    page.press(f"#node-{node} .check")
    orders: list[Any] = []
    page.until(lambda: orders.extend(region.world.dispatch()) or orders, "the order")
    region.world.obey(orders, Fault(ErrorClass.AUTH, "the chassis refused the password"))
    page.until(lambda: "auth: the chassis refused" in page.cell(node, "why"), "the reason")
    page.until(lambda: not page.spins(node), "the end")
    page.until(lambda: "auth: the chassis refused" in page.text("#jobs .bad"), "the outcome")


def test_what_others_do_is_seen(page: Page, region: RunningRegion) -> None:
    """What another client or a rack does is seen without loading again."""
    node, other = region.world.enrol(2, status=Status.DEPLOYED)
    region.world.rack()
    page.open()
    page.do("window.same = true")
    region.world.ask(Verb.RELEASE, node)
    page.until(lambda: page.cell(node, "status") == "releasing" and page.spins(node), "releasing")
    region.world.obey(region.world.dispatch())
    page.until(lambda: page.cell(node, "status") == "ready", "ready")
    assert page.cell(node, "owner") == ""
    assert page.cell(other, "status") == "deployed"
    page.until(lambda: page.text("#statuses .chip") == "1 ready", "the totals")
    assert page.do("return window.same")


def test_a_new_node_is_seen(page: Page, region: RunningRegion) -> None:
    """A node that is enrolled while the page is open appears in its place."""
    region.world.enrol(1, "sm-2")
    page.open()
    region.world.enrol(1, "sm-1")
    page.until(lambda: sorted(page.rows()) == ["sm-1-000", "sm-2-000"], "both")
    page.until(lambda: page.text("#count") == "2 nodes", "the total")


def test_release_of_many_is_confirmed(page: Page, region: RunningRegion) -> None:
    """Above 20 nodes a release names how many, and saying no does nothing; no node is left out."""
    names = region.world.enrol(25, status=Status.DEPLOYED)
    region.world.rack()
    page.open()
    page.press("#all")
    page.press("#do-release")
    page.until(lambda: page.text("#ask-title") == "Release: 25 nodes", "the question")
    page.type("#ask-no", Keys.ESCAPE)
    page.until(lambda: not page.do("return document.getElementById('ask').open"), "it is closed")
    assert region.world.sql("SELECT FROM request") == []
    page.press("#do-release")
    page.press("#ask-yes")
    orders: list[Any] = []
    page.until(lambda: orders.extend(region.world.dispatch()) or len(orders) == 25, "the orders")
    page.until(lambda: "Release: 0 of 25 nodes" in page.text("#jobs"), "progress")
    region.world.obey(orders)
    page.until(lambda: page.text("#said") == "25 nodes: released", "the end")
    page.until(
        lambda: [page.cell(name, "status") for name in names[:5]] == ["ready"] * 5, "all are ready"
    )


def test_mark_broken_asks_why(page: Page, region: RunningRegion) -> None:
    """Marking broken asks for a reason, shows it, and can be undone."""
    (node,) = region.world.enrol(1, status=Status.DEPLOYED)
    page.open()
    page.press(f"#node-{node} .tick input")
    page.press("#do-mark-broken")
    page.press("#ask-yes")
    assert page.do("return document.getElementById('ask').open"), "without a reason it stays open"
    page.type("#ask-reason", "fan 3 <b>is</b> dead" + Keys.ENTER)
    page.until(lambda: page.cell(node, "status") == "broken", "broken")
    page.until(lambda: page.cell(node, "why") == "fan 3 <b>is</b> dead", "the reason, as text")
    region.world.rack()
    region.world.obey(region.world.dispatch())
    page.until(lambda: "marked broken" in page.text("#said"), "the outcome")
    page.press(f"#node-{node} .fix")
    page.until(lambda: page.cell(node, "status") == "deployed", "as before")


def test_a_refusal_is_shown(page: Page, region: RunningRegion) -> None:
    """What the region refuses for one of the nodes is shown at that node."""
    node, fine = region.world.enrol(2)
    region.world.sql("UPDATE life SET status = 'ready' WHERE node = %(n)s", n=fine)
    page.open()
    page.press("#all")
    page.press("#do-release")
    page.until(lambda: page.cell(node, "why").startswith("refused: is new"), "the refusal")
    page.until(lambda: page.text("#said") == "2 nodes: 1 released, 1 refused", "the outcome")


def test_filters_and_keys(page: Page, region: RunningRegion) -> None:
    """Nodes are found by text and by facts, and selected and checked without a mouse."""
    region.world.enrol(30, "sm-1", Status.READY)
    region.world.enrol(10, "sm-2", Status.DEPLOYED)
    page.open()
    page.press("#statuses [data-value=deployed]")
    page.until(lambda: page.text("#count") == "10 of 40 nodes", "the deployed ones")
    page.press("#unfilter")
    page.browser.find_element("css selector", "body").send_keys("/")
    page.type("#filter", "sm-1-01 READY" + Keys.ENTER)
    page.until(lambda: page.text("#count") == "10 of 40 nodes", "sm-1-010 to 019")
    keys = ActionChains(page.browser).send_keys(" ").key_down(Keys.SHIFT)
    keys.send_keys(Keys.ARROW_DOWN).send_keys(Keys.ARROW_DOWN).key_up(Keys.SHIFT).perform()
    page.until(lambda: page.text("#count").startswith("3 selected"), "three of them")
    ActionChains(page.browser).send_keys("c").perform()
    page.until(lambda: page.spins("sm-1-012"), "the check")
    asked = "SELECT expression FROM request"
    page.until(lambda: len(region.world.sql(asked)) == 1, "the request in the record")
    assert region.world.sql(asked)[0].expression == "sm-1-[010-012]"


def test_chassis_that_can_not_be_spoken_to(page: Page, region: RunningRegion) -> None:
    """A chassis' fault is told with its reason, and goes away when it answers again."""
    region.world.enrol(1)
    page.open()
    health = "INSERT INTO chassis_health VALUES ('sm-1', 1, 1, 'auth', 'wrong password', now())"
    region.world.sql(health)
    page.until(lambda: "sm-1 auth: wrong password" in page.text("#faults"), "the fault")
    region.world.sql("UPDATE chassis_health SET fault_kind = NULL, fault_text = NULL")
    page.until(lambda: page.text("#faults") == "", "no fault")


def test_the_region_goes_away_and_comes_back(page: Page, region: RunningRegion) -> None:
    """While the region is away the page says so; then it goes on where it was, without a reload."""
    (node,) = region.world.enrol(1, status=Status.DEPLOYED)
    page.open()
    page.do("window.same = true")
    region.end(signal.SIGKILL)
    page.until(lambda: page.text("#live") == "reconnecting", "that it is away")
    assert page.text("#banner").startswith("Not live")
    region.world.ask(Verb.RELEASE, node)
    region.start()
    page.until(lambda: page.text("#live") == "live", "that it is back", patience=30.0)
    page.until(lambda: page.cell(node, "status") == "releasing", "what happened meanwhile")
    assert page.do("return window.same")


@pytest.mark.parametrize("count", [5000])
def test_thousands_of_rows(page: Page, region: RunningRegion, count: int) -> None:
    """5,000 nodes are loaded, filtered, scrolled and changed at once without a stall."""
    world = region.world
    world.enrol(1, status=Status.DEPLOYED)
    world.many("sm-1", count)
    page.open()
    page.until(lambda: page.text("#count") == f"{count + 1:,} nodes", "all of them")
    assert len(page.rows()) < 60
    filtered = """
        const done = arguments[0], box = document.getElementById('filter'), begin = performance.now();
        box.value = 'many-02'; box.dispatchEvent(new Event('input'));
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)));"""
    assert page.browser.execute_async_script(filtered) < 1000
    page.press("#unfilter")
    page.do("document.getElementById('grid').scrollTop = 1e9")
    page.until(lambda: f"many-{count:05}" in page.rows(), "the last row")
    world.sql("UPDATE power SET seen = 'off', seen_at = now()")
    page.until(lambda: page.text("#powers") == f"{count + 1:,} off", "all are off", patience=10.0)
    page.press("#all")
    page.press("#do-query")
    asked = "SELECT count(*) AS n FROM operation"
    page.until(lambda: world.sql(asked)[0].n == count + 1, "all are asked for")
