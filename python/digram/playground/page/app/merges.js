// The tab of merges: how one piece of the text becomes tokens, a merge at a time.

const merges = {
  steps: null, // the answer of the backend
  at: 0, // how many merges are done
  playing: 0, // the timer of the next one
  asked: 0, // the newest question; answers to older ones are dropped
};
const EXAMPLE_WORD = ' unbelievable';

function paceOf(slider) {
  return 2400 / 2 ** Number(slider.value);
}

// The symbols after so many merges.
function symbolsAt(steps, n) {
  const symbols = [...steps.symbols];
  for (let k = 0; k < n; k++) {
    const [i, , id] = firstLearnt(steps.steps[k]);
    symbols.splice(i, 2, id);
  }
  return symbols;
}

function firstLearnt(candidates) {
  return candidates.reduce((best, one) => (one[1] < best[1] ? one : best));
}

async function loadPieces() {
  const asked = ++merges.asked;
  const list = byId('pieces');
  let pieces = [];
  if (state.text !== '') {
    try {
      ({ pieces } = await backend.pieces(Number(state.which), toText.decode(toBytes.encode(state.text.slice(0, 20000)))));
    } catch {
      pieces = [];
    }
  }
  if (asked !== merges.asked) return;
  const words = pieces.filter((piece) => piece.trim() !== '');
  const shown = words.slice(0, 60);
  list.replaceChildren(...shown.map((piece) => make('button', {
    type: 'button', class: 'piece', dir: 'auto', 'aria-pressed': String(piece === state.word), click: () => change({ word: piece }),
  }, ...glyphs(piece))));
  byId('pieces-row').hidden = shown.length === 0;
  byId('pieces-more').hidden = words.length <= shown.length && state.text.length <= 20000;
  const longest = shown.slice(0, 20).reduce((best, piece) => (piece.length > best.length && piece.length <= 24 ? piece : best), '');
  await loadSteps(state.word || longest || EXAMPLE_WORD);
}

async function loadSteps(word) {
  stopMerges();
  const asked = ++merges.asked;
  const input = byId('word');
  if (input.value !== word) input.value = word;
  for (const button of byId('pieces').children) button.setAttribute('aria-pressed', String(button.textContent === word));
  let steps;
  try {
    const which = Number(state.which);
    // What the input holds may be more than one piece: the first one is shown, and said.
    const { pieces } = await backend.pieces(which, toText.decode(toBytes.encode(word)));
    const piece = pieces[0] ?? '';
    steps = piece === '' ? { error: 'Type a word, or choose a piece of the text.' } : await backend.steps(which, panes[which].facts?.split === 'none' ? word : piece);
    if (steps.error === undefined && pieces.length > 1 && panes[which].facts?.split !== 'none') {
      steps.note = [`This is ${pieces.length} pieces, and no merge goes from one into the next. Here is the first: `, ...glyphs(piece)];
    }
  } catch (error) {
    steps = { error: error.message };
  }
  if (asked !== merges.asked) return;
  merges.steps = steps;
  merges.at = 0;
  renderMerges();
}

function symbolBox(id) {
  const bytes = bytesOf(merges.steps.tokens[id]);
  return make('span', { class: 'symbol' }, chip(bytes, id), make('small', {}, group(id)));
}

function renderMerges() {
  const { steps, at } = merges;
  const ready = steps !== null && steps.error === undefined;
  const total = ready ? steps.steps.length : 0;
  byId('merge-back').disabled = byId('merge-first').disabled = !ready || at === 0;
  byId('merge-next').disabled = byId('merge-play').disabled = !ready || at === total;
  byId('merge-play').textContent = merges.playing ? 'Pause' : 'Play';
  byId('merge-place').max = total;
  byId('merge-place').value = at;
  byId('merge-place').disabled = total === 0;
  if (!ready) {
    byId('stage').replaceChildren();
    byId('caption').replaceChildren(steps?.error ?? '');
    byId('done').replaceChildren();
    return;
  }
  const symbols = symbolsAt(steps, at);
  const candidates = new Map((steps.steps[at] ?? []).map((candidate) => [candidate[0], candidate]));
  const best = at < total ? firstLearnt(steps.steps[at]) : null;
  const row = [];
  symbols.forEach((id, i) => {
    const box = symbolBox(id);
    if (best && (i === best[0] || i === best[0] + 1)) box.classList.add('chosen');
    row.push(box);
    if (i + 1 === symbols.length) return;
    const candidate = candidates.get(i);
    const rank = candidate ? group(candidate[1]) : '–';
    row.push(make('span', { class: `bond${candidate ? ' known' : ''}${best && i === best[0] ? ' best' : ''}`, title: candidate ? `rank ${rank}` : 'no merge' }, rank));
  });
  byId('stage').replaceChildren(...row);
  byId('stage').dir = directionOf(symbols.map((id) => toText.decode(bytesOf(steps.tokens[id]))).join('')) ?? 'ltr';
  byId('caption').replaceChildren(...caption(symbols, candidates.size, best));
  byId('done').replaceChildren(...steps.steps.map((_, k) => doneItem(steps, k)));
  byId('merge-note').replaceChildren(...(steps.note ?? []));
}

