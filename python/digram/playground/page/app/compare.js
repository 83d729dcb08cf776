// The tab of tokens: a pane for each tokenizer, with what it makes of the text.

class Pane {
  constructor(index, name) {
    this.index = index;
    this.name = name;
    this.facts = null;
    this.result = null;
    this.box = make('div', { class: 'tokens', tabindex: '0', role: 'listbox', 'aria-label': `Tokens of ${name}` });
    this.count = make('p', { class: 'count', role: 'status', 'aria-live': 'polite', 'aria-atomic': 'true' });
    this.about = make('p', { class: 'about' }, 'loading …');
    this.note = make('p', { class: 'note', role: 'note', hidden: true });
    this.numbers = make('dl', { class: 'numbers' });
    this.values = {};
    for (const [key, label] of [['ratio', 'bytes per token'], ['characters', 'characters per token'], ['share', 'of the context'], ['cost', 'cost']]) {
      this.values[key] = make('dd', {}, '–');
      const box = make('div', {}, make('dt', {}, label), this.values[key]);
      if (key === 'share') box.append(this.setting(`window${index}`, 'window', 'Context window', '1'));
      if (key === 'cost') box.append(this.setting(`price${index}`, 'per million, $', 'Price of a million tokens, in dollars', 'any'));
      this.numbers.append(box);
    }
    this.values.differs = make('span', { class: 'differing' });
    this.next = make('button', { type: 'button', class: 'quiet', hidden: true, click: () => this.view.nextDifference(1) }, 'next difference');
    const heading = make('h2', { id: `name-${index}`, title: name }, name);
    this.element = make(
      'section',
      { class: 'pane', 'aria-labelledby': heading.id },
      make('header', {}, heading, this.about, this.count),
      this.numbers,
      this.note,
      make('p', { class: 'compared' }, this.values.differs, this.next),
      this.box,
    );
    this.view = new TokenView(this.box, `t${index}`, (i, element, how) => this.told(i, element, how));
    this.setCount(0);
  }

  setting(key, label, spoken, step) {
    const input = make('input', { type: 'number', min: '0', step, value: state[key], 'aria-label': `${spoken} of ${this.name}`, input: () => change({ [key]: input.value }) });
    onChange((names) => names.includes(key) && input.value !== state[key] && (input.value = state[key]));
    return make('label', { class: 'setting' }, label, input);
  }

  async load() {
    try {
      this.facts = await backend.facts(this.index);
    } catch (error) {
      this.fail(error.message);
      return;
    }
    this.special = new Set(this.facts.special.map(([id]) => id));
    const split = this.facts.split.length > 24 ? 'a pattern of its own' : this.facts.split;
    this.about.textContent = `${group(this.facts.ids)} ids · split: ${split}`;
    this.about.title = this.facts.split;
  }

  setCount(count) {
    const unit = make('span', { class: 'unit' }, ' token', make('span', { class: count === 1 ? 'mute' : null }, 's'));
    this.count.replaceChildren(make('b', {}, ...digits(count)), unit);
  }

  fail(message) {
    this.result = null;
    this.count.replaceChildren(make('span', { class: 'unit' }, 'not counted'));
    this.note.textContent = message;
    this.note.hidden = false;
    this.note.classList.add('error');
    this.box.replaceChildren();
    this.numbersOf(null);
  }

  show(result, data, characters) {
    this.element.removeAttribute('aria-busy');
    if (result.error !== undefined) {
      this.fail(result.error);
      return;
    }
    this.result = result;
    this.setCount(result.count);
    this.note.classList.remove('error');
    const found = result.markers ?? [];
    this.note.hidden = found.length === 0;
    if (found.length > 0) {
      const names = found.map((marker) => make('code', {}, marker));
      const list = names.slice(0, 3).flatMap((name, i) => (i === 0 ? [name] : [', ', name]));
      const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
      this.note.replaceChildren('The text holds ', ...list, more, state.trusted ? ': trusted, so special.' : ': untrusted, so ordinary text.');
    }
    this.sizes = { bytes: data.length, characters };
    this.numbersOf(this.sizes);
    this.view.show({ data, ids: result.ids, starts: result.starts, ends: result.ends, special: this.special ?? new Set(), differs: null });
  }

