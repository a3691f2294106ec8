"""The columns of a list: their widths and their order, and those of type, size and waterfall."""

from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.dashboard.fixtures.browser import BrowserTestCase, reload, row, show

WIDE: ViewportSize = {"width": 1500, "height": 860}


def texts(page: Page, column: str) -> list[str]:
    """Read a column, from the top."""
    return page.locator(f".grid-body .col-{column}").all_text_contents()


def head(page: Page, title: str) -> Locator:
    """Find the head of a column."""
    return page.get_by_role("columnheader", name=title, exact=True)


def off(one: float, other: float) -> float:
    """Tell how far two lengths are apart."""
    return abs(one - other)


def width(page: Page, title: str) -> float:
    """Measure a column."""
    box = head(page, title).bounding_box()
    assert box is not None
    return box["width"]


def drag(page: Page, title: str, by: int) -> None:
    """Pull the edge of a column's head."""
    box = head(page, title).locator(".handle").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by, y, steps=3)
    page.mouse.up()


class WidthTests(BrowserTestCase):
    """How wide columns are."""

    def test_drag(self) -> None:
        """The edge of a head is pulled; rows follow it, and pulling does not order."""
        page = self.look(viewport=WIDE)
        before = width(page, "Path")
        drag(page, "Path", 90)
        self.assertLess(off(width(page, "Path"), before + 90), 2)
        cell = row(page, "stock.example").locator(".col-path").bounding_box()
        assert cell is not None
        self.assertLess(off(cell["width"], before + 90), 2)
        expect(head(page, "Time")).to_have_attribute("aria-sort", "descending")

    def test_keys(self) -> None:
        """One stop of Tab leads to the heads; arrows go on, with Shift they change the width."""
        page = self.open(viewport=WIDE)  # a page that is there stops at the head used last
        page.locator(".grid").focus()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Time", exact=True)).to_be_focused()
        page.keyboard.press("ArrowRight")
        button = page.get_by_role("button", name="Method", exact=True)
        expect(button).to_be_focused()
        before = width(page, "Method")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        self.assertLess(off(width(page, "Method"), before + 32), 1)
        expect(page.locator("#said")).to_have_text(f"Method: {round(before + 32)} pixels wide")
        page.keyboard.press("Shift+ArrowLeft")
        self.assertLess(off(width(page, "Method"), before + 16), 1)
        expect(button).to_be_focused()
        page.keyboard.press("End")
        expect(page.get_by_role("button", name="Waterfall", exact=True)).to_be_focused()
        page.keyboard.press("ArrowDown")
        expect(page.locator(".grid")).to_be_focused()

    def test_remembered(self) -> None:
        """Widths and order are remembered by the browser, each list's own, until they are reset."""
        page = self.open(viewport=WIDE)
        reset = page.get_by_role("button", name="Reset columns")
        expect(reset).to_be_hidden()
        before = width(page, "Path")
        drag(page, "Path", 60)
        head(page, "Host").get_by_role("button").click()
        reload(page)
        self.assertLess(off(width(page, "Path"), before + 60), 2)
        expect(head(page, "Host")).to_have_attribute("aria-sort", "ascending")
        page.keyboard.press("3")
        expect(head(page, "Time")).to_have_attribute("aria-sort", "descending")
        page.keyboard.press("2")
        reset.click()
        self.assertLess(off(width(page, "Path"), before), 2)
        expect(head(page, "Time")).to_have_attribute("aria-sort", "descending")
        expect(reset).to_be_hidden()
        reload(page)
        self.assertLess(off(width(page, "Path"), before), 2)

    def test_double_click(self) -> None:
        """A double click on the edge gives a column its first width back."""
        page = self.look(viewport=WIDE)
        before = width(page, "Path")
        drag(page, "Path", 60)
        head(page, "Path").locator(".handle").dblclick()
        self.assertLess(off(width(page, "Path"), before), 2)

    def test_sideways(self) -> None:
        """Columns that were made too wide scroll sideways; rows are as wide as their heads."""
        page = self.look(viewport={"width": 900, "height": 700})
        drag(page, "Path", 500)
        grid = page.locator(".grid")
        wide = grid.evaluate("grid => [grid.scrollWidth, grid.clientWidth]")
        self.assertGreater(wide[0], wide[1] + 300)
        grid.evaluate("grid => { grid.scrollLeft = 10_000 }")
        over, under = head(page, "Duration").bounding_box(), page.locator(".col-duration").last
        below = under.bounding_box()
        assert over is not None
        assert below is not None
        self.assertLess(off(over["x"], below["x"]), 1)

    def test_small(self) -> None:
        """Where there is no room, what matters least goes first; status and path stay."""
        page = self.look(viewport={"width": 900, "height": 700})
        titles = page.get_by_role("columnheader").all_text_contents()
        self.assertEqual(
            titles,
            ["Time", "Method", "Status", "Host", "Path", "Action", "Test", "Duration", "Waterfall"],
        )
        page.set_viewport_size({"width": 400, "height": 700})
        expect(page.get_by_role("columnheader")).to_have_text(
            ["Method", "Status", "Path", "Action"]
        )

    def test_beside_an_entry(self) -> None:
        """Beside an open entry the columns that are left fit, in both lists."""
        for path, text in (("/", "charges"), ("/?view=ws", "room=17")):
            page = self.look(path, viewport={"width": 900, "height": 700})
            show(page, text)
            expect(page.get_by_role("columnheader", name="Time")).to_have_count(0)
            page.set_viewport_size({"width": 1280, "height": 700})
            expect(page.get_by_role("columnheader", name="Test")).to_be_visible()
            wide = page.locator(".grid").evaluate("grid => [grid.scrollWidth, grid.clientWidth]")
            self.assertLessEqual(wide[0], wide[1], path)

    def test_strange_memory(self) -> None:
        """What makes no sense in the browser's memory is left alone."""
        page = self.open()
        recalled = """async (junk) => {
          localStorage.setItem("trafficmock.columns.requests", junk);
          const { Layout } = await import("/js/grid/layout.js");
          const { REQUEST_COLUMNS: columns } = await import("/js/grid/columns.js");
          const { isDefault } = new Layout({ name: "requests", columns, onchange() {} });
          return isDefault;
        }"""
        self.assertFalse(page.evaluate(recalled, '{"widths":{"path":20}}'))
        for junk in ("{", "7", "null", '{"widths":{"path":"x","host":1e9},"sort":{"column":"no"}}'):
            self.assertTrue(page.evaluate(recalled, junk), junk)


