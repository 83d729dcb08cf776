"""Texts for tests and benchmarks that every machine has: Python's own library, and small strings in many scripts."""

from __future__ import annotations

import functools
import itertools
import os
import sysconfig
from pathlib import Path

# Not part of the library proper, or not there on every machine.
LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test", "lib2to3", "__pycache__", "pydoc_data"}


@functools.cache
def stdlib_files() -> tuple[Path, ...]:
    """The sources of Python's standard library, in sorted order."""
    found = []
    for folder, folders, names in os.walk(sysconfig.get_path("stdlib")):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        found += [Path(folder, name) for name in names if name.endswith(".py")]
    return tuple(sorted(found))


def stdlib_prose(limit: int) -> str:
    """At most `limit` characters of English: the language reference that `help()` shows."""
    from pydoc_data.topics import topics  # type: ignore[import-untyped, unused-ignore]

    return "\n\n".join(topics[name] for name in sorted(topics))[:limit]


@functools.lru_cache(maxsize=32)
def stdlib_text(limit: int) -> str:
    """At most `limit` characters: the language reference, then the library's sources, always in the same order."""
    parts, length = [stdlib_prose(limit)], 0
    for path in stdlib_files():
        length += len(parts[-1])
        if length >= limit:
            break
        parts.append(path.read_text(encoding="utf-8"))
    return "".join(parts)[:limit]


# The first article of the Universal Declaration of Human Rights, or the like, in many scripts.
SENTENCES = {
    "English": "All human beings are born free and equal in dignity and rights; they're endowed with reason.",
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren; die Größe ändert nichts.",
    "French": "Tous les êtres humains naissent libres\u00a0et égaux\u202f: «\u00a0liberté\u00a0»; c'est l'œuvre d'été.",
    "Vietnamese": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.",
    "Turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. İI ıi ğ ş.",
    "Russian": "Все люди рождаются свободными и равными в своём достоинстве и правах.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. ΣΊΣΥΦΟΣ ς σ",
    "Armenian": "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ։",
    "Georgian": "ყველა ადამიანი იბადება თავისუფალი და თანასწორი. ᲧᲕᲔᲚᲐ",
    "Hebrew": "כָּל בְּנֵי הָאָדָם נוֹלְדוּ בְּנֵי חוֹרִין וְשָׁוִים בְּעֶרְכָּם וּבִזְכֻיּוֹתֵיהֶם.",
    "Arabic": "يُولَدُ جميعُ الناسِ أحرارًا متساوينَ في الكرامةِ والحقوق. ١٢٣٤٥ ۴۵۶",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। १२३४",
    "Bengali": "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে। ৪৫৬৭",
    "Tamil": "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்.",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ๑๒๓๔",
    "Khmer": "មនុស្សទាំងអស់កើតមកមានសេរីភាពនិងសមភាព។",
    "Tibetan": "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་རང་དབང་ཡོད།",
    "Amharic": "የሰው፡ልጅ፡ሁሉ፡ሲወለድ፡ነጻና፡በክብርና፡በመብትም፡እኩልነት፡ያለው፡ነው።",
    "Chinese": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。１２３４",
    "Japanese": "すべての人間は、生まれながらにして自由であり、ｶﾀｶﾅとカタカナ、尊厳と権利とについて平等である。",
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. \u1112\u1161\u11ab\u1100\u1173\u11af",
    "Cherokee": "ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ ᎠᎴ ᎤᏂᏠᏱ ꭰꮒᏼꮻ",
    "Gothic": "𐌰𐌻𐌻𐌰𐌹 𐌼𐌰𐌽𐌽𐌰 𐍆𐍂𐌴𐌹𐌷𐌰𐌻𐍃",
    "Cuneiform": "𒀭𒂗𒆤 𒈗 𒌷",
}