  numbersOf(sizes) {
    const count = this.result?.count ?? 0;
    const per = (total) => (count > 0 && sizes ? (total / count).toFixed(2) : '–');
    this.values.ratio.textContent = per(sizes?.bytes);
    this.values.characters.textContent = per(sizes?.characters);
    const context = Number(state[`window${this.index}`]);
    const share = (100 * count) / context;
    this.values.share.textContent = this.result && context > 0 ? (share > 0 && share < 0.01 ? '< 0.01 %' : `${share.toFixed(share < 10 ? 2 : 1)} %`) : '–';
    this.values.share.classList.toggle('over', share > 100);
    const cost = (count * Number(state[`price${this.index}`])) / 1e6;
    this.values.cost.textContent = this.result ? `$${cost < 0.01 ? Number(cost.toPrecision(2)) : cost.toFixed(2)}` : '–';
  }

  // differs: of each token whether another tokenizer has no token of the same place; null where there is no other
  compared(differs) {
    if (!this.result) return;
    this.view.mark(state.marks ? differs : null);
    this.view.shown.differs = state.marks ? differs : null;
    let n = 0;
    if (differs) for (const one of differs) n += one;
    this.values.differs.textContent = differs === null ? '' : n === 0 ? 'Cut alike by all.' : `${group(n)} cut otherwise by another tokenizer`;
    this.values.differs.classList.toggle('alike', n === 0);
    this.next.hidden = !state.marks || n === 0;
  }

  told(i, element, how) {
    if (i < 0 || how === null || !this.result) hideCard();
    else if (how === 'open') openTree(this.index, this.result.ids[i]);
    else showCard(this.index, this.result.ids[i], `${group(i + 1)} of ${group(this.result.count)}`, element);
  }
}

const panes = config.names.map((name, index) => new Pane(index, name));
const area = byId('text');
let current = null; // {abort} of what is being asked

// Of each token of `mine` whether `other` has no token of the same place.
function unlike(mine, other, differs) {
  let k = 0;
  for (let i = 0; i < mine.count; i++) {
    const start = mine.starts[i];
    while (k < other.count && other.starts[k] < start) k++;
    let same = false;
    for (let at = k; at < other.count && other.starts[at] === start && !same; at++) same = other.ends[at] === mine.ends[i];
    if (!same) differs[i] = 1;
  }
}

function compareAll() {
  const there = panes.filter((pane) => pane.result);
  for (const pane of there) {
    let differs = null;
    if (there.length > 1) {
      differs = new Uint8Array(pane.result.count);
      for (const other of there) if (other !== pane) unlike(pane.result, other.result, differs);
    }
    pane.compared(differs);
  }
}

async function encodeAll() {
  current?.abort();
  const mine = (current = new AbortController());
  const data = toBytes.encode(state.text);
  let characters = 0;
  for (let i = 0; i < data.length; i++) if ((data[i] & 0xc0) !== 0x80) characters++;
  const lines = state.text === '' ? '' : `${group(characters)} characters · ${group(data.length)} bytes`;
  byId('size').textContent = lines;
  hideCard();
  if (data.length > MOST_BYTES) {
    for (const pane of panes) pane.fail('This text has more than 16 MB, the most that this page takes: `digram encode` takes any.');
    return;
  }
  for (const pane of panes) pane.element.setAttribute('aria-busy', 'true');
  await Promise.all(panes.map(async (pane) => {
    try {
      const result = await backend.encode(pane.index, data, Boolean(state.trusted), mine.signal);
      if (!mine.signal.aborted) pane.show(result, data, characters);
    } catch (error) {
      if (!mine.signal.aborted) pane.fail(error.message);
    }
  }));
  if (!mine.signal.aborted) compareAll();
}

const typed = debounced(() => change({ text: area.value }));
area.addEventListener('input', () => typed(area.textLength < 20000 ? 15 : area.textLength < 200000 ? 90 : 250));

// A file that is dropped is read as text; text that is dropped, the browser itself puts where it falls.
area.addEventListener('dragover', (event) => {
  if (event.dataTransfer.types.includes('Files')) event.preventDefault();
});
area.addEventListener('drop', async (event) => {
  const file = event.dataTransfer.files[0];
  if (!file) return;
  event.preventDefault();
  if (file.size > MOST_BYTES) byId('size').textContent = `${file.name} has more than 16 MB, the most that this page takes.`;
  else setText(await file.text());
});

function setText(text) {
  area.value = text;
  change({ text: area.value });
}

onChange((names) => {
  if (names.includes('text') && area.value !== state.text) area.value = state.text;
  if (names.includes('text') || names.includes('trusted')) encodeAll();
  else if (names.includes('marks')) compareAll();
  if (names.some((name) => /^(window|price)/.test(name))) for (const pane of panes) pane.numbersOf(pane.sizes);
  byId('panes').classList.toggle('ids', Boolean(state.ids));
});
