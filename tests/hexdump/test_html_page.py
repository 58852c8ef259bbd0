from html.parser import HTMLParser

from argpack.hexdump.html_page import to_html
from argpack.hexdump.table import Line, Table, Tone, text_line


class Checked(HTMLParser):
    """Every tag is closed in order; nothing is loaded from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        assert tag not in {"script", "link", "img", "iframe"}
        assert not {name for name, _ in attrs} & {"src", "href"}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_a_page_is_whole_and_needs_nothing_else():
    page = to_html(
        [
            text_line("2 <live> & differences", Tone.ALARM),
            text_line(""),
            Table([Line(("field", "value"), Tone.STRONG), Line(("M", "1 < 2"), Tone.FAINT)]),
        ],
        "a <b>",
    )
    checked = Checked()
    checked.feed(page)
    assert checked.open == []
    words = [text for text in checked.text if text.strip()]
    assert words[0] == "a <b>"
    assert words[-5:] == ["2 <live> & differences", "field", "value", "M", "1 < 2"]
    assert '<p class="alarm">2 &lt;live&gt; &amp; differences</p>' in page
    assert '<tr class="faint"><td>M</td><td>1 &lt; 2</td></tr>' in page
    assert "<tr><th>field</th><th>value</th></tr>" in page
    assert page.startswith("<!DOCTYPE html>\n")
