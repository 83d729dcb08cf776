"""The local page of `digram serve`: a small server and one HTML file of plain JavaScript.

    server.py      the server: loopback only, standard library
    answers.py     what it answers, from a tokenizer
    merging.py     the steps of a piece, with all that could be merged at each
    embedding.py   a vocabulary as a part of the page, for the page that needs no server
    page.py        the HTML file, put together of the sources in page/
    classes.py     the Unicode classes of the engine, for split patterns in JavaScript

In page/, `worker/` has what runs beside the page (BPE, training), `app/` the page itself.
"""

from digram.playground.page import static_page
from digram.playground.server import MOST_TOKENIZERS, Server

__all__ = ["MOST_TOKENIZERS", "Server", "static_page"]