class OrderTests(BrowserTestCase):
    """What rows are ordered by."""

    def test_click(self) -> None:
        """A click orders, the next one turns it round, the third is newest first again."""
        page = self.look()
        first = texts(page, "time")
        host = head(page, "Host").get_by_role("button")
        host.click()
        self.assertEqual(texts(page, "host"), sorted(texts(page, "host")))
        expect(head(page, "Host")).to_have_attribute("aria-sort", "ascending")
        self.assertIsNone(head(page, "Time").get_attribute("aria-sort"))
        host.press("Enter")
        self.assertEqual(texts(page, "host"), sorted(texts(page, "host"), reverse=True))
        expect(page.locator(".detail-pane")).to_be_hidden()
        host.click()
        self.assertEqual(texts(page, "time"), first)

    def test_values(self) -> None:
        """Numbers order by size, largest first; rows without a value come last, either way."""
        page = self.look()
        size = head(page, "Size").get_by_role("button")
        size.click()
        expect(page.locator(".grid-body .col-size").first).to_have_text("16.2 kB")
        self.assertEqual(texts(page, "size")[-5:], [""] * 5)
        size.click()
        expect(page.locator(".grid-body .col-size").first).to_have_text("0 B")
        self.assertEqual(texts(page, "size")[-5:], [""] * 5)
        head(page, "Status").get_by_role("button").click()
        status = texts(page, "status")
        self.assertEqual(status[:3], ["200", "200", "200"])
        self.assertIn("ambiguous_route", status[-6:])

    def test_newest(self) -> None:
        """N goes to the newest: newest first again, whatever the order was."""
        page = self.look()
        first = texts(page, "time")
        head(page, "Path").get_by_role("button").click()
        page.keyboard.press("n")
        self.assertEqual(texts(page, "time"), first)
        expect(head(page, "Time")).to_have_attribute("aria-sort", "descending")


class ContentTests(BrowserTestCase):
    """What stands in the columns of type, size and time."""

    def test_type_and_size(self) -> None:
        """A response's type is short, with all of it as a hint; its size counts decoded bytes."""
        page = self.look(viewport=WIDE)
        for text, kind, whole, size in [
            ("cdn.example", "png", "image/png", "16.2 kB"),
            ("www.example.org", "html", "text/html", "57 B"),
            ("charges", "json", "application/json", "316 B"),
            ("metrics", "plain", "text/plain", "0 B"),
        ]:
            expect(row(page, text).locator(".col-type")).to_have_text(kind)
            expect(row(page, text).locator(".col-type")).to_have_attribute("title", whole)
            expect(row(page, text).locator(".col-size")).to_have_text(size)
        expect(row(page, "fraud").locator(".col-type")).to_have_text("")
        expect(row(page, "fraud").locator(".col-size")).to_have_text("")

    def test_waterfall(self) -> None:
        """Bars begin and end as the requests did, on the time in sight, and say so in words."""
        page = self.open(viewport=WIDE)
        entries = [
            {"id": str(at), "timestamp": 1_700_000_000_000 + at, "clientId": "shop"}
            | {"request": {"url": f"https://x{at}.example/", "method": "GET"}}
            | {"action": "passthrough", "outcome": {"kind": "passthrough"}}
            | ({} if took is None else {"durationMs": took})
            for at, took in ((750, None), (500, 500), (250, 0), (0, 500))
        ]
        page.route(
            "**/api/history?*",
            lambda route: route.fulfill(json={"entries": entries}, headers={"etag": '"x-1"'}),
        )
        reload(page)
        bars = page.locator(".col-waterfall .duration-bar")
        expect(bars).to_have_count(4)
        said = page.locator(".grid-body .col-waterfall")
        for at, label in enumerate(
            [
                "begins at +750 ms of 1.00 s, has not ended",
                "begins at +500 ms of 1.00 s, takes 500 ms",
                "begins at +250 ms of 1.00 s, takes 0 ms",
                "begins at +0 ms of 1.00 s, takes 500 ms",
            ]
        ):
            expect(said.nth(at)).to_have_attribute("aria-label", label)
        boxes = [bars.nth(at).bounding_box() for at in range(4)]
        left = [0.0 if box is None else box["x"] for box in boxes]
        right = [0.0 if box is None else box["x"] + box["width"] for box in boxes]
        whole = right[1] - left[3]
        self.assertLess(off((left[1] - left[3]) / whole, 0.5), 0.05)
        self.assertLess(off((left[2] - left[3]) / whole, 0.25), 0.05)
        self.assertLess(off((right[3] - left[3]) / whole, 0.5), 0.05)
        self.assertLess(off(right[0], right[1]), 1)
        expect(page.locator("nav")).to_contain_text("HTTP 4")
