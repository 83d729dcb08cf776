// The tokens of a text, of any length: chunks of some hundred tokens are made when they come near the window, and
// emptied when they leave it. The box is one stop of the Tab key; arrow keys go from token to token.

const CHUNK_TOKENS = 250;
const LINE_TOKENS = 400; // a longer line is broken, so that no chunk is without bounds
const LINE_HEIGHT = 34;
const LONGEST_SHOWN = 1000; // bytes of a token

class TokenView {
  // `told(token number, element, how)` is called where one is pointed at ('point'), opened ('open'), or left (null).
  constructor(box, name, told) {
    this.box = box;
    this.name = name;
    this.told = told;
    this.active = -1;
    this.chunks = [];
    this.ratio = 1;
    this.observer = new IntersectionObserver((entries) => this.seen(entries), { root: box, rootMargin: '500px 0px' });
    box.addEventListener('pointerover', (event) => this.pointed(event));
    box.addEventListener('pointerleave', () => this.told(-1, null, null));
    box.addEventListener('click', (event) => this.clicked(event));
    box.addEventListener('keydown', (event) => this.pressed(event));
    box.addEventListener('focusin', (event) => this.focused(event));
    box.addEventListener('focusout', () => this.told(-1, null, null));
    box.addEventListener('scroll', () => this.told(-1, null, null), { passive: true });
  }

  // shown: {data, ids, starts, ends, special: Set of ids, differs: Uint8Array or null}
  show(shown) {
    const scrolled = this.box.scrollTop;
    this.shown = shown;
    this.observer.disconnect();
    this.plan();
    this.box.replaceChildren(...this.chunks.map((chunk) => chunk.element));
    this.active = Math.min(this.active, shown.ids.length - 1);
    // What is seen at once is there at once.
    let bottom = 0;
    const window = scrolled + 800;
    for (const chunk of this.chunks) {
      if (bottom + chunk.height >= scrolled && bottom <= window) this.fill(chunk);
      bottom += chunk.height;
      if (bottom > window) break;
    }
    this.box.scrollTop = scrolled;
    for (const chunk of this.chunks) this.observer.observe(chunk.element);
  }

  // Lines and chunks of lines, and how high they will be.
  plan() {
    const { data, ids, starts, ends } = this.shown;
    const columns = Math.max(20, (this.box.clientWidth - 24) / 9);
    this.chunks = [];
    let lines = [0];
    let units = 0;
    let rows = 0;
    const endLine = (next) => {
      rows += Math.max(1, Math.ceil(units / columns));
      units = 0;
      if (next - lines[0] >= CHUNK_TOKENS || next === ids.length) {
        const height = Math.round(rows * LINE_HEIGHT * this.ratio);
        const element = make('div', { class: 'chunk' });
        element.style.height = `${height}px`;
        const chunk = { lines: [...lines, next], height, estimate: rows * LINE_HEIGHT, element, filled: false };
        element.chunk = chunk;
        this.chunks.push(chunk);
        lines = [];
        rows = 0;
      }
      lines.push(next);
    };
    for (let i = 0; i < ids.length; i++) {
      let broken = false;
      for (let at = starts[i]; at < ends[i]; at++) {
        const byte = data[at];
        if (byte === 10) broken = true;
        if ((byte & 0xc0) !== 0x80) units += byte < 0xe3 ? 1 : 2;
      }
      units += 0.7;
      const long = i + 1 - lines.at(-1) >= LINE_TOKENS && (data[ends[i]] & 0xc0) !== 0x80;
      if (broken || long || i + 1 === ids.length) endLine(i + 1);
    }
  }

  seen(entries) {
    for (const entry of entries) {
      const chunk = entry.target.chunk;
      if (entry.isIntersecting) this.fill(chunk);
      else if (chunk.filled) {
        chunk.height = entry.boundingClientRect.height;
        this.ratio = 0.9 * this.ratio + 0.1 * (chunk.height / chunk.estimate);
        chunk.element.style.height = `${chunk.height}px`;
        chunk.element.replaceChildren();
        chunk.filled = false;
      }
    }
  }

  fill(chunk) {
    if (chunk.filled) return;
    chunk.filled = true;
    const lines = [];
    for (let i = 0; i + 1 < chunk.lines.length; i++) lines.push(this.line(chunk.lines[i], chunk.lines[i + 1]));
    chunk.element.replaceChildren(...lines);
    chunk.element.style.height = '';
  }

  // Tokens go in the direction of the line; runs of tokens of the other direction go in theirs, as the words would.
  line(from, to) {
    const { data, starts, ends } = this.shown;
    const text = toText.decode(data.subarray(starts[from], ends[to - 1]));
    const items = [];
    for (let i = from; i < to;) {
      let end = i + 1;
      while (end < to && ends[end - 1] < data.length && (data[ends[end - 1]] & 0xc0) === 0x80) end++;
      items.push([i, end]);
      i = end;
    }
    if (!RIGHT_TO_LEFT.test(text)) {
      return make('div', { class: 'line', dir: 'ltr' }, ...items.map(([first, end]) => this.item(first, end)));
    }
    const base = directionOf(text) ?? 'ltr';
    const own = items.map(([first, end]) => directionOf(toText.decode(data.subarray(starts[first], ends[end - 1]))));
    const next = [];
    for (let i = own.length - 1, after = base; i >= 0; i--) next[i] = after = own[i] ?? after;
    const line = make('div', { class: 'line', dir: base });
    let run = null;
    for (let i = 0, before = base; i < items.length; i++) {
      const direction = own[i] ?? (before === next[i] ? before : base);
      before = own[i] ?? before;
      if (run === null || run.dir !== direction) line.append((run = make('span', { dir: direction })));
      run.append(this.item(...items[i]));
    }
    return line;
  }

