"""Plots are files that other programs open, the same in each run, and hold what the report says."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from digram.report import measure
from digram.report.plots import _DRAWN, KINDS
from support.kinds import of_kind
from support.texts import stdlib_text

ENGLISH = ["the lowest of low words", "new lower numbers 123"] * 10
GERMAN = ["das niedrigste der niedrigen Wörter", "neue niedrigere Zahlen 123"] * 10


@pytest.fixture(scope="module")
def report():
    toks = {"bytes $x$": of_kind("bytes"), "o200k": of_kind("o200k"), "none": of_kind("no merges")}
    groups = {"code": stdlib_text(20_000), "Ελληνικά": "λίγα λόγια", "日本": "日本語の文章"}
    return measure(toks, groups, parallel={"en": ENGLISH, "de": GERMAN}, resamples=200)


@pytest.mark.filterwarnings("ignore:no installed font:UserWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_a_picture(kind, report, tmp_path):
    import matplotlib.image

    for suffix in ("png", "svg", "pdf"):
        report.plot(kind, tmp_path / f"x.{suffix}")
    picture = matplotlib.image.imread(tmp_path / "x.png")
    assert min(picture.shape[:2]) > 300
    assert np.ptp(picture[..., :3]) > 0.9  # dark on light
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 10
    assert "http" not in re.sub(r'(xmlns[:\w]*|rdf:\w+|cc:\w+)="[^"]*"', "", (tmp_path / "x.svg").read_text()).replace(
        "http://www.w3.org", ""
    ).replace("https://matplotlib.org", "").replace("http://purl.org", "")
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF-")
    before = (tmp_path / "x.svg").read_bytes()
    report.plot(kind, tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.pdf", "x.png", "x.svg"]


def test_bars_are_as_long_as_the_figures(report):
    axes = _DRAWN["compression"](report).axes[0]
    drawn = [bar.get_width() for bar in axes.patches]
    names = [v.name for v in report.vocabularies]
    expected = [report.row(name, group.name)["bytes_per_token"].value for name in names for group in report.groups]
    assert drawn == pytest.approx(expected)


def test_dots_stand_at_the_premiums(report):
    axes = _DRAWN["parity"](report).axes[0]
    drawn = [float(x) for container in axes.containers for x in container.lines[0].get_xdata()]
    expected = [report.parallel.premiums[v.name][x].value for v in report.vocabularies for x in ("en", "de")]
    assert drawn == pytest.approx(expected)


def test_texts_without_spaces_have_no_fertility(report):
    figure = _DRAWN["fertility"](report)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["code", "Ελληνικά"]
    assert any("日本" in text.get_text() for text in figure.axes[0].texts)


def test_what_cannot_be_drawn(report, tmp_path):
    with pytest.raises(ValueError, match="no plot 'pie'"):
        report.plot("pie", tmp_path / "x.png")
    with pytest.raises(ValueError, match=r"must end in \.png"):
        report.plot("parity", tmp_path / "x.jpeg")
    plain = measure(of_kind("no merges"), {"x": "日本"}, resamples=0)
    for kind, message in {"parity": "no parallel", "fertility": "no text has words", "digits": "no numbers"}.items():
        with pytest.raises(ValueError, match=message):
            plain.plot(kind, tmp_path / "x.png")
    assert not list(tmp_path.iterdir())


def test_a_missing_font_is_said(tmp_path, monkeypatch):
    from matplotlib.font_manager import fontManager

    monkeypatch.setattr(fontManager, "ttflist", [font for font in fontManager.ttflist if "DejaVu" in font.name])
    report = measure(of_kind("no merges"), {"\U0001f9ff": "ab 1"}, resamples=0)
    with pytest.warns(UserWarning, match="no installed font has .*\U0001f9ff"):
        report.plot("compression", tmp_path / "x.png")