function doneItem(steps, k) {
  const [i, rank, id] = firstLearnt(steps.steps[k]);
  const before = symbolsAt(steps, k);
  const parts = [before[i], before[i + 1], id].map((part) => chip(bytesOf(steps.tokens[part]), part));
  return make('li', { class: k < merges.at ? 'past' : k === merges.at ? 'now' : 'coming' }, make('button', {
    type: 'button', 'aria-current': k === merges.at ? 'step' : null, click: () => goTo(k),
  }, parts[0], ' + ', parts[1], ' → ', parts[2], make('small', {}, ` rank ${group(rank)}`)));
}

function caption(symbols, known, best) {
  const { steps, at } = merges;
  const name = (id) => chip(bytesOf(steps.tokens[id]), id);
  if (best) {
    const [i, rank, id] = best;
    const start = at === 0 ? `The piece starts as ${symbols.length} ${symbols.length === 1 ? 'symbol' : 'symbols'}. ` : '';
    const among = known === 1 ? 'One pair of neighbours is in the table of merges: ' : `Of the ${known} pairs of neighbours that are in the table, the one of lowest rank was learnt first: `;
    return [start, among, name(symbols[i]), ' + ', name(symbols[i + 1]), `, rank ${group(rank)}. They become `, name(id), `, id ${id}.`];
  }
  if (steps.whole) {
    return ['This vocabulary takes a piece that is a token itself whole, without merging: ', name(steps.ids[0]), `, id ${steps.ids[0]}.`,
      symbols.length > 1 ? ' Its merges alone would not get there.' : ''];
  }
  const end = steps.ids.length === 1 ? 'The piece is one token' : `No two neighbours are in the table any more. The piece ends as ${steps.ids.length} of the vocabulary’s tokens`;
  return [`${end}: `, ...steps.ids.flatMap((id, i) => [i ? ' ' : '', name(id)])];
}

function stopMerges() {
  clearTimeout(merges.playing);
  merges.playing = 0;
}

function goTo(at) {
  stopMerges();
  merges.at = Math.max(0, Math.min(merges.steps.steps.length, at));
  renderMerges();
}

// The two parts move together, and then they are one.
function mergeNext(pace) {
  const { steps, at } = merges;
  if (at >= steps.steps.length) return Promise.resolve();
  const chosen = byId('stage').querySelectorAll('.chosen');
  const done = () => {
    if (merges.steps !== steps || merges.at !== at) return;
    merges.at++;
    renderMerges();
    const made = byId('stage').querySelectorAll('.symbol')[firstLearnt(steps.steps[at])[0]];
    if (!calm.matches) made?.classList.add('made');
  };
  if (calm.matches || chosen.length < 2) {
    done();
    return Promise.resolve();
  }
  const duration = Math.min(380, pace * 0.5);
  const bond = byId('stage').querySelector('.bond.best');
  const width = bond.getBoundingClientRect().width;
  const way = byId('stage').dir === 'rtl' ? -1 : 1;
  const timing = { duration, easing: 'ease-in', fill: 'forwards' };
  bond.animate([{ opacity: 1 }, { opacity: 0 }], timing);
  chosen[0].animate([{ transform: 'none' }, { transform: `translateX(${(way * width) / 2}px)` }], timing);
  return chosen[1].animate([{ transform: 'none' }, { transform: `translateX(${(-way * width) / 2}px)` }], timing).finished.then(done, () => {});
}

function playMerges() {
  if (merges.playing) {
    stopMerges();
    renderMerges();
    return;
  }
  const next = async () => {
    const pace = paceOf(byId('merge-speed'));
    await mergeNext(pace);
    if (!merges.playing) return;
    if (merges.at < merges.steps.steps.length) merges.playing = setTimeout(next, pace);
    else {
      stopMerges();
      renderMerges();
    }
  };
  merges.playing = setTimeout(next, paceOf(byId('merge-speed')) / 2);
  renderMerges();
}

byId('merge-first').addEventListener('click', () => goTo(0));
byId('merge-back').addEventListener('click', () => goTo(merges.at - 1));
byId('merge-next').addEventListener('click', () => {
  stopMerges();
  mergeNext(700);
});
byId('merge-play').addEventListener('click', playMerges);
byId('merge-place').addEventListener('input', () => goTo(Number(byId('merge-place').value)));
byId('word').addEventListener('input', () => change({ word: byId('word').value }));
byId('which').append(...config.names.map((name, i) => make('option', { value: i }, name)));
byId('which-row').hidden = config.names.length === 1;
byId('which').addEventListener('change', () => change({ which: byId('which').value }));

const loadMerges = debounced(() => state.tab === 'merges' && loadPieces());
onChange((names) => {
  if (names.includes('which')) byId('which').value = state.which;
  if (names.some((name) => ['tab', 'text', 'which'].includes(name))) loadMerges(names.includes('text') ? 200 : 0);
  else if (names.includes('word') && state.tab === 'merges') loadSteps(state.word);
});
