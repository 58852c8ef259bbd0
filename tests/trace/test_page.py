"""The page of a trace: complete, well formed, without other files, and its pictures show what happened."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

from argpack.cli import main
from argpack.trace.maps import COLOURS, Mark, picture
from argpack.trace.png import to_png

VOID = {"meta", "img", "col", "br"}


def decode_png(data):
    """Pixels (rows, columns) as `#rrggbb`, from a file of 8 bits a pixel with a palette and no filters."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        chunks[kind], at = body, at + 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 3)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    palette = ["#" + chunks[b"PLTE"][i : i + 3].hex() for i in range(0, len(chunks[b"PLTE"]), 3)]
    return [[palette[value] for value in row] for row in rows[:, 1:].tolist()]


class Page(HTMLParser):
    """What a page holds; unclosed tags fail."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.spans, self.images, self.texts = [], set(), [], [], {}, []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes:
            assert attributes["id"] not in self.ids
            self.ids.add(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "td" and "colspan" in attributes:
            self.spans.append((attributes["class"], int(attributes["colspan"])))
        if tag == "img":
            self.images[attributes["alt"].partition(":")[0]] = attributes["src"]
        assert "onclick" not in attributes
        assert tag not in {"script", "link", "iframe"}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def page(kernels_dir, tmp_path_factory):
    """The page of a launch whose stores run over M x N, parsed, and its text."""
    path = tmp_path_factory.mktemp("page") / "trace.html"
    kernel = "f4gemm_bf16_per1x32Fp4_BpreShuffle_192x256"
    sizes = ["-m", "40", "-n", "352", "-k", "320"]
    options = ["--force", "--json", "--html", str(path), "--kernels", str(kernels_dir)]
    assert main(["trace", kernel, *sizes, *options]) == 1
    text = path.read_text()
    return Page(text), text


def test_it_needs_no_other_file(page):
    parsed, text = page
    assert text.startswith("<!DOCTYPE html>")
    assert not re.search(r"https?://|url\(|@import", text)
    assert all(source.startswith("data:image/png;base64,") for source in parsed.images.values())


def test_every_link_leads_to_an_instruction_on_it(page):
    parsed, _ = page
    assert len(parsed.links) > 50
    assert {link.removeprefix("#") for link in parsed.links} <= parsed.ids


def test_what_is_wrong_comes_first(page):
    _, text = page
    order = [
        text.index(words)
        for words in (
            "2 things wrong",
            "12,800 bytes of D outside the M x N elements of D are written",
            "note: ",
            "<h2>The argument buffer",
            "<h2>Memory, buffer by buffer",
            "<h2>Waits and barriers",
            "<h2>The code, and how often it ran",
        )
    ]
    assert order == sorted(order)


def test_the_grid_has_every_byte_of_the_argument_buffer(page):
    parsed, _ = page
    counts = {}
    for kind, span in parsed.spans:
        counts[kind] = counts.get(kind, 0) + span
    # 5 live pointers and 8 live numbers, a dead pointer and 2 dead numbers, 8 unread numbers, 252 bytes of pads.
    assert counts == {"live": 5 * 8 + 8 * 4, "dead": 8 + 2 * 4, "unread": 8 * 4, "pad": 252}


def test_pictures_show_where_d_was_written_and_where_it_should_not_have_been(page):
    parsed, _ = page
    pixels = decode_png(base64.b64decode(parsed.images["D"].partition(",")[2]))
    # D is allocated for 64 rows of 512 elements: 40 rows are computed, 352 elements each, and written up to 512.
    assert (len(pixels), len(pixels[0])) == (64, 342)
    written, never, wrong = (COLOURS[mark] for mark in (Mark.WRITTEN, Mark.NEVER, Mark.WRONG))
    assert set(pixels[0][: 700 // 3]) == set(pixels[39][: 700 // 3]) == {written}
    assert set(pixels[0][710 // 3 :]) == {wrong}
    assert set(pixels[40]) == {never}


def test_padding_of_scales_has_a_colour_of_its_own(page):
    parsed, text = page
    for name in ("ScaleA", "ScaleB"):
        colours = {
            c for row in decode_png(base64.b64decode(parsed.images[name].partition(",")[2])) for c in row
        }
        assert COLOURS[Mark.PADDING] in colours
    assert "all paddings together" in text


def test_instructions_have_counts_and_what_they_accessed(page):
    _, text = page
    line = next(row for row in text.splitlines() if row.startswith('<tr id="i2c00"'))
    assert '<td class="n">8</td>' in line
    stores = [row for row in text.splitlines() if "writes D: " in row]
    assert stores
    assert all(' class="hit bad"' in row and "buffer_store_dwordx4" in row for row in stores)
    assert 'class="never"' in text


def test_an_existing_file_is_not_overwritten(kernels_dir, tmp_path, capsys):
    path = tmp_path / "page.html"
    path.write_text("mine")
    assert main(["trace", "sgemm", "--html", str(path), "--kernels", str(kernels_dir)]) == 2
    assert (path.read_text(), capsys.readouterr().out) == ("mine", "")


def test_a_page_that_cannot_be_written_is_one_line(kernels_dir, tmp_path, capsys):
    path = str(tmp_path / "no" / "page.html")
    sizes = ["-m", "16", "-n", "16", "-k", "4"]
    assert main(["trace", "sgemm", *sizes, "--html", path, "--kernels", str(kernels_dir)]) == 2
    assert (
        capsys.readouterr().err == f"argpack: error: {path}: cannot be written: its folder does not exist\n"
    )


def test_a_png_holds_the_pixels_given():
    pixels = np.array([[0, 1, 2], [2, 2, 0]], np.uint8)
    red, green, blue = "#ff0000", "#00ff00", "#0000ff"
    assert decode_png(to_png(pixels, [red, green, blue])) == [[red, green, blue], [blue, blue, red]]


def test_rows_of_a_picture_are_rows_of_the_matrix_where_it_divides():
    marks = np.full(7 * 100, Mark.READ, np.uint8)
    drawn = picture(marks, [7])
    assert (drawn.row_bytes, drawn.width, drawn.height, drawn.pixel_bytes) == (100, 100, 7, 1)
    # 10 bytes a row would be a picture that is thin and tall.
    assert picture(marks, [70]).row_bytes == 64


def test_a_large_buffer_shares_pixels_and_the_worst_shows():
    marks = np.full(1 << 20, Mark.NEVER, np.uint8)
    marks[1 << 19] = Mark.WRONG
    drawn = picture(marks, [1024])
    pixels = decode_png(drawn.png)
    assert (drawn.width <= 480, drawn.height <= 256, drawn.pixel_bytes) == (True, True, 12)
    assert [COLOURS[Mark.WRONG] in row for row in pixels].index(True) == 128
    assert sum(row.count(COLOURS[Mark.WRONG]) for row in pixels) == 1


def test_a_buffer_that_fills_no_whole_row_ends_in_white():
    drawn = picture(np.full(100, Mark.READ, np.uint8), [3])
    pixels = decode_png(drawn.png)
    assert (drawn.row_bytes, pixels[-1][-1]) == (16, COLOURS[Mark.OUTSIDE])
    assert drawn.marks == (Mark.READ,)