# Where pre-token patterns differ from each other, and where their copies go wrong.
TROUBLE = {
    "contractions": "I'm you're he'll she'd we've it's don't I'M YOU'RE HE'LL SHE'D WE'VE IT'S DON'T 'tis 'llama 'sa ''s o'clock",
    "long s and Kelvin sign": "'\u017f '\u017fthe 'S 's it'\u017f IT'\u017f '\u212a \u212aelvin \u0131 \u0130",
    "curly apostrophes": "it\u2019s don\u2019t \u2018quoted\u2019 \u02bcmodifier rock\u02bcn\u02bcroll",
    "case changes": "camelCaseWords HTTPServer XMLHttpRequest iPhone McDonald ALLCAPSthenLower ǅungla ǈubav ªº",
    "numbers": "0 12 123 1234 12345 1,234,567.89 3.14e-10 0x1F ² ³ ½ Ⅷ ① 一二三 ٣٤٥ १२३ 𝟘𝟙𝟚𝟛 2024-02-29T23:59:60Z",
    "spaces": " one  two   three    four\u00a0nbsp\u2003em\u3000wide\u200bzero\u2060joiner\ufeffbom end ",
    "line ends": "a\nb\r\nc\rd\n\ne\r\n\r\nf \n g\t\n\th\x0bi\x0cj\x85k\u2028l\u2029m\n \n  \n   x\n",
    "tabs": "\tdef f(x):\n\t\treturn x\n\t\n        if x:\n\t    y\n",
    "separators": "q\x1cr\x1ds\x1et\x1fu\x00v\x7fw",
    "punctuation": "((([[[{{{...!!!???---===>>>}}}]]])))/// /\n// \\\\ #!/usr/bin/env ¿qué? ¡sí! „so“ …—–",
    "combining marks": "e\u0301 o\u0308\u0323 q\u0301x a\u0300\u0301\u0302\u0303 \u0301alone Z\u0351\u036b\u0343 नि ก็ ⃣ 1\u20e3",
    "emoji": "👍 👍🏽 👩\u200d💻 👨\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🇫🇷🇯🇵 ❤\ufe0f ☺\ufe0e 🫨",
    "symbols": "a+b=c ≠ ∑∫√∞ ← → ⇒ €£¥₹ © ® ™ ° † § ¶ x̄ 𝒜𝓫𝕔 ﬁ ﬂ Å Å",
    "edges of the planes": "\u07ff\u0800\ud7ff\ue000\uf8ff\ufdd0\ufffd\uffff\U00010000\U0001ffff\U000e0001\U0010fffd\U0010ffff",
    "special markers": "<|endoftext|> <|endoftext| <|fim_prefix|>x<|fim_suffix|> <s> </s> [INST] <|im_start|>user",
    "code": "for(int i=0;i<n;++i){a[i]+=b[i]*2;}  # comment\n\tx = {'k': [1, 2], \"q\": None}\nSELECT * FROM t WHERE a>='b';",
    "markup": '<a href="https://example.org/?q=1&amp;r=%20#top">link</a>\n\n| a | b |\n|---|---|\n```py\nx\n```\n',
}


def runs(length: int = 300) -> dict[str, str]:
    """Long runs of one kind: what made other tokenizers slow, wrong or dead."""
    units = [
        "a",
        " ",
        "\n",
        "\t",
        "\r\n",
        "'",
        "1",
        "-",
        "_",
        "^",
        "é",
        "中",
        "\u0301",
        "👍",
        "\u200b",
        "ab",
        " a",
        " \n",
        "\u00a0",
    ]
    return {f"run of {unit!r}": unit * length for unit in units}


def multilingual_text(repeat: int = 1) -> str:
    """All the small strings in one text, some 5,000 characters, `repeat` times."""
    return "\n".join(itertools.chain(SENTENCES.values(), TROUBLE.values(), runs(40).values())) * repeat


def all_samples() -> list[str]:
    """Every small string, to loop over: empty and one-character texts, scripts, trouble, runs."""
    short = ["", "a", " ", "\n", "é", "中", "👍", "\u0301", "\x00"]
    return [*short, *SENTENCES.values(), *TROUBLE.values(), *runs().values()]