  // One token, or those that share a character: the character, and its tokens behind it.
  item(first, end) {
    if (end - first === 1) return this.token(first);
    const { data, starts, ends } = this.shown;
    const whole = toText.decode(data.subarray(starts[first], ends[end - 1])).trim();
    const group = make('span', { class: 'shared', title: 'One character, in several tokens' });
    group.append(make('b', { 'aria-hidden': 'true' }, ...glyphs(whole)));
    for (let i = first; i < end; i++) group.append(this.token(i));
    return group;
  }

  token(i) {
    const { data, ids, starts, ends, special, differs } = this.shown;
    const id = ids[i];
    const length = ends[i] - starts[i];
    let shownEnd = ends[i];
    if (length > LONGEST_SHOWN) for (shownEnd = starts[i] + LONGEST_SHOWN; (data[shownEnd] & 0xc0) === 0x80;) shownEnd--;
    const parts = glyphsOfBytes(data.subarray(starts[i], shownEnd));
    if (shownEnd < ends[i]) parts.push(make('i', { class: 'label', 'data-mark': `… ${group(length)} bytes` }));
    else if (length === 0) parts.push(make('i', { class: 'label', 'data-mark': '∅' }));
    const names = `t ${special.has(id) ? 'special' : colourOf(id)}${differs?.[i] ? ' differs' : ''}${i === this.active ? ' active' : ''}`;
    return make('span', { class: names, role: 'option', tabindex: '-1', id: `${this.name}-${i}`, 'data-i': i, 'data-id': id }, ...parts);
  }

  // Marks anew which tokens the others cut otherwise.
  mark(differs) {
    this.shown.differs = differs;
    for (const token of this.box.querySelectorAll('.t')) token.classList.toggle('differs', Boolean(differs?.[token.dataset.i]));
  }

  tokenOf(event) {
    return event.target instanceof Element ? event.target.closest('[data-i]') : null;
  }

  pointed(event) {
    const token = this.tokenOf(event);
    if (token) this.told(Number(token.dataset.i), token, 'point');
    else this.told(-1, null, null);
  }

  clicked(event) {
    const token = this.tokenOf(event);
    if (!token) return;
    this.activate(Number(token.dataset.i), false);
    this.told(Number(token.dataset.i), token, 'open');
  }

  focused(event) {
    if (!this.shown || this.shown.ids.length === 0) return;
    const token = this.tokenOf(event);
    this.activate(token ? Number(token.dataset.i) : Math.max(0, this.active), !token);
  }

  pressed(event) {
    const n = this.shown?.ids.length ?? 0;
    if (n === 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const here = this.element(this.active);
    const forward = here?.closest('[dir]')?.dir === 'rtl' ? -1 : 1;
    const moves = { ArrowRight: forward, ArrowLeft: -forward, PageDown: 50, PageUp: -50, Home: -n, End: n };
    if (event.key === 'Enter' || event.key === ' ') this.told(this.active, here, 'open');
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') this.activate(this.beside(event.key === 'ArrowDown' ? 1 : -1));
    else if (event.key in moves) this.activate(Math.max(0, Math.min(n - 1, this.active + moves[event.key])));
    else if (event.key === 'n' || event.key === 'p') this.nextDifference(event.key === 'n' ? 1 : -1);
    else if (event.key === 'Escape') this.told(-1, null, null);
    else return;
    event.preventDefault();
  }

  // The token of the next row that stands nearest below (or above) the active one.
  beside(step) {
    const here = this.element(this.active)?.getBoundingClientRect();
    if (!here) return this.active;
    const x = (here.left + here.right) / 2;
    let row = null;
    let best = null;
    for (let i = this.active + step, seen = 0; i >= 0 && i < this.shown.ids.length && seen < 500; i += step, seen++) {
      const place = this.element(i)?.getBoundingClientRect();
      if (!place) break;
      if (Math.abs(place.top - here.top) < 8) continue;
      row ??= place.top;
      if (Math.abs(place.top - row) >= 8) break;
      const distance = Math.abs((place.left + place.right) / 2 - x);
      if (best === null || distance < best.distance) best = { i, distance };
    }
    return best === null ? Math.max(0, Math.min(this.shown.ids.length - 1, this.active + step)) : best.i;
  }

  nextDifference(step) {
    const { differs, ids } = this.shown;
    if (!differs) return;
    for (let i = this.active + step; i >= 0 && i < ids.length; i += step) {
      if (differs[i]) {
        this.box.focus({ preventScroll: true });
        this.activate(i);
        return;
      }
    }
  }

  element(i) {
    return byId(`${this.name}-${i}`);
  }

  // Makes token i the active one, on the screen and for those who hear it.
  activate(i, showing = true) {
    this.element(this.active)?.classList.remove('active');
    this.active = i;
    let token = this.element(i);
    if (token === null) {
      const chunk = this.chunks.find(({ lines }) => lines.at(-1) > i);
      chunk.element.scrollIntoView({ block: 'nearest' });
      this.fill(chunk);
      token = this.element(i);
    }
    token.classList.add('active');
    const { data, starts, ends, ids, special } = this.shown;
    const said = spoken(data.subarray(starts[i], ends[i]));
    const apart = this.shown.differs?.[i] ? ', cut otherwise by others' : '';
    token.setAttribute('aria-label', `${special.has(ids[i]) ? 'special token ' : ''}${said}, id ${ids[i]}, ${i + 1} of ${ids.length}${apart}`);
    this.box.setAttribute('aria-activedescendant', token.id);
    if (!showing) return;
    if (document.activeElement !== this.box) this.box.focus({ preventScroll: true });
    token.scrollIntoView({ block: 'nearest' });
    this.told(i, token, 'point');
  }
}
